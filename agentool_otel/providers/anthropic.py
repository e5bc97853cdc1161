"""Anthropic's messages API: messages of a request, and answers, whole or as events.

Source: anthropic-sdk-python types/{content_block,message_param,usage}.py and
raw_message_stream_event.py, API version 2023-06-01.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.content.values import jsonable
from agentool_otel.ground.json_codec import loads
from agentool_otel.model.messages import Message, Part, message, reasoning, text, tool_response
from agentool_otel.model.operations import Inference, Usage
from agentool_otel.providers.calls import call_part, result_of
from agentool_otel.providers.fields import (
    get,
    integer,
    is_a,
    items,
    join_texts,
    number,
    plain_text,
    record,
    string,
    texts,
)
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.providers.media import media
from agentool_otel.providers.tools import definitions
from agentool_otel.semconv import anthropic as names

__all__ = ["BLOCKS", "EVENTS", "MessagesReading", "content", "message_of", "parts_of", "request"]

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


def request(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an `Inference` that the request's parameters set.

    Since 2.0 the SDK takes `temperature`, `top_p` and `top_k` in `extra_body` only.
    """
    parameters = parameters | (record(parameters.get("extra_body")) or {})
    output, thinking = parameters.get("output_config"), parameters.get("thinking")
    formatted = get(output, "format")
    formatted = parameters.get("output_format") if formatted is None else formatted
    typed = is_a(formatted, type) or string(formatted, "type") == "json_schema"
    extra = {
        names.REQUEST_SERVICE_TIER: string(parameters, "service_tier"),
        names.THINKING_TYPE: string(thinking, "type"),
        names.THINKING_BUDGET_TOKENS: integer(thinking, "budget_tokens"),
    }
    return {
        "request_model": string(parameters, "model"),
        "stream": True if parameters.get("stream") is True else None,
        "temperature": number(parameters, "temperature"),
        "top_p": number(parameters, "top_p"),
        "top_k": integer(parameters, "top_k"),
        "max_tokens": integer(parameters, "max_tokens"),
        "stop_sequences": texts(parameters, "stop_sequences") or None,
        "reasoning_level": string(output, "effort"),
        "output_type": "json" if typed else None,
        "extra": {name: value for name, value in extra.items() if value is not None},
    }


