"""The operations of one run to its ordered steps.

builder        the passes over a run, in their order
message_steps  thoughts, requested tools and results, from the messages of model calls
span_steps     executed tools, memory, retrieval and transfers, from their spans
call_steps     the request and the result of a tool call, once everything has been read
model_calls    the model calls of a run, each once
tool_calls     a tool call in the making
tool_matching  tool spans that carry only a name, matched to the calls that requested them
tool_aliases   tool spans with another name than the tool that was requested
handoff_rules  how one agent hands over to another
handoff_steps  the steps by which an agent hands over
delegation     a task given to another agent through a tool
timeline       steps that only our own events know
order          steps in the making, and the order they belong in
"""
