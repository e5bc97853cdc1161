"""The events of a session, and the records of them.

names    names of spans, log records and lines of session files
calls    tool calls and model calls as Gemini CLI writes them
records  which event a record is of
spans    of those, the spans
logs     of those, the log records
turns    which turn a record is of
"""