def content(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the instructions, messages and tools of a request, as copies."""
    messages = items(parameters, "messages")
    return {
        "system": parts_of(_blocks(parameters.get("system"))) or None,
        "input": [message_of(item) for item in messages] or None,
        "tools": definitions(parameters.get("tools")),
    }


def _blocks(content: Any) -> list[Any]:
    words = plain_text(content)
    return items(content) if words is None else [{"type": "text", "text": words}]


def message_of(item: Any) -> Message:
    """Return one message; results of tools are in one of the user, as this API has them."""
    return message(string(item, "role") or "user", parts_of(_blocks(get(item, "content"))))


def parts_of(blocks: Any) -> list[Part]:
    """Return blocks of content as parts."""
    return [part for block in items(blocks) for part in _parts(block)]


def _parts(block: Any) -> list[Part]:
    kind = string(block, "type") or "text"
    call_id = string(block, "tool_use_id") or string(block, "id")
    match kind:
        case "text":
            words, citations = string(block, "text"), items(block, "citations")
            cited: Part = {"citations": jsonable(citations)} if citations else {}
            return [text(words) | cited] if words else []
        case "thinking":
            thought = reasoning(string(block, "thinking") or "")
            return [thought | _known(signature=string(block, "signature") or None)]
        case "redacted_thinking":
            return [reasoning("") | _known(encrypted_content=string(block, "data"))]
        case "tool_use":
            return [call_part(string(block, "name"), get(block, "input"), call_id)]
        case "tool_result":
            blocks = get(block, "content")
            response = tool_response(result_of(blocks, parts_of(blocks)), call_id)
            return [response | ({"is_error": True} if get(block, "is_error") is True else {})]
        case "server_tool_use" | "mcp_tool_use":
            name = string(block, "name") or "unknown"
            call = {"type": name, "arguments": jsonable(get(block, "input"))}
            part = {"type": "server_tool_call", "name": name, "server_tool_call": call}
            return [part | _known(id=call_id)]
        case "image" | "document":
            return [media(block)]
        case _:
            return _other_parts(block, kind, call_id)


def _other_parts(block: Any, kind: str, call_id: str | None) -> list[Part]:
    if kind.endswith("_tool_result"):
        output = jsonable(get(block, "content"))
        answer = {"type": kind.removesuffix("_tool_result"), "output": output}
        part: Part = {"type": "server_tool_call_response", "server_tool_call_response": answer}
        return [part | _known(id=call_id)]
    members = record(jsonable(block))
    return [] if members is None else [{**members, "type": kind}]


def _known(**fields: str | None) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


# -------------------------------------------------------------------------------------- answers

_CONTINUED = {
    "text": "text",
    "thinking": "thinking",
    "signature": "thinking",
    "content": "compaction",
    "partial_json": "tool_use",
}
"""Members of a delta that continue a block, and the type of a block of which nothing else came."""


class MessagesReading:
    """Reads a message, whole or as events."""

    __slots__ = ("_begun", "_blocks", "_fields", "_fragments", "_request", "_usage", "complete")
    has_last_event = True

    def __init__(self, request: Inference):
        self._request = request
        self._fields: dict[str, str] = {}
        self._blocks: dict[int, Any] = {}
        self._fragments: dict[tuple[int, str], list[str]] = {}
        """Fragments of a stream's blocks, by block and member."""
        self._usage: dict[str, int] = {}
        self._begun = False
        """True in a stream whose number of output tokens is not known yet: the first event has a
        number in its place."""
        self.complete = False

    def whole(self, response: Any) -> None:
        self._envelope(response)
        self._blocks = dict(enumerate(items(response, "content")))
        self.complete = True

    def add(self, event: Any) -> None:
        kind, index = string(event, "type"), integer(event, "index") or 0
        if kind == "message_start":
            self._envelope(get(event, "message"))
            self._begun = True
        elif kind == "message_delta":
            self._envelope(get(event, "delta"))
            self._count(get(event, "usage"))
            self._begun = False
            self.complete = self.complete or "stop_reason" in self._fields
        elif kind == "message_stop":
            self.complete = True
        elif kind == "content_block_start":
            self._blocks[index] = record(jsonable(get(event, "content_block"))) or {}
        elif kind == "content_block_delta":
            self._extend(index, get(event, "delta"))

    def _extend(self, index: int, delta: Any) -> None:
        for name, kind in _CONTINUED.items():
            if (fragment := string(delta, name)) is not None:
                self._blocks.setdefault(index, {"type": kind})
                self._fragments.setdefault((index, name), []).append(fragment)
        if (citation := get(delta, "citation")) is not None:
            block = self._blocks.setdefault(index, {})
            block["citations"] = [*items(block, "citations"), citation]

    def _content(self) -> list[Any]:
        """Return the blocks as far as they are known."""
        blocks = dict(self._blocks)
        for (index, name), fragments in self._fragments.items():
            if name == "partial_json":
                blocks[index] = {**blocks[index], "input": _value(fragments)}
            else:
                before = string(blocks[index], name) or ""
                blocks[index] = {**blocks[index], name: join_texts([before, *fragments])}
        return [blocks[index] for index in sorted(blocks)]

    def _envelope(self, event: Any) -> None:
        for name in ("id", "model", "stop_reason"):
            if value := string(event, name):
                self._fields[name] = value
        self._count(get(event, "usage"))

    def _count(self, usage: Any) -> None:
        """Set token counts; those of a stream's later events are totals, not additions."""
        if tier := string(usage, "service_tier"):
            self._fields["service_tier"] = tier
        details = get(usage, "output_tokens_details")
        for holder, name in (*((usage, name) for name in _COUNTS), (details, _THOUGHTS)):
            if (count := integer(holder, name)) is not None:
                self._usage[name] = count

    def operation(self) -> Inference:
        why = finish_reason(self._fields.get("stop_reason"))
        parts = parts_of(self._content())
        counts = dict(self._usage)
        if self._begun and not self.complete:
            counts.pop("output_tokens", None)
        extra, tier = self._request.extra, self._fields.get("service_tier")
        return replace(
            self._request,
            extra=extra if tier is None else extra | {names.RESPONSE_SERVICE_TIER: tier},
            response_id=self._fields.get("id"),
            response_model=self._fields.get("model"),
            finish_reasons=[why] if why else None,
            output=[message("assistant", parts, why)] if parts else None,
            usage=_usage_of(counts),
        )


_CACHE = ("cache_read_input_tokens", "cache_creation_input_tokens")
_COUNTS = ("input_tokens", "output_tokens", *_CACHE)
_THOUGHTS = "thinking_tokens"


def _value(fragments: list[str]) -> Any:
    try:
        return loads(join_texts(fragments) or "{}")
    except ValueError:  # the stream ended before the arguments did
        return join_texts(fragments)


def _usage_of(counts: dict[str, int]) -> Usage | None:
    """Return token counts; Anthropic's `input_tokens` exclude cached ones."""
    if not counts:
        return None
    read, written = (counts.get(name) for name in _CACHE)
    uncached = counts.get("input_tokens")
    return Usage(
        input_tokens=None if uncached is None else uncached + (read or 0) + (written or 0),
        output_tokens=counts.get("output_tokens"),
        cache_read_tokens=read or None,
        cache_write_tokens=written or None,
        reasoning_tokens=counts.get(_THOUGHTS) or None,
    )
