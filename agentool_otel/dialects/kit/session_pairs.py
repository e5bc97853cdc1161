"""Ids for the model calls and the tool calls of a session that have none in one of the channels.

Some log records of tools and some messages in session files have no id. They get the id of the call
with the same content at nearly the same time: all channels have the same clock.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
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


class _Unclaimed:
    """The calls that have an id, each for one record without.

    A record without an id looks at the nearest calls first, so that a long session takes as long
    as its parts.
    """

    def __init__(self, entries: Iterable[Entry], names: Callable[[Entry], object] = lambda _: None):
        """
        Args:
            entries: those with an id.
            names: returns the name of a call, where calls of different names are never the same.
        """
        self._calls: dict[str, list[Entry]] = defaultdict(list)
        self._names = names
        self._by_name: dict[object, list[tuple[int, str]]] = defaultdict(list)
        """By name, the calls in order of time, with their ids."""
        self._timeless: dict[object, list[str]] = defaultdict(list)
        for entry in entries:
            for key in entry.keys[:1]:
                self._calls[key].append(entry)
        for key, call in self._calls.items():
            times = _times(call)
            for name in dict.fromkeys(map(names, call)):
                self._by_name[name] += ((time, key) for time in times)
                if not times:
                    self._timeless[name].append(key)
        for timed in self._by_name.values():
            timed.sort()

    def claim(
        self, entry: Entry, distance: Callable[[Entry, list[Entry]], int | None]
    ) -> str | None:
        """Return the id of the call that is nearest to a record without one, and remove the call.

        A call of the same sub-agent comes before one of an unknown sub-agent, which has none.
        """
        second: str | None = None
        for key in self._nearest_first(entry):
            call = self._calls.get(key)
            if call is None or distance(entry, call) is None:
                continue
            agents = {item.agent for item in call}
            if entry.agent in agents:
                del self._calls[key]
                return key
            if second is None and (entry.agent is None or None in agents):
                second = key
        if second is not None:
            del self._calls[second]
        return second

    def _nearest_first(self, entry: Entry) -> Iterator[str]:
        """Yield the ids of the calls that an entry may be of, some of them twice."""
        name = self._names(entry)
        timed, at = self._by_name.get(name, []), entry.span.end_ns or entry.span.start_ns
        yield from self._timeless.get(name, ())
        if at is None:
            yield from (key for _, key in timed)
            return
        after = bisect_left(timed, (at, ""))
        before = after - 1
        while True:
            to_before = at - timed[before][0] if before >= 0 else _SURE_NS + 1
            to_after = timed[after][0] - at if after < len(timed) else _SURE_NS + 1
            if min(to_before, to_after) > _SURE_NS:
                return
            if to_before <= to_after:
                yield timed[before][1]
                before -= 1
            else:
                yield timed[after][1]
                after += 1


def with_calls(entries: list[Entry]) -> list[Entry]:
    """Return entries with the ids of the tool calls that log records are of."""
    calls = _Unclaimed(
        [
            *(entry for entry in entries if entry.kind == "tool" and entry.keys),
            *(call for entry in entries for call in _calls_of(entry)),
        ],
        _tool_name,
    )
    completed: list[Entry] = []
    ids: dict[str, str] = {}
    for entry in entries:
        if entry.kind == "tool" and not entry.keys:
            key = calls.claim(entry, _between_tools)
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
    """Return entries with the ids of the requests that the messages of session files answer.

    A message has one key; a request is in another channel, or has several keys.
    """
    requests = _Unclaimed(
        [entry for entry in entries if entry.kind == "model" and not _is_message(entry)]
    )
    completed: list[Entry] = []
    for entry in entries:
        if entry.kind == "model" and _is_message(entry):
            key = requests.claim(entry, _between_messages)
            entry = entry._replace(keys=(*entry.keys, *([key] if key is not None else [])))
        completed.append(entry)
    return completed


def with_span_keys(entries: list[Entry]) -> list[Entry]:
    """Return entries with the ids of the spans that log records of model calls belong to.

    A log record without a span has one key, which begins with `log`.
    """
    ended = {
        key
        for entry in entries
        if entry.channel is Channel.LOG and isinstance(entry.operation, Inference)
        if entry.operation.usage is not None
        for key in entry.keys
    }
    spans = _Unclaimed(
        [
            entry
            for entry in entries
            if entry.kind == "model" and entry.channel is Channel.SPAN
            if ended.isdisjoint(entry.keys)
        ]
    )
    loose = [entry for entry in entries if _is_loose(entry)]
    loose.sort(key=lambda entry: entry.span.end_ns is None)  # a request shows less than its answer
    claimed: dict[str, str | None] = {}
    for entry in loose:
        if entry.keys[0] not in claimed:
            claimed[entry.keys[0]] = spans.claim(entry, _between_messages)
    return [
        entry._replace(keys=(key, *entry.keys))
        if _is_loose(entry) and (key := claimed[entry.keys[0]]) is not None
        else entry
        for entry in entries
    ]


def _is_loose(entry: Entry) -> bool:
    """Return whether an entry is a log record of a model call that names no span."""
    is_log = entry.kind == "model" and entry.channel is Channel.LOG
    return is_log and bool(entry.keys) and entry.keys[0].startswith("log ")


def _is_message(entry: Entry) -> bool:
    return entry.channel is Channel.FILE and len(entry.keys) == 1


def _tool_name(entry: Entry) -> str | None:
    return entry.operation.name if isinstance(entry.operation, ToolExecution) else None


def _between_tools(entry: Entry, recorded: list[Entry]) -> int | None:
    """Return the time between a log record and a call; None if they are not the same call."""
    call = entry.operation
    assert isinstance(call, ToolExecution)
    calls = [item.operation for item in recorded if isinstance(item.operation, ToolExecution)]
    if call.name not in [item.name for item in calls]:
        return None
    arguments = [_canonical(item.arguments) for item in calls if _has(item.arguments)]
    is_same = not _has(call.arguments) or not arguments or _canonical(call.arguments) in arguments
    return _time_between(entry, recorded, _SURE_NS) if is_same else None


def _between_messages(entry: Entry, recorded: list[Entry]) -> int | None:
    """Return the time between a message and a request; None if it is no answer to that."""
    answer = entry.operation
    assert isinstance(answer, Inference)
    calls = [item.operation for item in recorded if isinstance(item.operation, Inference)]
    if any(call.error_type is not None for call in calls):
        return None
    models = {call.request_model for call in calls} - {None}
    if answer.request_model is not None and models and answer.request_model not in models:
        return None
    asked = _requested_ids(answer)
    requested = {call_id for call in calls for call_id in _requested_ids(call)}
    if asked and requested:
        return _time_between(entry, recorded, _SURE_NS) if not asked.isdisjoint(requested) else None
    if entry.agent not in {item.agent for item in recorded}:
        return None
    tokens = {call.usage.input_tokens for call in calls if call.usage is not None}
    if tokens and answer.usage is not None:
        return (
            _time_between(entry, recorded, _SURE_NS)
            if answer.usage.input_tokens in tokens
            else None
        )
    return _time_between(entry, recorded, _LIKELY_NS)


def _time_between(entry: Entry, recorded: list[Entry], longest: int) -> int | None:
    """Return the time between a record and a call; None if it is too long."""
    at, times = entry.span.end_ns or entry.span.start_ns, _times(recorded)
    if at is None or not times:
        return 0
    between = min(abs(at - time) for time in times)
    return between if between <= longest else None


def _times(recorded: list[Entry]) -> list[int]:
    """Return the ends in the records of a call; without any, their starts."""
    ends = [item.span.end_ns for item in recorded if item.span.end_ns is not None]
    return ends or [item.span.start_ns for item in recorded if item.span.start_ns is not None]


def _requested_ids(call: Inference) -> set[Any]:
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
