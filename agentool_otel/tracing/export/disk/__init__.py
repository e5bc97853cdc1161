"""Spans on disk: the local recording, and the journal of what a process has not sent yet.

recording  OTLP/JSON lines that people keep
journal    spans as they open, and end, before anybody has them
spool      ended spans that wait for an endpoint
recovery   what dead processes left, closed and sent
removal    recordings that may be removed
leftovers  files that a recovery leaves alone, and reports
files      files of ours, opened so that nothing of others is touched
"""
