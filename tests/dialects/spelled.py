"""Operations as text a reviewer can compare, and how much of a span was read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import dedent, wrap
from typing import Any

from agentool_otel.dialects import LazyJson, classify
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.messages import Message, parts_of
from agentool_otel.model.operations import UNSET, Operation, Usage
from agentool_otel.model.spans import SpanEvent, SpanRecord

TRACE, SPAN = "1" * 32, "2" * 16
_FIELDS = {
    "provider": "provider",
    "request_model": "model",
    "response_model": "answered_by",
    "response_id": "response",
    "agent_id": "id",
    "finish_reasons": "finish",
    "cost_usd": "cost",
    "stream": "stream",
    "time_to_first_chunk_s": "first_chunk_s",
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "call_id": "call",
    "agent_name": "agent",
    "transfer_target": "transfer_to",
    "query": "query",
    "top_k": "top_k",
    "record_id": "record",
    "key": "key",
    "duration_ms": "ms",
    "conversation_id": "session",
    "error_type": "error",
    "error_message": "message",
    "tool_error": "tool_error",
    "score": "score",
    "label": "label",
    "explanation": "explanation",
}
_TOKENS = {
    "input_tokens": "in",
    "output_tokens": "out",
    "cache_read_tokens": "cached",
    "cache_write_tokens": "cache_written",
    "reasoning_tokens": "reasoning",
    "total_tokens": "total",
}


def span(attributes: dict[str, Any], *events: SpanEvent, **fields: Any) -> SpanRecord:
    """Build a collected span."""
    return SpanRecord(TRACE, SPAN, attributes=attributes, events=list(events), **fields)


def event(name: str, **attributes: Any) -> SpanEvent:
    return SpanEvent(name, attributes=attributes)


def spelled(*spans: SpanRecord) -> str:
    """Return the content of spans, one paragraph each: dialect, operation, then its messages."""
    return "\n".join(_one(*classify(item)) for item in spans)


def text(expected: str) -> str:
    """Return an expectation without its indentation."""
    return dedent(expected).strip("\n")


def coverage(spans: Iterable[SpanRecord]) -> float:
    """Return the share of the attributes of recognised spans that was read, to 2 digits."""
    number = unread = 0
    for item in spans:
        dialect, operation = classify(item)
        if dialect is not None:
            number += len(item.attributes)
            unread += len(operation.extra.keys() & item.attributes.keys())
    return round(1 - unread / number, 2) if number else 1.0


def _one(dialect: str | None, operation: Operation) -> str:
    head = " ".join([f"{dialect or '-'}:", *_head(operation)])
    lines = _wrapped(head)
    for side in ("system", "input", "output"):
        value = getattr(operation, side, None)
        if not value:
            continue
        messages: Sequence[Message] = value
        if side == "system":
            messages = [{"role": "system", "parts": list(value)}]
        mark = {"input": ">", "output": "<"}.get(side, " ")
        for message in messages:
            line = f"  {mark} {_message(message)}"
            lines += [line] if len(line) < 88 else _wrapped(line)
    return "\n".join(lines)


def _wrapped(line: str) -> list[str]:
    return wrap(line, 86, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _head(operation: Operation) -> list[str]:
    words = [str(getattr(operation, "operation", operation.kind))]
    for field in ("name", "workflow_name", "method", "tool_name"):
        if (value := getattr(operation, field, None)) is not None:
            words.append(str(value))
    for field, word in _FIELDS.items():
        value = getattr(operation, field, None)
        if value is not None:
            words.append(f"{word}={','.join(value) if isinstance(value, list) else value}")
    usage = getattr(operation, "usage", None)
    if isinstance(usage, Usage):
        words += [
            f"{word}={getattr(usage, field)}"
            for field, word in _TOKENS.items()
            if getattr(usage, field) is not None
        ]
    if tools := getattr(operation, "tools", None):
        words.append("tools=" + ",".join(str(tool.get("name")) for tool in tools))
    for field in ("arguments", "result", "documents", "records", "content", "results"):
        value = getattr(operation, field, UNSET)
        if value is not UNSET and value is not None:
            words.append(f"{field}={_json(value)}")
    return words


def _message(message: Message) -> str:
    parts = [_part(part) for part in parts_of(message)]
    reason = f" ({message['finish_reason']})" if "finish_reason" in message else ""
    return f"{message.get('role')}: {' | '.join(parts)}{reason}"


def _part(part: dict[str, Any]) -> str:
    match part.get("type"):
        case "text":
            return _short(part.get("content"))
        case "reasoning":
            return f"[thinks] {_short(part.get('content'))}"
        case "tool_call":
            return f"[call {part.get('id')}] {part.get('name')} {_json(part.get('arguments'))}"
        case "tool_call_response":
            return f"[result {part.get('id')}] {_json(part.get('response'))}"
        case other:
            return f"[{other}] {_json({k: v for k, v in part.items() if k != 'type'})}"


def _json(value: Any) -> str:
    return _short(dumps(value.value if isinstance(value, LazyJson) else value))


def _short(value: Any) -> str:
    words = str(value).replace("\n", "⏎")
    return words if len(words) <= 60 else f"{words[:42]}…{words[-16:]}"
