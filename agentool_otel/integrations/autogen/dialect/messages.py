"""Messages between AutoGen's agents, as messages of the conventions.

Source: microsoft/autogen `autogen-agentchat/src/autogen_agentchat/messages.py` 0.4 to 0.7.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.messages import (
    Message,
    message,
    reasoning,
    text,
    tool_call,
    tool_response,
)
from agentool_otel.semconv import gen_ai

__all__ = ["input_messages", "tokens", "turn_messages"]


def input_messages(messages: Iterable[Any]) -> list[Message]:
    """Return the input of an agent: from the user, or from another agent under its name."""
    return [
        message(str(item.get("source") or "user"), [text(content)])
        for item in messages
        if isinstance(item, dict) and (content := _text_of(item.get("content")))
    ]


def turn_messages(events: Iterable[Any]) -> list[Message]:
    """Return the messages of an agent's turn, in order: reasoning, tool calls, tool results and
    answers. Events of the framework itself are left out."""
    messages: list[Message] = []
    for event in events:
        if not isinstance(event, dict):
            continue
        content, kind = event.get("content"), str(event.get("type"))
        match kind:
            case "ToolCallRequestEvent":
                calls = [
                    tool_call(
                        str(call.get("name")), json_or_text(call.get("arguments")), call.get("id")
                    )
                    for call in _objects(content)
                ]
                messages.append(message("assistant", calls))
            case "ToolCallExecutionEvent":
                results = [
                    {
                        **tool_response(result.get("content"), result.get("call_id")),
                        **({"is_error": True} if result.get("is_error") is True else {}),
                    }
                    for result in _objects(content)
                ]
                messages.append(message("tool", results))
            case "ThoughtEvent" if isinstance(content, str):
                messages.append(message("assistant", [reasoning(content)]))
            case _ if kind.endswith("Message") and (words := _text_of(content)):
                messages.append(message("assistant", [text(words)]))
            case _:
                pass
    return messages


def tokens(events: Iterable[Any]) -> dict[str, int]:
    """Return the tokens of the model calls behind the events.

    Each event has its own count, zero if the model reported none, as for a streamed answer.
    """
    input_tokens = output_tokens = 0
    is_known = False
    for event in events:
        usage = event.get("models_usage") if isinstance(event, dict) else None
        if isinstance(usage, dict):
            one, other = usage.get("prompt_tokens"), usage.get("completion_tokens")
            if isinstance(one, int) and isinstance(other, int) and (one or other):
                input_tokens, output_tokens, is_known = (
                    input_tokens + one,
                    output_tokens + other,
                    True,
                )
    if not is_known:
        return {}
    return {gen_ai.USAGE_INPUT_TOKENS: input_tokens, gen_ai.USAGE_OUTPUT_TOKENS: output_tokens}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text_of(content: Any) -> str | None:
    """Return a message's content as text: images are left out of several, objects are JSON."""
    if isinstance(content, list):
        content = "\n".join(item for item in content if isinstance(item, str))
    if content is None or isinstance(content, str):
        return content
    return dumps(content)
