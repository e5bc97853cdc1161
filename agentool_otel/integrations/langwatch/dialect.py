"""LangWatch SDK: a span type, and values wrapped with their type.

Source: langwatch/langwatch `python-sdk/src/langwatch/attributes.py`, `_constants.ts`. Values are
`{"type": "text" | "chat_messages" | "json" | …, "value": …}`.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    CENSUS,
    NOT_MINE,
    OWN_ROLE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import read_call, read_costs, run_at_root, set_usage
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["LangWatch"]

_TYPE, _INPUT, _OUTPUT = "langwatch.span.type", "langwatch.input", "langwatch.output"
_CONTEXTS, _METRICS = "langwatch.rag.contexts", "langwatch.metrics"
_OPERATIONS = {
    "llm": "chat",
    "tool": "execute_tool",
    "agent": "invoke_agent",
    "workflow": "invoke_workflow",
    "rag": "retrieval",
}
_NAMES = {
    "langwatch.thread.id": gen_ai.CONVERSATION_ID,
    "langwatch.span.cost": agentool.COST_USD,
}


class LangWatch:
    """The dialect."""

    name = "langwatch"
    markers = Markers(keys=("langwatch.",))
    content = Content(attributes=(_INPUT, _OUTPUT, _CONTEXTS))

    def recognise(self, span: SpanRecord) -> Confidence:
        if _TYPE in span.attributes:
            return Confidence(OWN_ROLE, f"has {_TYPE}")
        if _INPUT in span.attributes or _OUTPUT in span.attributes:
            return Confidence(CENSUS, "has langwatch.input or .output")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        kind = span.text(_TYPE) or "span"
        operation = _OPERATIONS.get(kind)
        if kind in ("span", "chain"):
            operation = run_at_root(span, _INPUT, _OUTPUT)
        for key in (_INPUT, _OUTPUT, _CONTEXTS):
            if operation is not None:
                _unwrap(span, key)
        if operation == "retrieval":
            onto.set_documents(span, span.json(_CONTEXTS))
        elif operation == "chat":
            onto.rename(span, _NAMES)
            metrics = _value(span.json(_METRICS, keep_text=False))
            set_usage(span, metrics)
            cost = metrics.get("cost") if isinstance(metrics, dict) else None
            onto.put(span, agentool.COST_USD, read_costs(cost))
        onto.rename(span, {"langwatch.thread.id": gen_ai.CONVERSATION_ID})
        return read_call(span, operation, None, _INPUT, _OUTPUT)


def _unwrap(span: Reader, key: str) -> None:
    wrapped = span.json(key, keep_text=False)
    if wrapped is not onto.UNSET:
        value = _value(wrapped)
        span.rest[key] = onto.dumps(value) if isinstance(value, str) else value


def _value(wrapped: Any) -> Any:
    if isinstance(wrapped, dict) and wrapped.keys() >= {"type", "value"}:
        return wrapped["value"]
    return wrapped
