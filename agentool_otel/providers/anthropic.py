"""Anthropic's messages: what was said to a model, and what an answer says, whole or in events.

A message with results of tools is a message of role `tool` here, and one of the user with what
else it holds.

Source: anthropic-sdk-python types/{content_block,message_param,usage}.py and
raw_message_stream_event.py, API version 2023-06-01.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.content.policy import jsonable
from agentool_otel.ground.json_codec import loads
from agentool_otel.model.messages import Message, Part, message, reasoning, text, tool_response
from agentool_otel.model.operations import Inference, Usage
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.providers.openai_values import (
    call_part,
    get,
    integer,
    items,
    joined,
    record,
    string,
)

__all__ = ["BLOCKS", "EVENTS", "MessagesReading", "messages_of", "parts_of"]

BLOCKS = frozenset(
    {
        *("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"),
        *("mcp_tool_use", "mcp_tool_result", "image", "document", "search_result"),
        *("web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result"),
        "container_upload",
    }
)
"""Types of content that only this API has; text is text everywhere."""

EVENTS = frozenset(
    {
        *("message_start", "message_delta", "message_stop", "ping"),
        *("content_block_start", "content_block_delta", "content_block_stop"),
    }
)


def messages_of(given: Any) -> list[Message]:
    """Return one message; two where it holds results of tools and other things."""
    role, content = string(given, "role") or "user", get(given, "content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
    results = [block for block in blocks if string(block, "type") == "tool_result"]
    others = [block for block in blocks if string(block, "type") != "tool_result"]
    made = [message("tool", parts_of(results))] if results else []
    if others or not results:
        made.append(message(role, parts_of(others)))
    return made


def parts_of(blocks: Any) -> list[Part]:
    """Return blocks of content as parts."""
    return [part for block in items(blocks) for part in _parts(block)]


def _parts(block: Any) -> list[Part]:
    kind = string(block, "type") or "text"
    call_id = string(block, "tool_use_id") or string(block, "id")
    match kind:
        case "text":
            said = string(block, "text")
            return [text(said)] if said else []
        case "thinking":
            thought = reasoning(string(block, "thinking") or "")
            return [thought | _known(signature=string(block, "signature"))]
        case "redacted_thinking":
            return [reasoning("") | _known(encrypted_content=string(block, "data"))]
        case "tool_use":
            return [call_part(string(block, "name"), get(block, "input"), call_id)]
        case "tool_result":
            response = tool_response(_result(get(block, "content")), call_id)
            return [response | ({"is_error": True} if get(block, "is_error") is True else {})]
        case "server_tool_use" | "mcp_tool_use":
            name = string(block, "name") or "unknown"
            call = {"type": name, "arguments": jsonable(get(block, "input"))}
            made = {"type": "server_tool_call", "name": name, "server_tool_call": call}
            return [made | _known(id=call_id)]
        case "image" | "document":
            return [_medium(block, kind)]
        case _:
            return _other(block, kind, call_id)


def _other(block: Any, kind: str, call_id: str | None) -> list[Part]:
    if kind.endswith("_tool_result"):
        answer = {"type": kind.removesuffix("_tool_result"), "output": get(block, "content")}
        made: Part = {"type": "server_tool_call_response", "server_tool_call_response": answer}
        return [made | _known(id=call_id)]
    return [{**jsonable(block), "type": kind}] if isinstance(block, dict) else []


def _result(content: Any) -> Any:
    """What a tool answered: its text, or its blocks where they are not only text."""
    parts = parts_of(content)
    if parts and all(part["type"] == "text" for part in parts):
        return "\n".join(part["content"] for part in parts)
    return parts or jsonable(content)


def _medium(block: Any, modality: str) -> Part:
    source = get(block, "source")
    data, url, file_id = (string(source, name) for name in ("data", "url", "file_id"))
    made: Part
    if data is not None:
        made = {"type": "blob", "content": data, "modality": modality}
    elif url is not None:
        made = {"type": "uri", "uri": url, "modality": modality}
    elif file_id is not None:
        made = {"type": "file", "file_id": file_id, "modality": modality}
    else:
        return {"type": modality, "source": jsonable(source)}
    return made | _known(mime_type=string(source, "media_type"))


def _known(**fields: str | None) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


# -------------------------------------------------------------------------------------- answers

_DELTAS = {"text": "text", "thinking": "thinking", "signature": "signature"}
"""Members of a delta that go on with the member of the block of the same name."""


class MessagesReading:
    """Takes in a message, whole or in events."""

    __slots__ = ("_arguments", "_blocks", "_fields", "_request", "_usage", "complete")

    def __init__(self, asked: Inference):
        self._request = asked
        self._fields: dict[str, str] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._arguments: dict[int, list[str]] = {}
        """Fragments of JSON, per block."""
        self._usage: dict[str, int] = {}
        self.complete = False

    def whole(self, response: Any) -> None:
        self._envelope(response)
        self._blocks = {at: record(it) or {} for at, it in enumerate(items(response, "content"))}
        self.complete = True

    def add(self, event: Any) -> None:
        kind, index = string(event, "type"), integer(event, "index") or 0
        if kind == "message_start":
            self._envelope(get(event, "message"))
        elif kind == "message_delta":
            self._envelope(get(event, "delta"))
            self._count(get(event, "usage"))
        elif kind == "message_stop":
            self.complete = True
        elif kind == "content_block_start":
            self._blocks[index] = dict(record(get(event, "content_block")) or {})
        elif kind == "content_block_delta":
            self._extend(index, get(event, "delta"))

    def _extend(self, index: int, delta: Any) -> None:
        block = self._blocks.setdefault(index, {})
        for name in _DELTAS:
            if (fragment := string(delta, name)) is not None:
                block[name] = (string(block, name) or "") + fragment
                block.setdefault("type", "text" if name == "text" else "thinking")
        if (fragment := string(delta, "partial_json")) is not None:
            self._arguments.setdefault(index, []).append(fragment)

    def _envelope(self, given: Any) -> None:
        for name in ("id", "model", "stop_reason"):
            if found := string(given, name):
                self._fields[name] = found
        self._count(get(given, "usage"))

    def _count(self, usage: Any) -> None:
        """Take counts; those of a stream's later events are totals, not additions."""
        details = get(usage, "output_tokens_details")
        for holder, name in (*((usage, name) for name in _COUNTS), (details, _THOUGHTS)):
            if (found := integer(holder, name)) is not None:
                self._usage[name] = found

    def operation(self, failed: bool) -> Inference:
        why = "error" if failed else finish_reason(self._fields.get("stop_reason"))
        for index, fragments in self._arguments.items():
            self._blocks.setdefault(index, {"type": "tool_use"})["input"] = _value(fragments)
        parts = parts_of([self._blocks[index] for index in sorted(self._blocks)])
        return replace(
            self._request,
            response_id=self._fields.get("id"),
            response_model=self._fields.get("model"),
            finish_reasons=[why] if why else None,
            output=[message("assistant", parts, why)] if parts else None,
            usage=_usage_of(self._usage),
        )


_CACHE = ("cache_read_input_tokens", "cache_creation_input_tokens")
_COUNTS = ("input_tokens", "output_tokens", *_CACHE)
_THOUGHTS = "thinking_tokens"


def _value(fragments: list[str]) -> Any:
    try:
        return loads(joined(fragments) or "{}")
    except ValueError:  # the stream ended before the arguments did
        return joined(fragments)


def _usage_of(counts: dict[str, int]) -> Usage | None:
    """Return token counts; Anthropic's `input_tokens` are those that no cache had part in."""
    if not counts:
        return None
    read, written = (counts.get(name) for name in _CACHE)
    given = counts.get("input_tokens")
    return Usage(
        input_tokens=None if given is None else given + (read or 0) + (written or 0),
        output_tokens=counts.get("output_tokens"),
        cache_read_tokens=read or None,
        cache_write_tokens=written or None,
        reasoning_tokens=counts.get(_THOUGHTS) or None,
    )
