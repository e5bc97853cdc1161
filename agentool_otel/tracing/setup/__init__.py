"""One call that records: configuration, providers, pipeline, and status.

    runtime            `instrument()`, `uninstrument()`, `flush()`, `status()`: what is in force
    status             the record that `status()` returns
    status_text        that record as ten lines
    configuration      what has been named in code
    decision           what is to be in force, before anything is touched
    destinations/      where spans, logs and metrics go
    frameworks         attaching to those that are wanted
    content_policy     whether content is captured, by where it goes
    provider_handover  giving way to a provider that the user sets later
    service            what the program is called

Above the instrumentors, which know nothing of it.
"""
