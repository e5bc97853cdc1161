"""Correlate spans across OTel traces.

keys              by what model calls without an agent refer to each other
union_find        what belongs together by that
unknown_messages  which calls belong together where nobody knows what they were sent
loose_calls       the spans of an OTel trace that are outside any run
duplicate_calls   loose calls that a run reports as well
linked_traces     runs that several OTel traces tell
disk_store        what waits for the rest, on disk where it is much
"""
