"""Agent Tool: a runtime tells an emitter of its tools and calls, and they are spans.

emitter   what a runtime calls

What the objects mean is in `event_streams.agent_tool`. There is nothing to switch on: the
specification has no runtime of its own.
"""
