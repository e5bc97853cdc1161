"""What differs between two traces.

diffing      two traces to what differs between them
ignored      what inside texts does not count
actions      what an agent did: its steps, each call with its result
alignment    which of them belong together; `subsequence` is for long ones
step_changes what became of each
members      what differs in one member, and what nobody can tell
pieces       the smallest pieces in which two values differ
totals       tokens, cost and time of both, and how far apart they may be (`tolerances`)
records      all that as records and as JSON
partners     which traces of two sources are compared
"""
