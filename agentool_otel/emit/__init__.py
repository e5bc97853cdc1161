"""From operation to OpenTelemetry span, live or replayed.

    content     what of the user's content is captured, and the one decision about it
    encoding    any value to JSON text, without calling anything of the user's
    masking     credentials in texts: how they are told and taken out
    fitting     what is too large for an attribute or a span is shortened
    shortening  how one text is shortened
    offload     where whole texts are kept that were shortened
    session     the process-wide settings: tracers, dialect, content policy, on and off
    live        starting and ending the span of an operation; nothing else knows which span it is
    live_tool   the same for decorated tools, of which there are most
    spans       starting, filling and ending spans, and which of the SDK's insides are used for it
    own_span    the SDK's recording span, made and ended with less work
    run         the agent run in progress, as far as its spans need to know of it
    opening     what a span says before the user's code runs in it
    steps       the timeline of a run: step events on its span, continued in child spans
    exceptions  what is said of an exception, and whether on its span or in a log record
    events      log records in the context of a span
    details     content on such events instead of, or beside, spans
    judging     a judgement of a span: a span below it, and an event
    metrics     the convention's metrics, recorded only when somebody collects them

Everything here uses the OpenTelemetry API only, so it works, and costs little, without an SDK.
"""
