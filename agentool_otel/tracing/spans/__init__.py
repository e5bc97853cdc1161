"""From operation to OpenTelemetry span, live or replayed.

    settings          the settings of the process: tracers, dialect, content policy, on and off
    live              starting and ending the span of an operation, whichever class it has
    live_tool         the same for decorated tools, of which there are most
    sdk_spans         starting, filling and ending spans, and which SDK internals that takes
    step_spans        the same as a context manager, or from callbacks: what instrumentors use
    own_span          the SDK's recording span, made and ended with less work
    attaching         undoing what made a span's context current
    run               the agent run in progress, as far as its spans need to know of it
    start_attributes  attributes that are set before the user's code runs in the span
    steps             the timeline of a run: step events on its span, continued in child spans
    exceptions        how an exception is recorded, and on which span
    failure           status, error type and exception of a span that fails
    events            log records in the context of a span
    content_events    content on such events instead of, or beside, spans
    evaluation_events  evaluation results: a span below the judged one, and an event
    native_spans      spans that libraries write of themselves, and which are replaced
    metrics           the convention's metrics, recorded only when somebody collects them
    metric_sums       their values, added up until a meter provider of ours collects them

Everything here uses the OpenTelemetry API only, so it works, and costs little, without an SDK.
"""
