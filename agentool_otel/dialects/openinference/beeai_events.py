"""Events of the BeeAI framework, for each of which its older instrumentors write a span.

    backend.openai.chat.start, …partial_update, …success, …finish
    tool.search.wikipedia.start, …success or …error, …finish
    agent.react.start, …update, …partial_update, …success

A model call is read from its start, which has the request (a streamed answer is there only in
fragments), a tool call from its outcome. The span around all of them is the run.

Source: @arizeai/openinference-instrumentation-beeai 1.0, src/instrumentation.ts; spans of 2025-08.
"""

from __future__ import annotations

from agentool_otel.model.spans import SpanRecord

__all__ = ["is_passing", "tool_of"]

_SCOPE = "openinference.instrumentation.beeai"
_LAST_EVENTS = {"backend": ("start",), "tool": ("success", "error")}


def is_passing(span: SpanRecord) -> bool:
    """Return whether another event repeats everything in this one and has more."""
    parts = _parts(span)
    return bool(parts) and parts[-1] not in _LAST_EVENTS.get(parts[0], ())


def tool_of(span: SpanRecord) -> str | None:
    """Return the tool that an event is of; None for any other span."""
    parts = _parts(span)
    return parts[-2] if len(parts) > 2 and parts[0] == "tool" else None


def _parts(span: SpanRecord) -> list[str]:
    target = span.attributes.get("target")
    return target.split(".") if span.scope == _SCOPE and isinstance(target, str) else []
