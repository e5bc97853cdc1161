"""Collected spans back to trajectories; `rebuild()` and `load()` are in `loading`.

tree           the spans of one OTel trace, linked
runs           which spans make which run
wrappers       runs that only stand around another one
run_spans      the spans of one run, before it is rebuilt
trace          a rebuilt run: its trace, report and judgements
trace_fields   the fields of a trace: who ran, when, in which conversation
metrics        tokens, cost and time of a run
inputs_outputs what went into a run and what came out
status         how it ended, and the signal that says so
failures       what ended a run that did not succeed
labels         user, case and tags
cost           what a run cost, where its spans do not have it
residue        what a replayed trace says beyond its natural reading
conversion     a span in the words of another vocabulary
steps/         from operations to ordered steps
correlation/   what belongs together across OTel traces
report/        the fidelity report: where each field came from
"""
