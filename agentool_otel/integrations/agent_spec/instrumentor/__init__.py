"""Oracle's Open Agent Specification: agents, flows and what is in them, by `pyagentspec.tracing`.

patches        where its spans and events are heard
processor      a span processor, for programs that give one to their `Trace` themselves
listener       what is under way, and what lies below what
span_types     which step each type of span is
events         what each event says of its step
steps          how a step begins and ends
failures       what a step fails of
evaluations    what evaluators find
graphs         LangGraph's adapter
conversations  WayFlow's
values         pyagentspec's objects in the terms of the conventions
"""
