"""Laminar: a span type, an input and an output, around GenAI names.

Source: mlflow `tracing/otel/translation/laminar.py` 3.17; lmnr-ai/lmnr-python `sdk/laminar.py`.
"""

from __future__ import annotations

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
from agentool_otel.dialects.kit.store_spans import read_call, run_at_root
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Laminar"]

_TYPE, _INPUT, _OUTPUT = "lmnr.span.type", "lmnr.span.input", "lmnr.span.output"
_OPERATIONS = {"LLM": "chat", "TOOL": "execute_tool", "CACHED": "chat"}
_NAMES = {
    "lmnr.association.properties.session_id": gen_ai.CONVERSATION_ID,
    "gen_ai.usage.cost": agentool.COST_USD,
}


class Laminar:
    """The dialect."""

    name = "laminar"
    markers = Markers(keys=("lmnr.span.",), namespaces=("lmnr.",))
    content = Content(attributes=("lmnr.span.input", "lmnr.span.output"))

    def recognise(self, span: SpanRecord) -> Confidence:
        if _TYPE in span.attributes:
            return Confidence(OWN_ROLE, f"has {_TYPE}")
        if _INPUT in span.attributes or _OUTPUT in span.attributes:
            return Confidence(CENSUS, "has lmnr.span.*")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        kind = span.text(_TYPE) or "DEFAULT"
        operation = _OPERATIONS.get(kind)
        if kind in ("DEFAULT", "PIPELINE"):
            operation = run_at_root(span, _INPUT, _OUTPUT)
        if operation == "chat":
            onto.rename(span, _NAMES)
        else:
            onto.rename(span, {"lmnr.association.properties.session_id": gen_ai.CONVERSATION_ID})
        return read_call(span, operation, None, _INPUT, _OUTPUT)
