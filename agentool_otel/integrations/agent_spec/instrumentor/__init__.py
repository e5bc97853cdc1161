"""Oracle's Open Agent Specification: agents, flows and their parts, by `pyagentspec.tracing`.

patches        hooks for its spans and events
processor      a span processor, for programs that give one to their `Trace` themselves
listener       open steps and their parents
span_types     the step of each type of span
events         the effect of each event on its step
steps          begin and end a step
failures       the failure of a step
evaluations    results of evaluators
graphs         LangGraph's adapter
conversations  WayFlow's
values         pyagentspec's objects in the terms of the conventions
"""
