"""The loopback model's answers in wire format: chat completions and responses.

Source: the bodies and events that openai-python 1, 2 and 3 read.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from agentool_otel.testing.turns import Request, Turn

__all__ = ["Event", "Json", "NewId", "chat_body", "chat_error", "chat_events", "error_body",
           "pieces", "responses_body", "responses_error", "responses_events",
           "token_counts"]  # fmt: skip

Json = dict[str, Any]
Event = tuple["str | None", "Json | str"]
"""Name of a server-sent event, if it has one, and its data."""
NewId = Callable[[str], str]

_FINISH = {
    "stop": "stop",
    "tool": "tool_calls",
    "length": "length",
    "refusal": "stop",
    "content_filter": "content_filter",
}
_UNFINISHED = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Why a response is incomplete."""


def error_body(turn: Turn) -> Json:
    kinds = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}
    kind = kinds.get(turn.status, "server_error")
    return {"error": {"message": turn.error, "type": kind, "param": None, "code": kind}}


def chat_error(turn: Turn, count: int) -> Event:
    return None, error_body(turn)


def responses_error(turn: Turn, count: int) -> Event:
    fields = {"type": "error", "code": "server_error", "message": turn.error}
    return "error", fields | {"param": None, "sequence_number": count}


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def token_counts(request: Request, turn: Turn) -> tuple[int, int]:
    """Tokens of the input and of the output."""
    size = len(turn.answer_text) + sum(
        len(tool_call.name) + len(tool_call.text) for tool_call in turn.tool_calls
    )
    input_tokens, output_tokens = turn.input_tokens, turn.output_tokens
    if input_tokens is None:
        input_tokens = max(1, len(json.dumps(request.messages)) // 4)
    return input_tokens, max(1, size // 4) if output_tokens is None else output_tokens


def _usage(request: Request, turn: Turn, input_name: str, output_name: str) -> Json:
    input_tokens, output_tokens = token_counts(request, turn)
    names = (input_name, "cached_tokens", "cache_write_tokens")
    usage: Json = {
        f"{input_name}_tokens": input_tokens,
        f"{output_name}_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }
    if turn.details:
        counts = (turn.cached_tokens, turn.cache_write_tokens)
        usage[f"{names[0]}_tokens_details"] = dict(zip(names[1:], counts, strict=True))
        usage[f"{output_name}_tokens_details"] = {"reasoning_tokens": turn.reasoning_tokens}
    return usage


# ---------------------------------------------------------------------------- chat completions


def chat_body(request: Request, turn: Turn, new_id: NewId) -> Json:
    message: Json = {"role": "assistant", "content": turn.answer_text or None}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if turn.why == "refusal":
        message |= {"content": None, "refusal": turn.answer_text}
    if turn.tool_calls:
        message["tool_calls"] = [
            {
                "id": tool_call.id or new_id("call_"),
                "type": "function",
                "function": {"name": tool_call.name, "arguments": tool_call.text},
            }
            for tool_call in turn.tool_calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": _FINISH[turn.why]}
    usage = _usage(request, turn, "prompt", "completion")
    return _chat(request, new_id, "chat.completion", [choice]) | {"usage": usage}


def _chat(request: Request, new_id: NewId, kind: str, choices: list[Json]) -> Json:
    return {
        "id": new_id("chatcmpl-"),
        "object": kind,
        "created": int(time.time()),
        "model": request.model,
        "service_tier": "default",
        "system_fingerprint": "fp_loopback",
        "choices": choices,
    }


def chat_events(request: Request, turn: Turn, new_id: NewId) -> Iterator[Event]:
    head = _chat(request, new_id, "chat.completion.chunk", [])

    def chunk(delta: Json, finish: str | None = None) -> Event:
        return None, head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(turn.reasoning or "", turn.chunk_size):
        yield chunk({"reasoning_content": piece})
    for piece in pieces(turn.answer_text, turn.chunk_size):
        yield chunk({"refusal" if turn.why == "refusal" else "content": piece})
    for index, tool_call in enumerate(turn.tool_calls):
        call: Json = {"index": index, "id": tool_call.id or new_id("call_"), "type": "function"}
        yield chunk(
            {"tool_calls": [call | {"function": {"name": tool_call.name, "arguments": ""}}]}
        )
        for piece in pieces(tool_call.text, turn.chunk_size):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _FINISH[turn.why])
    if request.option("stream_options").get("include_usage"):
        yield None, head | {"usage": _usage(request, turn, "prompt", "completion")}
    yield None, "[DONE]"


# ----------------------------------------------------------------------------------- responses


def responses_body(request: Request, turn: Turn, new_id: NewId) -> Json:
    return _final(request, turn, new_id("resp_"), _items(turn, new_id))


def _final(request: Request, turn: Turn, response_id: str, items: list[Json]) -> Json:
    status = "incomplete" if turn.why in _UNFINISHED else "completed"
    why = {"reason": _UNFINISHED[turn.why]} if status == "incomplete" else None
    usage = _usage(request, turn, "input", "output")
    response = _response(request, response_id, status) | {"output": items, "usage": usage}
    return response | {"incomplete_details": why}


def _response(request: Request, response_id: str, status: str) -> Json:
    body = request.body
    return {
        "id": response_id,
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": {},
        "model": request.model,
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": body.get("previous_response_id"),
        "service_tier": "default",
        "temperature": 1.0,
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "top_p": 1.0,
        "usage": None,
    }


def _items(turn: Turn, new_id: NewId) -> list[Json]:
    items: list[Json] = []
    if turn.reasoning:
        summary = [{"type": "summary_text", "text": turn.reasoning}]
        items.append({"type": "reasoning", "id": new_id("rs_"), "summary": summary})
    if turn.answer_text:
        part: Json = {"type": "output_text", "text": turn.answer_text, "annotations": []}
        if turn.why == "refusal":
            part = {"type": "refusal", "refusal": turn.answer_text}
        message = {"type": "message", "id": new_id("msg_"), "role": "assistant"}
        if turn.phase is not None:
            message["phase"] = turn.phase
        items.append(message | {"status": "completed", "content": [part]})
    for tool_call in turn.tool_calls:
        text = "input" if tool_call.custom else "arguments"
        call: Json = {
            "type": "custom_tool_call" if tool_call.custom else "function_call",
            "id": new_id("ctc_" if tool_call.custom else "fc_"),
            "call_id": tool_call.id or new_id("call_"),
        }
        if tool_call.namespace is not None:
            call["namespace"] = tool_call.namespace
        items.append(call | {"name": tool_call.name, text: tool_call.text, "status": "completed"})
    return items


def responses_events(request: Request, turn: Turn, new_id: NewId) -> Iterator[Event]:
    numbers = itertools.count()
    response_id, items = new_id("resp_"), _items(turn, new_id)

    def event(kind: str, **fields: Any) -> Event:
        return kind, {"type": kind, "sequence_number": next(numbers), **fields}

    begun = _response(request, response_id, "in_progress")
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for index, item in enumerate(items):
        yield from _item_events(event, index, item, turn.chunk_size)
    final = _final(request, turn, response_id, items)
    yield event(f"response.{final['status']}", response=final)


def _item_events(event: Callable[..., Event], index: int, item: Json, size: int) -> Iterator[Event]:
    at = {"output_index": index, "item_id": item["id"]}

    def added(**empty: Any) -> Event:
        announced = item | empty | {"status": "in_progress"}
        return event("response.output_item.added", output_index=index, item=announced)

    if item["type"] == "function_call":
        yield added(arguments="")
        stem, field, text = "response.function_call_arguments", "arguments", item["arguments"]
    elif item["type"] == "custom_tool_call":
        yield added(input="")
        stem, field, text = "response.custom_tool_call_input", "input", item["input"]
    elif item["type"] == "reasoning":
        yield added(summary=[])
        at |= {"summary_index": 0}
        part: Json = item["summary"][0]
        stem, field, text = "response.reasoning_summary_text", "text", part["text"]
        empty = {"type": "summary_text", "text": ""}
        yield event("response.reasoning_summary_part.added", **at, part=empty)
    else:
        yield added(content=[])
        at |= {"content_index": 0, "logprobs": []}
        part = item["content"][0]
        field = "refusal" if part["type"] == "refusal" else "text"
        stem, text = (
            "response.refusal" if field == "refusal" else "response.output_text",
            part[field],
        )
        yield event("response.content_part.added", **at, part=part | {field: ""})
    for piece in pieces(text, size):
        yield event(f"{stem}.delta", **at, delta=piece)
    yield event(f"{stem}.done", **at, **{field: text})
    yield event("response.output_item.done", output_index=index, item=item)
