"""From operation to OpenTelemetry span, live or replayed.

    session           the process-wide settings: tracers, dialect, content policy, on and off
    live              starting and ending the span of an operation; nothing else knows which
    live_tool         the same for decorated tools, of which there are most
    spans             starting, filling and ending spans, and which SDK insides that takes
    fast_span         the SDK's recording span, made and ended with less work
    run               the agent run in progress, as far as its spans need to know of it
    start_attributes  what a span says before the user's code runs in it
    steps             the timeline of a run: step events on its span, continued in child spans
    exceptions        what is said of an exception, and whether on its span or in a log record
    events            log records in the context of a span
    content_events    content on such events instead of, or beside, spans
    judging           a judgement of a span: a span below it, and an event
    metrics           the convention's metrics, recorded only when somebody collects them

Everything here uses the OpenTelemetry API only, so it works, and costs little, without an SDK.
"""
