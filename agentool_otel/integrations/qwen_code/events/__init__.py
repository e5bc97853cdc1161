"""The events of a session, and the records of them.

names    names of spans, log records and lines of session files
calls    tool calls as Qwen Code writes them
entries  what more than one channel has
records  which event a record is of
spans    of those, the spans
logs     of those, the log records
"""
