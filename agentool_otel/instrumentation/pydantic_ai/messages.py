"""pydantic-ai's messages, prompts and outputs, in the shape of the conventions.

Parts are told apart by `part_kind` and `kind`, which their serialised form has too; a kind that is
not known keeps what it holds.

Source: pydantic-ai-slim messages.py at 1.100 and 2.68.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any

from agentool_otel.content.policy import encode, jsonable
from agentool_otel.model.messages import Message, Part, message, reasoning, text, tool_response
from agentool_otel.providers.calls import arguments_of, call_part
from agentool_otel.providers.fields import get, items, record, string

__all__ = [
    "answer",
    "conversation",
    "instructions",
    "output_of",
    "prompt",
    "result_of",
    "results",
    "waiting",
]

_ROLES = {
    "system-prompt": "system",
    "user-prompt": "user",
    "tool-return": "tool",
    "retry-prompt": "user",
    "retry-feedback": "user",
}
"""Who says a part of a request; other parts are notes of pydantic-ai's, which no model reads."""
_MODALITIES = {
    "image-url": "image",
    "audio-url": "audio",
    "video-url": "video",
    "document-url": "document",
}


def conversation(history: Iterable[Any]) -> list[Message]:
    """Return requests and responses as messages: one for all that one role says in a row."""
    converted: list[Message] = []
    for item in history:
        if get(item, "kind") == "response":
            converted.append(answer(item))
        else:
            converted += _request(item)
    return converted


def _request(request: Any) -> Iterator[Message]:
    role, parts = "", list[Part]()
    for item in items(request, "parts"):
        speaker = _ROLES.get(get(item, "part_kind"))
        if get(item, "part_kind") == "retry-prompt" and get(item, "tool_name") is not None:
            speaker = "tool"
        if speaker is None:
            continue
        if speaker != role and parts:
            yield message(role, parts)
            parts = []
        role = speaker
        parts += _parts_of_request(item)
    if parts:
        yield message(role, parts)


def _parts_of_request(item: Any) -> list[Part]:
    match get(item, "part_kind"):
        case "tool-return":
            return [tool_response(result_of(get(item, "content")), string(item, "tool_call_id"))]
        case "retry-prompt" if get(item, "tool_name") is not None:
            return [tool_response(item.model_response(), string(item, "tool_call_id"))]
        case "retry-prompt" | "retry-feedback":
            return [text(item.model_response())]
        case _:
            return _contents(get(item, "content"))


def prompt(content: Any) -> list[Message] | None:
    """Return the user's prompt to a run as a message, None where the run goes on without one."""
    return None if content is None else [message("user", _contents(content))]


def _contents(content: Any) -> list[Part]:
    pieces = [content] if isinstance(content, str) else items(content)
    return [_piece(it) for it in pieces if get(it, "kind") != "cache-point"]


def _piece(piece: Any) -> Part:
    """Return the part for one piece of a prompt: a text, a file, or where one is."""
    if isinstance(piece, str):
        return text(piece)
    kind = get(piece, "kind")
    if kind in _MODALITIES:
        return {"type": "uri", "uri": str(piece.url), "modality": _MODALITIES[kind]}
    if kind == "binary":
        return _file(piece)
    if kind == "uploaded-file":
        return {"type": "file", "file_id": string(piece, "file_id")}
    content = get(piece, "content")
    if isinstance(content, str):
        return text(content)
    return {"type": str(kind or "data"), "content": jsonable(piece)}


def _file(file: Any) -> Part:
    media_type = string(file, "media_type") or "application/octet-stream"
    modality = media_type.partition("/")[0]
    return {
        "type": "blob",
        "content": b64encode(file.data).decode(),
        "mime_type": media_type,
        "modality": modality if modality in ("image", "audio", "video") else "document",
    }


def answer(response: Any) -> Message:
    """Return what a model has answered."""
    parts = [part for it in items(response, "parts") if (part := _part_of_answer(it)) is not None]
    return message("assistant", parts, string(response, "finish_reason"))


def _part_of_answer(item: Any) -> Part | None:
    kind, content = get(item, "part_kind"), get(item, "content")
    call_id = string(item, "tool_call_id")
    match kind:
        case "text" | "compaction":
            return text(content) if content else None
        case "thinking":
            return reasoning(content) if content else None
        case "speech":
            return text(item.transcript) if item.transcript else None
        case "tool-call":
            return call_part(string(item, "tool_name"), get(item, "args"), call_id)
        case "builtin-tool-call":
            call = call_part(string(item, "tool_name"), get(item, "args"), call_id)
            called = {"type": call["name"], "arguments": call["arguments"]}
            return {**call, "type": "server_tool_call", "server_tool_call": called}
        case "builtin-tool-return":
            response = {"type": string(item, "tool_name"), "result": result_of(content)}
            return {
                "type": "server_tool_call_response",
                "id": call_id,
                "server_tool_call_response": response,
            }
        case "file":
            return _file(content)
        case _:
            return {"type": str(kind), "content": jsonable(content)}


def instructions(request_context: Any) -> list[Part] | None:
    """Return what an agent's instructions are in one request; prompts of the system that are a
    part of the history are messages."""
    parts = get(get(request_context, "model_request_parameters"), "instruction_parts")
    texts = [string(it, "content") for it in items(parts)]
    if not texts:
        requests = [it for it in items(request_context, "messages") if get(it, "kind") == "request"]
        texts = [string(requests[-1], "instructions")] if requests else []
    return [text(it) for it in texts if it] or None


def result_of(value: Any) -> Any:
    """Return a tool's result: what the model is shown, where it is more to the program."""
    return jsonable(value.return_value if get(value, "kind") == "tool-return" else value)


def output_of(value: Any) -> list[Message]:
    """Return the output of a run as a message: a text, or an object as JSON."""
    words = value if isinstance(value, str) else encode(jsonable(value))
    return [message("assistant", [text(words)], "stop")]


def waiting(requests: Any) -> list[dict[str, Any]]:
    """Return the tool calls of `DeferredToolRequests`."""
    return [
        {
            "id": string(call, "tool_call_id"),
            "name": string(call, "tool_name"),
            "arguments": arguments_of(get(call, "args")),
        }
        for call in (*items(requests, "approvals"), *items(requests, "calls"))
    ]


def results(given: Any) -> list[dict[str, Any]]:
    """Return what `DeferredToolResults` say of each call; none where there are none of them.

    Source: pydantic_ai/_deferred.py at 2.68.
    """
    found: list[dict[str, Any]] = []
    for call_id, decision in (record(get(given, "approvals")) or {}).items():
        denied = decision is False or get(decision, "kind") == "tool-denied"
        entry: dict[str, Any] = {"id": call_id, "approved": not denied}
        if denied and (words := string(decision, "message")):
            entry["message"] = words
        if (changed := get(decision, "override_args")) is not None:
            entry["arguments"] = jsonable(changed)
        found.append(entry)
    for call_id, result in (record(get(given, "calls")) or {}).items():
        found.append({"id": call_id, "result": result_of(result)})
    return found
