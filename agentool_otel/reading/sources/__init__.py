"""Sources of spans: files, servers, stores.

    opening     what a person writes, a path or a URL, to the source that reads it
    source      what every place offers: one method, and optional others with defaults
    several     several sources read as one
    contents    the spans of a source, and the trace documents between them
    files/      files and streams, here or wherever fsspec reads
    servers/    what readers of servers are made of
    stores/     JSON in which stores keep and export spans
    recorded_steps  keeps steps as span records, for logs that are read afterwards
    log_readers logs of agents, whose events become spans
    session_spans   spans of what a coding agent keeps in its session file
    session_folder  the session files of a coding agent on this machine
    grouping/   spans in any order to whole traces
    offloaded   texts that were stored apart from their span

A source knows transport and framing and yields `SpanRecord`s; what attributes mean is for dialects.
"""
