"""Spans and log records as OTLP, and back, message by message.

    json_encoder      ended spans and log records to OTLP/JSON
    protobuf_encoder  the same to OTLP/protobuf
    span_parts        OTLP/JSON of our own spans, from parts that are encoded once
    protobuf_parts    the same in OTLP/protobuf
    protobuf_decoder  what was just encoded, for whoever needs the span again
    json_decoder      a span of OTLP/JSON
    varints           numbers of variable length
    wire              fields of a protobuf message of any origin
    trace_response    answers of Tempo's API around OTLP
    log_record        a log record on its way out

Files and requests, and how they are framed, are in `reading.sources.files` and
`tracing.export.send`.
"""
