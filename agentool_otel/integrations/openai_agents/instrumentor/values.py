"""Prompts and answers of the SDK, as messages."""

from __future__ import annotations

from typing import Any

from agentool_otel.content.encoding.attributes import allow
from agentool_otel.content.policy import as_text
from agentool_otel.model.messages import Message, message, text
from agentool_otel.model.operations import Usage
from agentool_otel.providers import openai_chat, openai_responses
from agentool_otel.providers.calls import arguments_of
from agentool_otel.providers.fields import get, items, plain_text, string
from agentool_otel.providers.openai_usage import usage_of

__all__ = ["answer", "conversation", "decisions", "output_of_model", "pending_approval", "usage"]

allow("agents", "group_id", "name", "span_data", "type")
allow("agents", "get_interruptions", "get_rejection_message", "is_tool_approved")


def conversation(prompt: Any) -> list[Message] | None:
    """Return a prompt: a text, or items of the responses API."""
    if (words := plain_text(prompt)) is not None:
        return [message("user", [text(words)])]
    if any(items(item, "tool_calls") or string(item, "role") == "tool" for item in items(prompt)):
        return [openai_chat.message_of(item) for item in items(prompt)]
    return openai_responses.messages_of(prompt)


def answer(final_output: Any) -> list[Message] | None:
    """Return the final output of a run: a text, or a value of the agent's output type."""
    if final_output is None:
        return None
    return [message("assistant", [text(as_text(final_output))], "stop")]


def pending_approval(item: Any) -> dict[str, Any]:
    """Return a tool call that waits for approval."""
    call = get(item, "raw_item")
    arguments = string(call, "arguments")
    return {**_which(item), "arguments": arguments_of(arguments)} if arguments else _which(item)


def decisions(state: Any) -> list[dict[str, Any]]:
    """Return the decisions on the tool calls that a state waits for.

    Source: openai-agents run_state.py and run_context.py at 0.24; before 0.8 there are none.
    """
    context = get(state, "_context")
    waiting: Any = get(state, "get_interruptions")
    decided: Any = get(context, "is_tool_approved")
    words: Any = get(context, "get_rejection_message")
    if waiting is None or decided is None:
        return []
    entries: list[dict[str, Any]] = []
    for item in waiting():
        which = _which(item)
        names = (which.get("name") or "", which.get("id") or "")
        entry = {**which, "approved": decided(*names)}
        reason = words(*names) if words is not None and entry["approved"] is False else None
        entries.append({**entry, "message": reason} if reason else entry)
    return entries


def _which(item: Any) -> dict[str, Any]:
    call = get(item, "raw_item")
    names = {"id": string(call, "call_id"), "name": string(call, "name")}
    return {key: value for key, value in names.items() if value is not None}


def output_of_model(data: Any) -> list[Message] | None:
    """Return the model's answer from the data of a `generation` span: a message of chat
    completions, or, of a stream, a whole response.
    """
    for item in items(get(data, "output")):
        if (output := get(item, "output")) is not None:
            return openai_responses.messages_of(output)
        return [openai_chat.message_of(item)]
    return None


def usage(data: Any) -> Usage | None:
    """Return the token counts in the data of a span, under the names of the responses API."""
    return usage_of(get(data, "usage"))
