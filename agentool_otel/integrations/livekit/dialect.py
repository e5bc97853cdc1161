"""LiveKit Agents: voice agents, whose turns, model calls and tools have names of their own.

Since 1.7 a name with content has a segment `pii` (`lk.pii.user_input`, before `lk.user_input`), and
spans have the names of the GenAI conventions, too. A model call is a span `llm_request` within a
span `llm_node`, and has a span `llm_request_run` for each attempt.

Source: livekit-agents 1.8.9 `livekit/agents/telemetry/trace_types.py`, `voice/generation.py` and
`llm/llm.py`, recorded in `tests/fixtures/spans`; mlflow `tracing/otel/translation/livekit.py`.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    CENSUS,
    EXTENDS,
    NOT_MINE,
    OWN_ROLE,
    SCOPE,
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

_SCOPE = "livekit-agents"
_PII = "lk.pii."
_CONTEXT, _TEXT, _CALLS = "lk.chat_ctx", "lk.response.text", "lk.response.function_calls"
_USER = ("lk.user_input", "lk.user_transcript", "lk.input_text")
_FUNCTION_TOOL = "lk.function_tool."
_TOOL = {
    "lk.function_tool.name": gen_ai.TOOL_NAME,
    "lk.function_tool.id": gen_ai.TOOL_CALL_ID,
    "lk.function_tool.arguments": gen_ai.TOOL_CALL_ARGUMENTS,
    "lk.function_tool.args": gen_ai.TOOL_CALL_ARGUMENTS,
    "lk.function_tool.output": gen_ai.TOOL_CALL_RESULT,
}
_CONTENT = (
    *(_CONTEXT, _TEXT, _CALLS, *_USER, "lk.instructions"),
    *("lk.function_tool.arguments", "lk.function_tool.args", "lk.function_tool.output"),
)
"""Names with content before 1.7; later ones are known by their segment."""


class LiveKit:
    """The dialect."""

    name = "livekit"
    markers = Markers(keys=("lk.",), scopes=(_SCOPE,), namespaces=("lk.",))
    content = Content(attributes=_CONTENT)

    def recognise(self, span: SpanRecord) -> Confidence:
        attributes = span.attributes
        if not any(key.startswith("lk.") for key in attributes):
            return Confidence(SCOPE, f"scope {_SCOPE}") if span.scope == _SCOPE else NOT_MINE
        if any(_is_role(key) for key in attributes):
            return Confidence(OWN_ROLE, "has a chat context or a function tool of LiveKit's")
        if gen_ai.OPERATION_NAME in attributes:
            return Confidence(EXTENDS, f"has lk.* and {gen_ai.OPERATION_NAME}")
        if span.scope == _SCOPE:
            return Confidence(SCOPE, f"has lk.* and scope {_SCOPE}")
        return Confidence(CENSUS, "has lk.*")

    def read(self, span: Reader) -> Operation:
        onto.rename(span, {_named_since_1_7(name): name for name in _CONTENT})
        onto.rename(span, {"lk.job_id": gen_ai.CONVERSATION_ID})
        if any(key.startswith(_FUNCTION_TOOL) for key in span.rest):
            return _tool(span)
        if _CONTEXT in span.rest:
            context = span.json(_CONTEXT, keep_text=False)
            onto.put(span, gen_ai.INPUT_MESSAGES, _messages(context) or None)
            onto.put(span, gen_ai.OUTPUT_MESSAGES, _answer(span))
            return onto.as_operation(span, "chat")
        if span.span.name == "llm_node":
            onto.put(span, gen_ai.OUTPUT_MESSAGES, _answer(span))
            return onto.as_operation(span, "chat")
        if span.span.name == "agent_turn":
            onto.rename(span, {"lk.agent_name": gen_ai.AGENT_NAME})
            onto.move_messages(span, gen_ai.INPUT_MESSAGES, "user", *_USER)
            onto.put(span, gen_ai.OUTPUT_MESSAGES, _answer(span))
            return onto.as_operation(span, "invoke_agent")
        if gen_ai.OPERATION_NAME not in span.rest:  # an attempt, or the work around an operation
            return onto.unclassified(span)
        return onto.as_operation(span)


def _named_since_1_7(name: str) -> str:
    return name.replace("lk.", _PII, 1)


def _is_role(key: str) -> bool:
    """Return whether an attribute shows that its span is a model call or a tool call.

    The names of the tools that a model is offered, `lk.function_tools`, do not.
    """
    name = key.replace(_PII, "lk.", 1)
    return name == _CONTEXT or name.startswith(_FUNCTION_TOOL)


def _tool(span: Reader) -> Operation:
    """Read a tool, whose error is the text of its output, and an error type since 1.7."""
    result = span.rest.get(gen_ai.TOOL_CALL_RESULT)
    if result is not None and json_or_text(result) == span.rest.get("lk.function_tool.output"):
        onto.drop(span, "lk.function_tool.output")  # the same, but for its JSON
    onto.rename(span, _TOOL)
    if span.boolean("lk.function_tool.is_error"):
        output = span.rest.get(gen_ai.TOOL_CALL_RESULT)
        onto.put(span, agentool.TOOL_ERROR, str(output) if output else "error")
    return onto.as_operation(span, "execute_tool")


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
