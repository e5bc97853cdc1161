"""Comet Opik: ids of its own traces and spans on spans of any vocabulary, and spans from
its API.

Source: opik 2.2.122 `integrations/otel/attributes.py`; the names that
`integrations/opik/store.py` gives to the fields of its traces and spans. The ids replace
OpenTelemetry's parentage in Opik; here they stay attributes, for a dialect sees no tree.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    AROUND,
    CENSUS,
    NOT_MINE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_envelope import read_around
from agentool_otel.dialects.kit.store_spans import read_call, read_costs, run_at_root, set_usage
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Opik"]

_KIND = "opik.span.type"
_INPUT, _OUTPUT = "opik.input", "opik.output"
_OPERATIONS = {"llm": "chat", "tool": "execute_tool"}
_RUNS = ("trace", "general")


class Opik:
    """The dialect."""

    name = "opik"
    markers = Markers(keys=("opik.",))
    content = Content(attributes=(_INPUT, _OUTPUT))

    def recognise(self, span: SpanRecord) -> Confidence:
        if any(key in span.attributes for key in ("opik.trace_id", "opik.span_id", _KIND)):
            return Confidence(AROUND, "has ids of Opik")
        if any(key.startswith("opik.") for key in span.attributes):
            return Confidence(CENSUS, "has opik.*")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        return read_around(span, ("opik.",), _read_own)


def _read_own(span: Reader, operation: str | None) -> Operation:
    kind = span.text(_KIND) or ""
    guessed = run_at_root(span, _INPUT, _OUTPUT) if kind in _RUNS and operation is None else None
    operation = operation or _OPERATIONS.get(kind) or guessed
    onto.rename(span, {"opik.thread_id": gen_ai.CONVERSATION_ID})
    if operation == "chat":
        onto.rename(
            span, {"opik.model": gen_ai.REQUEST_MODEL, "opik.provider": gen_ai.PROVIDER_NAME}
        )
        set_usage(span, span.json("opik.usage", keep_text=False))
        onto.put(span, agentool.COST_USD, read_costs(span.json("opik.total_estimated_cost")))
    return read_call(span, operation, None, _INPUT, _OUTPUT)
