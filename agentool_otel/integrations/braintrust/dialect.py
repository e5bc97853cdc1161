"""Braintrust: spans whose attributes are four JSON objects and an input and output.

Source: Braintrust documentation, OpenTelemetry integration; its SDKs' span attributes. On spans of
other vocabularies `braintrust.parent` only names the project they belong to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import AROUND, NOT_MINE, Confidence, Content, Markers
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_envelope import read_around
from agentool_otel.dialects.kit.store_spans import (
    read_call,
    read_costs,
    run_at_root,
    set_parameters,
    set_usage,
)
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Braintrust"]

_ATTRIBUTES = "braintrust.span_attributes"
_INPUT, _OUTPUT = "braintrust.input_json", "braintrust.output_json"
_OPERATIONS = {"llm": "chat", "tool": "execute_tool"}


class Braintrust:
    """The dialect."""

    name = "braintrust"
    markers = Markers(keys=(_ATTRIBUTES, _INPUT, _OUTPUT, "braintrust.input", "braintrust.output"))
    content = Content(
        attributes=(_INPUT, _OUTPUT, "braintrust.input", "braintrust.output"),
        objects=("braintrust.metadata",),
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        for key in self.markers.keys:
            if key in span.attributes:
                return Confidence(AROUND, f"has {key}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        return read_around(span, ("braintrust.",), _read_own)


def _read_own(span: Reader, operation: str | None) -> Operation:
    onto.rename(span, {"braintrust.input": _INPUT, "braintrust.output": _OUTPUT})
    attributes = _object(span, _ATTRIBUTES)
    kind, name = attributes.get("type"), attributes.get("name")
    metadata = _object(span, "braintrust.metadata")
    onto.put(span, gen_ai.CONVERSATION_ID, next(_conversations(metadata), None))
    guesses = operation is None and kind in ("task", "function", None)
    operation = operation or _OPERATIONS.get(str(kind))
    if operation is None and guesses:
        operation = run_at_root(span, _INPUT, _OUTPUT)
    if operation in ("chat", "embeddings"):
        metrics = _object(span, "braintrust.metrics")
        set_parameters(span, metadata)
        provider = metadata.get("provider")
        onto.put(span, gen_ai.PROVIDER_NAME, provider if isinstance(provider, str) else None)
        onto.put(span, gen_ai.TOOL_DEFINITIONS, onto.definitions(metadata.get("tools")) or None)
        set_usage(span, metrics)
        onto.put(span, gen_ai.RESPONSE_TIME_TO_FIRST_CHUNK, metrics.get("time_to_first_token"))
        onto.put(span, agentool.COST_USD, read_costs(metrics.get("estimated_cost")))
    return read_call(span, operation, name if isinstance(name, str) else None, _INPUT, _OUTPUT)


def _conversations(metadata: dict[str, Any]) -> Iterator[str]:
    """Braintrust has no field for a conversation; users and other tracers name it so."""
    for name in ("session_id", "sessionId", "thread_id", "threadId", "conversation_id"):
        if isinstance(value := metadata.get(name), str) and value:
            yield value


def _object(span: Reader, key: str) -> dict[str, Any]:
    value = span.json(key, keep_text=False)
    return value if isinstance(value, dict) else {}
