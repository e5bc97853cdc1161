"""Amplifier: GenAI names, with tools, sessions and child agents under its own.

Source: colombod/amplifier-module-hooks-otel `amplifier_module_hooks_otel/attributes.py`. Spans hold
no content: a filter marker stands in its place, and the prompt is known by its length only.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    OWN_ROLE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["Amplifier"]

_NAMES = {
    "amplifier.tool.name": gen_ai.TOOL_NAME,
    "amplifier.session.id": gen_ai.CONVERSATION_ID,
    "amplifier.agent.name": gen_ai.AGENT_NAME,
}


class Amplifier:
    """The dialect."""

    name = "amplifier"
    markers = Markers(keys=("amplifier.",))
    content = Content()

    def recognise(self, span: SpanRecord) -> Confidence:
        if not any(key.startswith("amplifier.") for key in span.attributes):
            return NOT_MINE
        has_operation = gen_ai.OPERATION_NAME in span.attributes
        return Confidence(EXTENDS if has_operation else OWN_ROLE, "has amplifier.*")

    def read(self, span: Reader) -> Operation:
        operation = span.rest.get(gen_ai.OPERATION_NAME)
        onto.rename(span, _NAMES)
        if operation == "prompt":
            return onto.as_operation(span, "invoke_agent")
        if operation is None and span.rest.get("amplifier.session.type") == "fork":
            return onto.as_operation(span, "invoke_agent")  # a fork runs a child agent
        if operation in ("chat", "execute_tool", "invoke_agent", "plan"):
            return onto.as_operation(span)
        return onto.unclassified(span)
