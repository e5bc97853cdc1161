"""The fidelity report: the origin of each field of a trace, and missing data.

fidelity        the report and its notes
trace_report    the report on one trace
content_marks   parts of content that were masked, shortened or never encodable
span_notes      what the spans of a run say about their own truth
hidden_members  which members of the trace a cut or masked attribute hides
"""
