"""The calls of one tool that models requested, by what a span may know of them.

A run may request thousands of calls of one tool, and have as many spans that know no more than its
name. So none is looked for among all of them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec import UNSET

from agentool_otel.model.evidence import contains
from agentool_otel.model.operations import McpRequest, ToolExecution
from agentool_otel.reading.rebuild.steps.order import Draft
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import arguments_text, plain

__all__ = ["Requests", "ToolCall", "Waiting", "waits_for_span"]


_COMPARED = 64
"""Limit of the waiting calls with whose arguments those of a span are compared."""


class ToolCall(msgspec.Struct, eq=False):
    """One tool call, from all spans and messages read so far."""

    name: str | None
    id: str | None
    arguments: Any
    requested_by: Node | None = None
    """The model call that requested it."""
    node: Node | None = None
    """The tool span that executes it."""
    repeats: list[ToolExecution | McpRequest] = []
    """Other spans of the same call, such as an MCP request below the tool's span."""
    message_result: Any = UNSET
    """The result sent to the model, where the span has none."""
    match_rule: str | None = None
    """The rule that matched the span to this call, where another call was possible."""
    dropped: bool = False
    """Whether it was recognized as a transfer."""
    call_step: Draft | None = None
    result_step: Draft | None = None

    def first_known(self, value: Any, member: str) -> Any:
        """Return a value of the call's own span, or where it has none the member of the first
        repeat that has one."""
        if value is not UNSET or not self.repeats:
            return value
        values = (getattr(repeat, member) for repeat in self.repeats)
        return next((value for value in values if value is not UNSET), UNSET)


class Waiting:
    """Calls in the order in which they came, until something does not hold for them any more."""

    def __init__(self, waits: Callable[[ToolCall], bool]):
        self._waits = waits
        self._calls: deque[tuple[int, ToolCall]] = deque()

    def add(self, call: ToolCall, number: int = 0) -> None:
        self._calls.append((number, call))

    def first(self) -> ToolCall | None:
        """Return the first one that waits."""
        found = self.numbered()
        return None if found is None else found[1]

    def numbered(self) -> tuple[int, ToolCall] | None:
        """Return the first one that waits, with its number."""
        calls = self._calls
        while calls and not self._waits(calls[0][1]):
            calls.popleft()
        return calls[0] if calls else None

    def some(self, count: int) -> list[ToolCall]:
        """Return the first ones that wait, at most so many."""
        return [call for _, call in islice(self._calls, count) if self._waits(call)]

    def all(self) -> list[ToolCall]:
        """Return the ones that wait."""
        return self.some(len(self._calls))

    def are_several(self) -> bool:
        """Return whether more than one request has no span yet."""
        if (first := self.numbered()) is None:
            return False
        self._calls.popleft()
        second = self.numbered()
        self._calls.appendleft(first)
        return second is not None


def waits_for_span(call: ToolCall) -> bool:
    """Return whether no span executes a call yet."""
    return call.node is None


def _waits(call: ToolCall) -> bool:
    return call.node is None and not call.dropped


def _waits_without_id(call: ToolCall) -> bool:
    return call.id is None and _waits(call)


def _has_no_id(call: ToolCall) -> bool:
    return call.id is None


class _Known:
    """Calls that wait, by their arguments."""

    def __init__(self, waits: Callable[[ToolCall], bool]):
        self.any = Waiting(waits)
        self._alike: dict[tuple[str, str], Waiting] = defaultdict(lambda: Waiting(waits))

    def add(self, call: ToolCall, number: int) -> None:
        self.any.add(call, number)
        if call.arguments is not UNSET:
            self._alike["arguments", arguments_text(call.arguments)].add(call, number)
        if isinstance(text := _only_value(call.arguments), str):
            self._alike["value", text].add(call, number)

    def with_arguments(self, arguments: Any) -> list[ToolCall]:
        """Return the ones with equal arguments."""
        alike = self._alike.get(("arguments", arguments_text(arguments)))
        return alike.all() if alike is not None else []

    def first(self, arguments: Any) -> ToolCall | None:
        """Return the first one with these arguments, or whose single argument has this value."""
        keys = [("arguments", arguments_text(arguments))]
        if isinstance(arguments, str):
            keys.append(("value", arguments))
        found = [
            item for key in keys if key in self._alike and (item := self._alike[key].numbered())
        ]
        return min(found, key=lambda item: item[0])[1] if found else None


class Requests:
    """The calls of one tool that models requested."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        """In the order of the requests; to be added to."""
        self._indexed = 0

    def _index(self) -> None:
        """Look at the calls that have come since: most runs have ids, and need none of this."""
        if not self._indexed:
            self._all = _Known(_waits)
            self._nameless = _Known(_waits_without_id)
            self._empty = Waiting(_waits_without_id)
            self._without_id = Waiting(_has_no_id)
        for number in range(self._indexed, len(self.calls)):
            call = self.calls[number]
            if call.id is None:
                self._without_id.add(call)
            if not _waits(call):
                continue
            self._all.add(call, number)
            if call.id is None:
                self._nameless.add(call, number)
                if plain(call.arguments) == {}:
                    self._empty.add(call)
        self._indexed = len(self.calls)

    def has_nameless(self) -> bool:
        """Return whether a request has no id."""
        self._index()
        return self._without_id.first() is not None

    def several_wait(self) -> bool:
        """Return whether more than one request has no span yet."""
        if len(self.calls) < 2:
            return False
        self._index()
        return self._all.any.are_several()

    def with_arguments(self, arguments: Any) -> Sequence[ToolCall]:
        """Return the calls with equal arguments, in order; all calls if those are unknown."""
        if arguments is UNSET:
            return self.calls
        self._index()
        return self._all.with_arguments(arguments)

    def matching(self, arguments: Any, has_id: bool) -> ToolCall | None:
        """Return the call that a span executes: by its arguments, else the first.

        Args:
            arguments: those of the span.
            has_id: whether the span knows the id of its call. One side has it then, and the other
                may have lost it.
        """
        self._index()
        known = self._nameless if has_id else self._all
        if arguments is UNSET:
            return known.any.first()
        if known.any.first() is None:
            return None
        if (call := known.first(arguments)) is not None:
            return call
        for call in known.any.some(_COMPARED):
            if contains(plain(arguments), plain(call.arguments)):
                return call
        # LlamaIndex records a streamed call before its arguments have arrived.
        return None if has_id or self._empty.are_several() else self._empty.first()


def _only_value(arguments: Any) -> Any:
    if isinstance(arguments, Mapping) and len(arguments) == 1:
        return next(iter(arguments.values()))
    return None
