"""Ids for the model calls and the tool calls of a session that have none in one of the channels.

Where a log record has a tool's name and arguments, and a session file an answer of the model, both
without an id, content and time tell which call they are of: all channels have one clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import UNSET

from agentool_otel.dialects.kit.reading import LazyJson
from agentool_otel.dialects.kit.session_entries import Channel, Entry
from agentool_otel.ground import json_codec
from agentool_otel.model.messages import parts_of
from agentool_otel.model.operations import Inference, ToolExecution

__all__ = ["plain", "with_calls", "with_message_keys", "with_span_keys"]

_SECOND = 10**9
_SURE_NS = 60 * _SECOND
"""Longest time between two records of a call with the same content."""
_LIKELY_NS = 2 * _SECOND
"""The same, where the content is not known."""


def plain(value: Any) -> Any:
    """Return a value that may not have been parsed yet."""
    return value.value if isinstance(value, LazyJson) else value


class _Known:
    """The calls that have an id, each for one record without."""

    def __init__(self, entries: Sequence[Entry]):
        self._by_key: dict[str, list[Entry]] = {}
        for entry in entries:
            for key in entry.keys[:1]:
                self._by_key.setdefault(key, []).append(entry)

    def take(
        self, entry: Entry, distance: Callable[[Entry, list[Entry]], int | None]
    ) -> str | None:
        """Return the id of the call that is nearest to a record without one."""
        near = [
            (apart, key)
            for key, group in self._by_key.items()
            if group[0].agent == entry.agent and (apart := distance(entry, group)) is not None
        ]
        if not near:
            return None
        _, key = min(near)
        del self._by_key[key]
        return key


def with_calls(entries: list[Entry]) -> list[Entry]:
    """Return entries with the ids of the tool calls that log records are of."""
    known = _Known(
        [
            *(entry for entry in entries if entry.kind == "tool" and entry.keys),
            *(call for entry in entries for call in _calls_of(entry)),
        ]
    )
    completed: list[Entry] = []
    ids: dict[str, str] = {}
    for entry in entries:
        if entry.kind == "tool" and not entry.keys:
            key = known.take(entry, _between_tools)
            entry = entry._replace(keys=(key or f"log {entry.span.span_id}",))
            ids[entry.span.span_id] = entry.keys[0]
        completed.append(entry)
    return [
        entry._replace(started_by=ids.get(entry.started_by, entry.started_by))
        if entry.started_by is not None and entry.channel is Channel.LOG
        else entry
        for entry in completed
    ]


def _calls_of(entry: Entry) -> Iterator[Entry]:
    """Yield the tool calls that an answer of the model asks for."""
    call = entry.operation
    for item in (call.output or ()) if isinstance(call, Inference) else ():
        for part in parts_of(item):
            call_id, name = part.get("id"), part.get("name")
            if part.get("type") == "tool_call" and isinstance(call_id, str):
                arguments = part.get("arguments", UNSET)
                tool = ToolExecution(name=str(name or ""), call_id=call_id, arguments=arguments)
                yield Entry("tool", tool, entry.span, entry.channel, (call_id,), entry.agent)


def with_message_keys(entries: list[Entry]) -> list[Entry]:
    """Return entries with the ids of the requests that the messages of session files answer. A
    message has one key of its own; a request is of another channel, or has more of them."""
    requests = _Known(
        [entry for entry in entries if entry.kind == "model" and not _is_message(entry)]
    )
    completed: list[Entry] = []
    for entry in entries:
        if entry.kind == "model" and _is_message(entry):
            key = requests.take(entry, _between_messages)
            entry = entry._replace(keys=(*entry.keys, *([key] if key is not None else [])))
        completed.append(entry)
    return completed


def with_span_keys(entries: list[Entry]) -> list[Entry]:
    """Return entries with the ids of the spans that log records of model calls are of, where those
    name none; they have one key, which begins with `log`."""
    ended = {
        key
        for entry in entries
        if entry.channel is Channel.LOG and isinstance(entry.operation, Inference)
        if entry.operation.usage is not None
        for key in entry.keys
    }
    spans = _Known(
        [
            entry
            for entry in entries
            if entry.kind == "model" and entry.channel is Channel.SPAN
            if ended.isdisjoint(entry.keys)
        ]
    )
    completed: list[Entry] = []
    for entry in entries:
        is_loose = entry.keys[:1] and entry.keys[0].startswith("log ")
        if entry.kind == "model" and entry.channel is Channel.LOG and is_loose:
            key = spans.take(entry, _between_messages)
            entry = entry._replace(keys=(*([key] if key is not None else []), *entry.keys))
        completed.append(entry)
    return completed


def _is_message(entry: Entry) -> bool:
    return entry.channel is Channel.FILE and len(entry.keys) == 1


def _between_tools(entry: Entry, known: list[Entry]) -> int | None:
    """Return the time between a log record and a call; None if they are not the same call."""
    call = entry.operation
    assert isinstance(call, ToolExecution)
    calls = [item.operation for item in known if isinstance(item.operation, ToolExecution)]
    if call.name not in [other.name for other in calls]:
        return None
    arguments = [_canonical(other.arguments) for other in calls if _has(other.arguments)]
    is_same = not _has(call.arguments) or not arguments or _canonical(call.arguments) in arguments
    return _apart(entry, known, _SURE_NS) if is_same else None


def _between_messages(entry: Entry, known: list[Entry]) -> int | None:
    """Return the time between a message and a request; None if it is no answer to that."""
    answer = entry.operation
    assert isinstance(answer, Inference)
    calls = [item.operation for item in known if isinstance(item.operation, Inference)]
    if any(call.error_type is not None for call in calls):
        return None
    models = {call.request_model for call in calls} - {None}
    if answer.request_model is not None and models and answer.request_model not in models:
        return None
    own, others = _asked(answer), {name for call in calls for name in _asked(call)}
    if own and others:
        return _apart(entry, known, _SURE_NS) if not own.isdisjoint(others) else None
    tokens = {call.usage.input_tokens for call in calls if call.usage is not None}
    if tokens and answer.usage is not None:
        return _apart(entry, known, _SURE_NS) if answer.usage.input_tokens in tokens else None
    return _apart(entry, known, _LIKELY_NS)


def _apart(entry: Entry, known: list[Entry], longest: int) -> int | None:
    """Return the time between the ends of two records, if it is not too long."""
    at = entry.span.end_ns or entry.span.start_ns
    times = [item.span.end_ns or item.span.start_ns for item in known]
    ends = [item.span.end_ns for item in known if item.span.end_ns is not None]
    there = [time for time in (ends or times) if time is not None]
    if at is None or not there:
        return 0
    apart = min(abs(at - time) for time in there)
    return apart if apart <= longest else None


def _asked(call: Inference) -> set[Any]:
    """Return the ids of the tool calls that an answer asks for."""
    parts = (part for item in call.output or () for part in parts_of(item))
    return {part.get("id") for part in parts if part.get("type") == "tool_call"} - {None}


def _has(arguments: Any) -> bool:
    return arguments is not UNSET and arguments is not None


def _canonical(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    return json_codec.dumps(_sorted(plain(arguments)))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
