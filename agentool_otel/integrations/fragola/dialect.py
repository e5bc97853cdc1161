"""Fragola SDK: agents, and the invocations of their models.

Source: shadokan87/fragolaSDK `src/otel.ts`.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import NOT_MINE, OWN_ROLE, Confidence, Content, Markers
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["Fragola"]

_CALL = "fragola.agent.modelInvocation"
_NAMES = {
    "fragola.agent.model": gen_ai.REQUEST_MODEL,
    "fragola.agent.name": gen_ai.AGENT_NAME,
    "fragola.agent.id": gen_ai.AGENT_ID,
    "fragola.agent.description": gen_ai.AGENT_DESCRIPTION,
}


class Fragola:
    """The dialect."""

    name = "fragola"
    markers = Markers(keys=("fragola.",), names=("fragola.",))
    content = Content()

    def recognise(self, span: SpanRecord) -> Confidence:
        ours = any(key.startswith("fragola.") for key in span.attributes)
        if ours or span.name.startswith("fragola."):
            return Confidence(OWN_ROLE, "names of Fragola")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        if span.span.name == _CALL:
            onto.rename(span, {"fragola.agent.model": gen_ai.REQUEST_MODEL})
            return onto.as_operation(span, "chat")
        if gen_ai.OPERATION_NAME in span.rest or "fragola.agent.name" not in span.rest:
            return onto.as_operation(span)
        onto.rename(span, _NAMES)
        return onto.as_operation(span, "invoke_agent")
