"""pydantic-ai's messages, prompts and outputs, in the shape of the conventions.

Parts are distinguished by `part_kind` and `kind`, which their serialised form has too; a kind that
is not known keeps what it holds.

Source: pydantic-ai-slim messages.py at 1.100 and 2.68.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any

from agentool_otel.content.encoding.encoder import is_plain
from agentool_otel.content.policy import as_text, jsonable
from agentool_otel.model.messages import Message, Part, message, reasoning, text, tool_response
from agentool_otel.providers.calls import arguments_of, call_part
from agentool_otel.providers.fields import get, is_a, items, plain_text, record, string

__all__ = [
    "answer",
    "conversation",
    "deferred_calls",
    "has_broken_off",
    "instructions",
    "output_of",
    "prompt",
    "reported_finish",
    "result_of",
    "results",
]

_ROLES = {
    "system-prompt": "system",
    "user-prompt": "user",
    "tool-return": "tool",
    "retry-prompt": "user",
    "retry-feedback": "user",
}
"""Role of each part of a request. Other parts are pydantic-ai's notes, which no model reads."""
_MODALITIES = {
    "image-url": "image",
    "audio-url": "audio",
    "video-url": "video",
    "document-url": "document",
}


def conversation(history: Iterable[Any]) -> list[Message]:
    """Return requests and responses as messages, consecutive parts of a role in one."""
    converted: list[Message] = []
    for item in history:
        if string(item, "kind") == "response":
            converted.append(answer(item))
        else:
            converted += _request(item)
    return converted


def _request(request: Any) -> Iterator[Message]:
    role, parts = "", list[Part]()
    for item in items(request, "parts"):
        kind = string(item, "part_kind") or ""
        speaker = _ROLES.get(kind)
        if kind == "retry-prompt" and get(item, "tool_name") is not None:
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
    match string(item, "part_kind"):
        case "tool-return":
            answer = tool_response(result_of(get(item, "content")), string(item, "tool_call_id"))
            failed = string(item, "outcome") not in (None, "success")
            return [answer | ({"is_error": True} if failed else {})]
        case "retry-prompt" if get(item, "tool_name") is not None:
            # Of a tool that does not exist there is no span: this message alone has the error.
            return [tool_response(retry(item), string(item, "tool_call_id")) | {"is_error": True}]
        case "retry-prompt" | "retry-feedback":
            return [text(retry(item))]
        case _:
            return _contents(get(item, "content"))


def retry(part: Any) -> str:
    """Return the message to a model about a failed call or output.

    pydantic-ai's own words, unless they would be made of objects of the user's.
    """
    content = get(part, "content")
    details = [{key: value for key, value in (record(each) or {}).items() if key != "ctx"}
            for each in items(content)]  # fmt: skip
    if plain_text(content) is not None or (details and is_plain(details)):
        return str(part.model_response())
    return as_text(content)


def prompt(content: Any) -> list[Message] | None:
    """Return the user's prompt to a run as a message, None if the run has none."""
    return None if content is None else [message("user", _contents(content))]


def _contents(content: Any) -> list[Part]:
    words = plain_text(content)
    pieces = items(content) if words is None else [words]
    return [_piece(piece) for piece in pieces if string(piece, "kind") != "cache-point"]


def _piece(piece: Any) -> Part:
    """Return the part for one piece of a prompt: a text, a file, or where one is."""
    if (words := plain_text(piece)) is not None:
        return text(words)
    kind = string(piece, "kind") or ""
    if kind in _MODALITIES:
        return {"type": "uri", "uri": as_text(get(piece, "url")), "modality": _MODALITIES[kind]}
    if kind == "binary":
        return _file(piece)
    if kind == "uploaded-file":
        return {"type": "file", "file_id": string(piece, "file_id")}
    if (words := string(piece, "content")) is not None:
        return text(words)
    return {"type": kind or "data", "content": jsonable(piece)}


