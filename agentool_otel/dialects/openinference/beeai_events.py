"""Events of the BeeAI framework, each of which its older instrumentors made a span of its own.

    backend.openai.chat.start, …partial_update, …success, …finish
    tool.search.wikipedia.start, …success or …error, …finish
    agent.react.start, …update, …partial_update, …success

A model call is told best by its start, which has what was sent (a streamed answer is there in
fragments only), a tool call by its outcome. The span around all of them is the run.

Source: @arizeai/openinference-instrumentation-beeai 1.0, src/instrumentation.ts; spans of 2025-08.
"""

from __future__ import annotations

from agentool_otel.model.spans import SpanRecord

__all__ = ["is_passing", "tool_of"]

_SCOPE = "openinference.instrumentation.beeai"
_TOLD = {"backend": ("start",), "tool": ("success", "error")}


def is_passing(span: SpanRecord) -> bool:
    """True for an event that tells nothing another one does not tell better."""
    parts = _parts(span)
    return bool(parts) and parts[-1] not in _TOLD.get(parts[0], ())


def tool_of(span: SpanRecord) -> str | None:
    """Return the tool that an event is of; None for any other span."""
    parts = _parts(span)
    return parts[-2] if len(parts) > 2 and parts[0] == "tool" else None


def _parts(span: SpanRecord) -> list[str]:
    target = span.attributes.get("target")
    return target.split(".") if span.scope == _SCOPE and isinstance(target, str) else []
