"""LiveKit Agents: voice agents, whose turns, model calls and tools have names of their own.

Source: livekit/agents `livekit-agents/livekit/agents/telemetry/trace_types.py`; mlflow
`tracing/otel/translation/livekit.py`.
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
from agentool_otel.dialects.kit.provider_messages import calls_from, json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.messages import Message, Part, message, text, tool_response
from agentool_otel.model.messages import tool_call as call_part
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["LiveKit"]

_CONTEXT, _TEXT, _CALLS = "lk.chat_ctx", "lk.response.text", "lk.response.function_calls"
_TOOL = {
    "lk.function_tool.name": gen_ai.TOOL_NAME,
    "lk.function_tool.id": gen_ai.TOOL_CALL_ID,
    "lk.function_tool.arguments": gen_ai.TOOL_CALL_ARGUMENTS,
    "lk.function_tool.args": gen_ai.TOOL_CALL_ARGUMENTS,
    "lk.function_tool.output": gen_ai.TOOL_CALL_RESULT,
}


class LiveKit:
    """The dialect."""

    name = "livekit"
    markers = Markers(keys=("lk.",), namespaces=("lk.",))
    content = Content(
        attributes=(
            _CONTEXT,
            _TEXT,
            _CALLS,
            "lk.function_tool.arguments",
            "lk.function_tool.args",
            "lk.function_tool.output",
            "lk.user_input",
            "lk.user_transcript",
            "lk.input_text",
            "lk.instructions",
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        attributes = span.attributes
        if _CONTEXT in attributes or any(key.startswith("lk.function_tool") for key in attributes):
            return Confidence(OWN_ROLE, "has lk.chat_ctx or lk.function_tool")
        if any(key.startswith("lk.") for key in attributes):
            return Confidence(CENSUS, "has lk.*")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        onto.rename(span, {"lk.job_id": gen_ai.CONVERSATION_ID})
        if any(key.startswith("lk.function_tool") for key in span.rest):
            onto.rename(span, _TOOL)
            if span.boolean("lk.function_tool.is_error"):
                result = span.rest.get(gen_ai.TOOL_CALL_RESULT)
                onto.put(span, agentool.TOOL_ERROR, str(result) if result else "error")
            return onto.as_operation(span, "execute_tool")
        if _CONTEXT in span.rest:
            context = span.json(_CONTEXT, keep_text=False)
            onto.put(span, gen_ai.INPUT_MESSAGES, _messages(context) or None)
            onto.put(span, gen_ai.OUTPUT_MESSAGES, _answer(span))
            return onto.as_operation(span, "chat")
        if span.span.name == "agent_turn":
            onto.rename(span, {"lk.agent_name": gen_ai.AGENT_NAME})
            onto.move_messages(
                span,
                gen_ai.INPUT_MESSAGES,
                "user",
                *("lk.user_input", "lk.user_transcript", "lk.input_text"),
            )
            onto.put(span, gen_ai.OUTPUT_MESSAGES, _answer(span))
            return onto.as_operation(span, "invoke_agent")
        return onto.as_operation(span)


def _answer(span: Reader) -> list[Message] | None:
    words = span.text(_TEXT)
    parts: list[Part] = [text(words)] if words else []
    parts += calls_from(span.json(_CALLS))
    return [message("assistant", parts)] if parts else None


def _messages(context: Any) -> list[Message]:
    """Messages of a chat context: {"items": [{"type": "message" | "function_call" | …}]}."""
    items = context.get("items") if isinstance(context, dict) else context
    messages: list[Message] = []
    for item in items if isinstance(items, list) else ():
        match item:
            case {"type": "function_call", "name": str(name)}:
                arguments = json_or_text(item.get("arguments"))
                messages.append(message("assistant", [call_part(name, arguments, _id(item))]))
            case {"type": "function_call_output"}:
                response = json_or_text(item.get("output"))
                messages.append(message("tool", [tool_response(response, _id(item))]))
            case {"role": str(role), "content": content}:
                words = content if isinstance(content, list) else [content]
                parts = [text(word) for word in words if isinstance(word, str)]
                messages.append(message(role, parts))
            case _:
                continue
    return messages


def _id(item: dict[str, Any]) -> str | None:
    call_id = item.get("call_id")
    return call_id if isinstance(call_id, str) else None
