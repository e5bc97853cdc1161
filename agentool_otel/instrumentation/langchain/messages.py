"""The messages in the input and the state of a graph."""

from __future__ import annotations

from typing import Any

from agentool_otel.model.messages import Message, message, text
from agentool_otel.providers.fields import get, items
from agentool_otel.providers.langchain import finish_reason, from_message, pair_in

__all__ = ["last_answer", "new_input"]


def new_input(given: Any) -> list[Message] | None:
    """Return what a graph is asked: the newest messages of its user, None if it takes none."""
    if isinstance(given, str):
        return [message("user", [text(given)])]
    messages = items(given) if isinstance(given, (list, tuple)) else _messages(given)
    asked: list[Message] = []
    for each in reversed(messages):
        if not _is_message(each):
            return None
        made = from_message(each)
        if made["role"] == "user":
            asked.insert(0, made)
        elif asked:
            break
    return asked or None


def last_answer(state: Any) -> list[Message] | None:
    """Return the text of the newest message of a model in a graph's state."""
    if isinstance(state, str):
        return [message("assistant", [text(state)])]
    for each in reversed(_messages(state)):
        if _is_message(each):
            made = from_message(each)
            if made["role"] == "assistant":
                said = [part for part in made["parts"] if part["type"] == "text"]
                if not said:
                    return None
                why = finish_reason(get(each, "response_metadata"))
                return [message("assistant", said, why or "stop")]
    return None


def _messages(state: Any) -> list[Any]:
    found = get(state, "messages")
    return items(found) if isinstance(found, (list, tuple)) else [] if found is None else [found]


def _is_message(value: Any) -> bool:
    if isinstance(value, str) or pair_in(value) is not None:
        return True
    return get(value, "content") is not None or bool(items(value, "tool_calls"))
