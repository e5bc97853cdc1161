"""Export finished spans and log records to the local recording, an endpoint, any SDK exporter.

pipeline           the processor behind a tracer provider: masks, journals, hands on
direct             the short way of our own spans past masking, straight to journal and store
sinks              the protocol of what the pipeline writes to
log_destination    where log records go
disk/              the local recording, and the journal of spans that are open or not sent yet
send/              OTLP requests to an endpoint: spooled, sent, sent again
masking/           credentials in the telemetry of other libraries
second_vocabulary  OpenInference's names in addition to ours, on what is sent
otlp_variables     OpenTelemetry's variables that say how and where to send
sdk, batched       our store as an exporter of the SDK; any exporter of the SDK as our store
logs, log_records  the logger provider of a process that has none, and what it collects
metric_points      values added up by us among those that a meter provider of ours collects

The modules of this package import the OpenTelemetry SDK, so nothing imports them until spans are
about to be recorded.
"""
