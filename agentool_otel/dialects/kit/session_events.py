"""Events of a coding agent's session, each merged from all of its records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Any

from msgspec import UNSET
from msgspec.structs import fields

from agentool_otel.dialects.kit.session_entries import DENIED, Channel, Entry
from agentool_otel.ground import json_codec
from agentool_otel.model.operations import Operation, Usage
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Event"]

_ATTRIBUTE_OF = {"arguments": gen_ai.TOOL_CALL_ARGUMENTS, "result": gen_ai.TOOL_CALL_RESULT}


class Event:
    """An event of a session, and all entries of it."""

    def __init__(self, entries: list[Entry], values_from: Sequence[Channel]):
        self.entries = entries
        self._values_from = values_from
        self.kind = entries[0].kind
        self.parent: Event | None = None
        self.children: list[Event] = []
        self.asked_by: Event | None = None
        """Of a tool call: the model call that asks for it."""
        self.goes_on = False
        """Whether no record shows its end though one would if it had come to an end."""

    def add(self, duplicate: Event) -> None:
        """Add the entries of a duplicate."""
        self.entries += duplicate.entries
        self.goes_on = self.goes_on and duplicate.goes_on
        for name in ("agent", "base", "start_ns", "end_ns", "operation"):
            self.__dict__.pop(name, None)

    @property
    def keys(self) -> Iterator[str]:
        return (key for entry in self.entries for key in entry.keys)

    @property
    def is_internal(self) -> bool:
        return all(entry.is_internal for entry in self.entries)

    @cached_property
    def agent(self) -> str | None:
        """Key of the sub-agent that the event is part of."""
        key: str | None = self.first("agent")
        return key

    def first(self, name: str) -> Any:
        """Return a member of the first entry that has it."""
        return next((v for e in self.entries if (v := getattr(e, name)) is not None), None)

    @cached_property
    def base(self) -> SpanRecord:
        """The record that gives the event its ids."""
        return min(self.entries, key=lambda entry: (entry.channel, entry.span.start_ns or 0)).span

    @cached_property
    def start_ns(self) -> int | None:
        for channel in Channel:
            starts = (e.span.start_ns for e in self.entries if e.channel is channel)
            start_ns = min((start for start in starts if start is not None), default=None)
            if start_ns is not None:
                return start_ns
        return None

    @cached_property
    def end_ns(self) -> int | None:
        for channel in Channel:
            ends = (e.span.end_ns for e in self.entries if e.channel is channel)
            end_ns = max((end for end in ends if end is not None), default=None)
            if end_ns is not None:
                return end_ns
        return None

    def _latest_first(self, entry: Entry) -> tuple[int, int]:
        at_ns = entry.span.end_ns or entry.span.start_ns or 0
        return self._values_from.index(entry.channel), -at_ns

    @cached_property
    def operation(self) -> Operation:
        """The operation of the event, with each value from the best entry that has it."""
        ranked = sorted(self.entries, key=lambda entry: self._values_from.index(entry.channel))
        kind = type(ranked[0].operation)
        alike = [entry for entry in ranked if type(entry.operation) is kind]
        values: dict[str, Any] = {}
        partial: list[str] = []
        for name, default in _defaults(kind):
            if name in ("extra", "error_type", "error_message"):
                continue
            ordered = sorted(alike, key=self._latest_first) if name == "output" else alike
            has = [entry for entry in ordered if _is_set(default, getattr(entry.operation, name))]
            complete = [entry for entry in has if name not in entry.partial]
            if not has:
                continue
            values[name] = getattr((complete or has)[0].operation, name)
            if name == "usage":
                values[name] = _filled([getattr(entry.operation, name) for entry in has])
            if not complete:
                partial.append(_ATTRIBUTE_OF.get(name, name))
        failed = [entry.operation for entry in ranked if entry.operation.error_type is not None]
        failed.sort(key=lambda operation: operation.error_type != DENIED)
        if failed:
            values["error_type"] = failed[0].error_type
            described = (operation.error_message for operation in failed)
            values["error_message"] = next(filter(None, described), None)
        elif code := values.get("exit_code"):  # some agents have a failed command as a success
            values |= {"error_type": "tool_error", "error_message": f"exit code {code}"}
        extra: dict[str, Any] = {}
        for entry in reversed(ranked):
            extra |= entry.operation.extra
        if partial:
            extra[agentool.CONTENT_SHORTENED] = json_codec.dumps({name: {} for name in partial})
        return kind(**values, extra=extra)


@cache
def _defaults(kind: type[Operation] | type[Usage]) -> tuple[tuple[str, Any], ...]:
    """Return the names of the fields of a class, each with its default."""
    return tuple((field.name, field.default) for field in fields(kind))


def _is_set(default: Any, value: Any) -> bool:
    if default is UNSET:
        return value is not UNSET  # an empty result is one
    return value is not None and value is not UNSET and value != default and value not in ("", [])


def _filled(usages: list[Usage]) -> Usage:
    """Return token counts, each from the first that has it."""
    counts: dict[str, Any] = {}
    for usage in reversed(usages):
        counts |= {
            name: count
            for name, _ in _defaults(Usage)
            if (count := getattr(usage, name)) is not None
        }
    return Usage(**counts)