def _file(file: Any) -> Part:
    data = get(file, "data")
    media_type = string(file, "media_type") or string(file, "_media_type")
    media_type = media_type or "application/octet-stream"
    modality = media_type.partition("/")[0]
    return {
        "type": "blob",
        "content": b64encode(data).decode() if is_a(data, bytes) else as_text(data),
        "mime_type": media_type,
        "modality": modality if modality in ("image", "audio", "video") else "document",
    }


def reported_finish(response: Any) -> str | None:
    """Return why a model stopped, if it has reported that.

    pydantic-ai takes a stream of OpenAI's chat completions that just ends for one that has stopped.
    Source: `openai_chat_streaming_requires_finish_reason` in profiles/openai.py at 2.68.
    """
    finish = string(response, "finish_reason")
    return None if finish == "stop" and _lacks_last_event(response) else finish


def has_broken_off(request_context: Any, response: Any) -> bool:
    """Return whether a streamed answer ended without its last event."""
    is_stream = get(request_context, "streaming") is True
    return is_stream and string(response, "finish_reason") == "stop" and _lacks_last_event(response)


def _lacks_last_event(response: Any) -> bool:
    details = record(get(response, "provider_details"))
    is_openai = string(response, "provider_name") in ("openai", "azure")
    return is_openai and bool(details) and "finish_reason" not in (details or {})


def answer(response: Any) -> Message:
    """Return the model's answer as a message."""
    parts = [
        part for item in items(response, "parts") if (part := _part_of_answer(item)) is not None
    ]
    return message("assistant", parts, reported_finish(response))


def _part_of_answer(item: Any) -> Part | None:
    kind, content = string(item, "part_kind"), get(item, "content")
    words = plain_text(content)
    call_id = string(item, "tool_call_id")
    match kind:
        case "text" | "compaction":
            return text(words) if words else None
        case "thinking":
            return reasoning(words) if words else None
        case "speech":
            transcript = string(item, "transcript")
            return text(transcript) if transcript else None
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
            return {"type": kind or "unknown", "content": jsonable(content)}


def instructions(request_context: Any) -> list[Part] | None:
    """Return the instructions of an agent in one request; system prompts in the history are
    messages.
    """
    parts = get(get(request_context, "model_request_parameters"), "instruction_parts")
    texts = [string(part, "content") for part in items(parts)]
    if not texts:
        requests = [
            item for item in items(request_context, "messages") if string(item, "kind") == "request"
        ]
        texts = [string(requests[-1], "instructions")] if requests else []
    return [text(item) for item in texts if item] or None


def result_of(value: Any) -> Any:
    """Return a tool's result: the part for the model, where the program gets more."""
    returned = string(value, "kind") == "tool-return"
    return jsonable(get(value, "return_value") if returned else value)


def output_of(value: Any) -> list[Message]:
    """Return the output of a run as a list of one message: a text, or an object as JSON."""
    return [message("assistant", [text(as_text(value))], "stop")]


def deferred_calls(requests: Any) -> list[dict[str, Any]]:
    """Return the tool calls of `DeferredToolRequests`."""
    return [
        {
            "id": string(call, "tool_call_id"),
            "name": string(call, "tool_name"),
            "arguments": arguments_of(get(call, "args")),
        }
        for call in (*items(requests, "approvals"), *items(requests, "calls"))
    ]


def results(value: Any) -> list[dict[str, Any]]:
    """Return the results of each call in `DeferredToolResults`; empty if there are none.

    Source: pydantic_ai/_deferred.py at 2.68.
    """
    entries: list[dict[str, Any]] = []
    for call_id, decision in (record(get(value, "approvals")) or {}).items():
        denied = decision is False or string(decision, "kind") == "tool-denied"
        entry: dict[str, Any] = {"id": call_id, "approved": not denied}
        if denied and (words := string(decision, "message")):
            entry["message"] = words
        if (changed := get(decision, "override_args")) is not None:
            entry["arguments"] = jsonable(changed)
        entries.append(entry)
    for call_id, result in (record(get(value, "calls")) or {}).items():
        entries.append({"id": call_id, "result": result_of(result)})
    return entries
