"""The messages in the input and the state of a graph."""

from __future__ import annotations

from typing import Any

from agentool_otel.model.messages import Message, message, text
from agentool_otel.providers.fields import as_list, get, items, plain_text
from agentool_otel.providers.langchain import finish_reason, from_message, pair_in

__all__ = ["final_answer", "last_answer", "new_input"]


def new_input(value: Any) -> list[Message] | None:
    """Return the input of a graph: the newest messages of its user, None if it takes none."""
    if (words := plain_text(value)) is not None:
        return [message("user", [text(words)])]
    messages = as_list(value)
    messages = _messages(value) if messages is None else messages
    questions: list[Message] = []
    for each in reversed(messages):
        if not _is_message(each):
            return None
        converted = from_message(each)
        if converted["role"] == "user":
            questions.insert(0, converted)
        elif questions:
            break
    return questions or None


def last_answer(state: Any) -> list[Message] | None:
    """Return the text of the newest message of a model in a graph's state."""
    if (words := plain_text(state)) is not None:
        return [message("assistant", [text(words)])]
    for each in reversed(_messages(state)):
        if _is_message(each):
            converted = from_message(each)
            if converted["role"] == "assistant":
                parts = [part for part in converted["parts"] if part["type"] == "text"]
                if not parts:
                    return None
                why = finish_reason(get(each, "response_metadata"))
                return [message("assistant", parts, why or "stop")]
    return None


def final_answer(update: Any) -> list[Message] | None:
    """Return the text with which a model's node ends an agent; None if it calls a tool.

    Args:
        update: what the node returned: an update of the state, or one as the only command.
    """
    commands = as_list(update)
    if commands is not None:
        update = get(commands[0], "update") if len(commands) == 1 else None
    last = next(iter(_messages(update)[-1:]), None)
    if last is None or not _is_message(last):
        return None
    converted = from_message(last)
    is_answer = converted["role"] == "assistant" and all(
        part["type"] != "tool_call" for part in converted["parts"]
    )
    return last_answer(update) if is_answer else None


def _messages(state: Any) -> list[Any]:
    messages = get(state, "messages")
    members = as_list(messages)
    return [messages] if members is None and messages is not None else members or []


def _is_message(value: Any) -> bool:
    if plain_text(value) is not None or pair_in(value) is not None:
        return True
    return get(value, "content") is not None or bool(items(value, "tool_calls"))
