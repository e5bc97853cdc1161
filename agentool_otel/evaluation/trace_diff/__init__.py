"""Differences between two traces.

diffing      what differs between two traces
ignored      what is ignored inside texts
actions      what an agent did: its steps, each call with its result
alignment    which of them belong together; `subsequence` is for long ones
step_changes what became of each
members      what differs in one member, and what cannot be compared
pieces       the smallest pieces in which two values differ
totals       tokens, cost and time of both, and how far apart they may be (`tolerances`)
records      all that as records and as JSON
partners     which traces of two sources are compared
"""
