"""Messages of providers' APIs as recordings have them, as GenAI messages.

The APIs themselves are read in `providers/`. SDKs record more than their messages: JSON as text,
batches, whole requests and answers, the wrappers of LangChain's serialisation, the inputs and
outputs of frameworks.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from agentool_otel.dialects.kit.reading import LazyJson
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.model.messages import Message, Part, message, text
from agentool_otel.providers import blocks, shapes
from agentool_otel.providers.calls import call_of

__all__ = [
    "agent_messages",
    "answer_in",
    "are_calls",
    "calls_from",
    "json_or_text",
    "message_from",
    "messages_from",
    "parts_from",
]


def json_or_text(value: Any) -> Any:
    """Parse JSON text that is an object, an array or a string; return any other value as it is."""
    if isinstance(value, str) and value[:1] in ("{", "[", '"'):
        try:
            return loads(value)
        except ValueError:
            return value
    return value


def _is_nothing(value: Any) -> bool:
    """Return whether a value is null, empty or unreadable."""
    return value is None or value is UNSET or value == ""


def messages_from(value: Any, role: str) -> list[Message]:
    """Return the messages of a whole prompt or answer: JSON of any known shape, or bare text.

    Args:
        value: what the SDK recorded, structured or as JSON text.
        role: the role of messages that do not name one.
    """
    value = json_or_text(value)
    if _is_nothing(value):
        return []
    if isinstance(value, dict):
        value = _message_list(value)
    if not isinstance(value, list):
        value = [value]
    if len(value) == 1 and isinstance(value[0], list) and not _is_pair(value[0]):
        value = value[0]  # a batch of one prompt
    return shapes.messages_of([_plain(item, role) for item in value], role)


def _message_list(container: dict[str, Any]) -> Any:
    """Return the list of messages in a request, a graph's state or an answer."""
    match container:
        case {"messages": list(items)} | {"choices": list(items)} | {"generations": list(items)}:
            return items
        case {"output": list(items), "object": "response"} | {"input": list(items), "model": _}:
            return items
        case _:
            return container


def _is_pair(item: Any) -> bool:
    """Return whether an item is LangChain's short form of a message, `["user", "hello"]`."""
    match item:
        case [str(role), str()]:
            return role in ("system", "user", "assistant", "tool", "human", "ai")
        case _:
            return False


_QUESTIONS = (
    *("new_message", "task", "input", "query", "question", "prompt", "user_input"),
    "message",
)
"""Members of a request that hold the question: ADK, smolagents, LangChain, Agno and others."""
_PRINTED = {"run_response", "start_event"}
"""Members of an input of Agno 2 and LlamaIndex's workflows: their own objects, printed."""


def agent_messages(value: Any, role: str) -> list[Message]:
    """Return the input or output of an agent as messages: those in a value, or the value itself.

    Args:
        value: what an SDK recorded, structured or `LazyJson`.
        role: the role of messages that do not name one.
    """
    json_text = value.text if isinstance(value, LazyJson) else None
    value = value.value if isinstance(value, LazyJson) else value
    if _is_nothing(value):
        return []
    if isinstance(value, dict):
        if role == "user" and (question := _question_in(value)) is not None:
            return question
        value = _framework_answer(value)
    if _holds_messages(value):
        return messages_from(value, role)
    if not isinstance(value, str):
        value = dumps(value) if json_text is None else json_text
    return [message(role, [text(value)])]


def _question_in(request: dict[str, Any]) -> list[Message] | None:
    """Return the one question of a framework's request; None for an object of another shape."""
    if "messages" not in request:
        for name in _QUESTIONS:
            match request.get(name):
                case str(question):
                    return [message("user", [text(question)])]
                case dict(question):
                    return [message_from(question, "user")]
                case _:
                    pass
    return [] if request.keys() & _PRINTED else None


def _framework_answer(value: dict[str, Any]) -> Any:
    """Return the answer in an object that wraps it; any other object as it is."""
    response = value.get("response")
    if isinstance(response, dict) and "blocks" in response:  # of LlamaIndex
        value = response
    if isinstance(value.get("raw"), str) and "json_dict" in value:
        return value["raw"]  # of CrewAI's CrewOutput and TaskOutput; the rest repeats the run
    return value


def _holds_messages(value: Any) -> bool:
    match value:
        case {"messages": list()} | {"choices": list()} | {"generations": list()}:
            return True
        case {"role": _} | {"content": _} | {"object": "response"} | {"text": str()}:
            return True
        case {"input": [{}, *_], "model": str()}:  # a request of OpenAI's responses API
            return True
        case {"type": "ai" | "human" | "tool" | "constructor"}:
            return True
        case [*items]:
            return bool(items) and all(isinstance(item, dict) or _is_pair(item) for item in items)
        case _:
            return False


def answer_in(messages: list[Message]) -> list[Message]:
    """Return the messages after the last question: a graph's state repeats the whole history."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].get("role") == "user":
            return messages[place + 1 :] or messages
    return messages


def message_from(item: dict[str, Any], role: str) -> Message:
    """Return one message, or one item that stands for a message."""
    *before, last = messages_from([item], role) or [message(role, [])]
    return {**last, "parts": [part for item in (*before, last) for part in item["parts"]]}


_TEXTS = ("content", "tool_calls", "output")
"""Members of a message that are recorded as JSON text."""


def _plain(item: Any, role: str) -> Any:
    """Return one message as its API has it: without wrappers, texts that are JSON as JSON."""
    if isinstance(item, dict):
        return _unwrap(item, role)
    if _is_pair(item):
        return {"role": item[0], "content": json_or_text(item[1])}
    content = json_or_text(item) if isinstance(item, (list, str)) else str(item)
    return {"role": role, "content": content}


def _unwrap(item: dict[str, Any], role: str) -> dict[str, Any]:
    """Return a message without the wrapper of LangChain, of a choice or of a candidate."""
    inner: dict[str, Any]
    match item:
        case {"type": "constructor", "kwargs": dict(inner), "id": [*_, str(name)]}:  # LangChain's
            return _unwrap({"type": name, **inner}, role)
        case {"type": "constructor", "kwargs": dict(inner)}:
            return _unwrap({"role": role, **inner}, role)
        case {"type": str(kind), "data": {"content": _}}:  # LangChain's older serialisation
            return _unwrap({**item["data"], "type": kind}, role)
        case {"message": dict(inner)}:  # a choice of a chat completion, a generation of LangChain
            outer = [(key, item[key]) for key in ("finish_reason", "stop_reason") if key in item]
            return _unwrap({**dict(outer), **inner}, role)
        case {"content": {"parts": _}}:  # a candidate of Google's
            return _unwrap(item["content"], role)
        case {"blocks": list(held)} if "content" not in item:  # of LlamaIndex
            return {"role": role, **item, "content": held}
        case _:
            return item | {key: json_or_text(item[key]) for key in _TEXTS if key in item}


def are_calls(value: Any) -> bool:
    """Return whether a value is a list of tool calls in OpenAI's shape."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and isinstance(item.get("function"), dict) for item in value)
    )


def calls_from(calls: Any) -> list[Part]:
    """Return the tool calls of a chat message, in OpenAI's or LangChain's shape, as parts."""
    calls = json_or_text(calls)
    return (
        [call_of(call) for call in calls if isinstance(call, dict)]
        if isinstance(calls, list)
        else []
    )


def parts_from(content: Any) -> list[Part]:
    """Return the content of a message as parts: text, one block or a list of blocks."""
    content = json_or_text(content)
    return blocks.parts_of(str(content) if isinstance(content, (bool, int, float)) else content)
