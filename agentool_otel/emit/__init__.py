"""From operation to OpenTelemetry span, live or replayed.

    content     what of the user's content is captured, how it is encoded and what is masked
    session     the process-wide settings: tracers, dialect, content policy, on and off
    live        starting and ending the span of an operation; nothing else knows which span it is
    steps       the timeline of a run: step events on its span, continued in child spans
    metrics     the convention's metrics, recorded only when somebody collects them

Everything here uses the OpenTelemetry API only, so it works, and costs little, without an SDK.
"""
