"""Mozilla's any-agent and tinyagent: GenAI names with an output, arguments and costs of its own.

Source: mozilla-ai/any-agent `src/any_agent/tracing/attributes.py`. Only the first model call of a
run carries its input.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import EXTENDS, NOT_MINE, Confidence, Content, Markers
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.messages import Message, Part, message, text, tool_call
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["AnyAgent"]

_OUTPUT, _OUTPUT_TYPE = "gen_ai.output", gen_ai.OUTPUT_TYPE
_COSTS = ("gen_ai.usage.input_cost", "gen_ai.usage.output_cost")
_OWN = ("any_agent.version", _OUTPUT, *_COSTS)
_ARGUMENTS, _SCOPE = "gen_ai.tool.args", "any_agent"
"""The former is OpenLIT's too."""


class AnyAgent:
    """The dialect."""

    name = "any_agent"
    markers = Markers(keys=(*_OWN, _ARGUMENTS), scopes=(_SCOPE,))
    content = Content(attributes=(_OUTPUT, _ARGUMENTS))

    def recognise(self, span: SpanRecord) -> Confidence:
        for key in _OWN:
            if key in span.attributes:
                return Confidence(EXTENDS, f"has {key}")
        return Confidence(EXTENDS, "scope any_agent") if span.scope == _SCOPE else NOT_MINE

    def read(self, span: Reader) -> Operation:
        operation = span.rest.get(gen_ai.OPERATION_NAME)
        if operation == "execute_tool":
            onto.rename(span, {_ARGUMENTS: gen_ai.TOOL_CALL_ARGUMENTS})
            output = span.json(_OUTPUT)
            onto.set_result(span, output)
            onto.drop(span, _OUTPUT_TYPE)
            return onto.as_operation(span)
        if operation == "call_llm":
            sent = json_or_text(span.rest.get(gen_ai.INPUT_MESSAGES))
            if messages := onto.as_messages(sent, "user"):
                span.rest[gen_ai.INPUT_MESSAGES] = messages
            onto.put(span, gen_ai.OUTPUT_MESSAGES, _answer(span.json(_OUTPUT)))
            costs = [span.number(key) for key in _COSTS]
            known_costs = [cost for cost in costs if cost is not None]
            onto.put(span, agentool.COST_USD, sum(known_costs) if known_costs else None)
            return onto.as_operation(span, "chat")
        onto.move_messages(span, gen_ai.OUTPUT_MESSAGES, "assistant", _OUTPUT)
        return onto.as_operation(span)


def _answer(output: Any) -> list[Message] | None:
    """Tool calls are a list of names and arguments; anything else is the model's text."""
    if output is onto.UNSET or output is None or output == "":
        return None
    calls: list[Part] = []
    for call in output if isinstance(output, list) else ():
        if isinstance(call, dict) and isinstance(call.get("tool.name"), str):
            arguments = json_or_text(call.get("tool.args"))
            calls.append(tool_call(call["tool.name"], arguments))
    words = output if isinstance(output, str) else onto.dumps(output)
    return [message("assistant", calls or [text(words)])]
