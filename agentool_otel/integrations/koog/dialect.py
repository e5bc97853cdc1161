"""JetBrains Koog: the GenAI conventions, with messages that are nearly those.

Source: spans of Koog 0.5.4 to 1.1.1, whose scope is the name of the service, or `ai.koog`.

- From 0.6 on every span has a `koog.event.id`; messages have roles in capitals, a tool's words
  under `result` and calls under the role `Tool`; the system prompt has an attribute without
  `gen_ai.`, and a tool that failed the result `{}`. A run's own span has the system prompt
  in place of its input and its answer, and counts no tokens.
- 0.5: messages are the older events, or indexed attributes for Langfuse (`gen_ai.older`), and
  only the spans of nodes have names of their own.

The conversation id is the id of the run.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    SCOPE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader, is_placeholder
from agentool_otel.model.messages import Message, message, parts_of
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import STATUS_ERROR, SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.semconv import gen_ai

__all__ = ["Koog"]

_SCOPE = "ai.koog"
_NODE = ("koog.node.name", "koog.node.id", "koog.strategy.name")
_SYSTEM = "system_instructions"


class Koog:
    """The dialect."""

    name = "koog"
    markers = Markers(keys=("koog.",), scopes=(_SCOPE,))
    content = Content(attributes=(_SYSTEM, "koog.node.input", "koog.node.output"))

    def recognise(self, span: SpanRecord) -> Confidence:
        ours = span.scope == _SCOPE or any(key.startswith("koog.") for key in span.attributes)
        if ours:
            has_operation = gen_ai.OPERATION_NAME in span.attributes
            return Confidence(EXTENDS if has_operation else SCOPE, "scope or names of Koog")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        attributes = span.rest
        if not attributes.keys().isdisjoint(_NODE):
            return onto.unclassified(span)
        operation = attributes.get(gen_ai.OPERATION_NAME)
        if operation == "execute_tool":
            if span.span.status == STATUS_ERROR and attributes.get(gen_ai.TOOL_CALL_RESULT) == "{}":
                onto.drop(span, gen_ai.TOOL_CALL_RESULT)
            return onto.as_operation(span)
        if not is_placeholder(attributes.get(_SYSTEM)):
            onto.rename(span, {_SYSTEM: gen_ai.SYSTEM_INSTRUCTIONS})
        _mend_messages(span)
        _mend_reasons(span)
        if operation == "invoke_agent":
            onto.drop(span, *(key for key in _COUNTS if str(attributes.get(key)) == "0"))
        return onto.as_operation(span)


_COUNTS = (gen_ai.USAGE_INPUT_TOKENS, gen_ai.USAGE_OUTPUT_TOKENS)


def _mend_messages(span: Reader) -> None:
    for key in (gen_ai.INPUT_MESSAGES, gen_ai.OUTPUT_MESSAGES):
        messages = json_or_text(span.rest.get(key))
        if not isinstance(messages, list):
            continue
        mended = [_mend(item) for item in messages if isinstance(item, dict) and parts_of(item)]
        if key == gen_ai.OUTPUT_MESSAGES:  # one answer, of a message for each of its parts
            parts = [
                part for item in mended if item["role"] == "assistant" for part in parts_of(item)
            ]
            mended = [message("assistant", parts)] if parts else []
        elif span.rest.get(gen_ai.OPERATION_NAME) == "invoke_agent":
            mended = [item for item in mended if item["role"] != "system"]
        onto.drop(span, key)
        onto.put(span, key, mended or None)


def _mend(item: Message) -> Message:
    role = str(item.get("role")).lower()
    parts = parts_of(item)
    if any(part.get("type") == "tool_call" for part in parts):
        role = "assistant"
    responses = [
        {
            "response": _result_value(part["result"]),
            **{k: v for k, v in part.items() if k != "result"},
        }
        if part.get("type") == "tool_call_response" and "result" in part
        else part
        for part in parts
    ]
    return {**item, "role": role, "parts": responses}


def _result_value(result: Any) -> Any:
    """Return a tool's result: text comes as JSON, and in a message as JSON of JSON."""
    return json_or_text(result) if isinstance(result, str) else result


def _mend_reasons(span: Reader) -> None:
    """Take the reasons to stop, which Koog 1.x writes as Kotlin prints a list: `[stop]`."""
    value: Any = span.rest.get(gen_ai.RESPONSE_FINISH_REASONS)
    if isinstance(value, str):
        value = [part.strip() for part in value.strip("[]").split(",")]
    if isinstance(value, list):
        reasons = [str(finish_reason(item)) for item in value]
        span.rest[gen_ai.RESPONSE_FINISH_REASONS] = reasons
