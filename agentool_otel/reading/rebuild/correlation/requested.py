"""Match tool spans without a call id with the model's requests that they execute.

In a plain loop around a client library, each model call and each tool call is an OTel trace of its
own. A tool span can execute a request if the tool's name is the same and the span lies, in the same
process, between the model's response and the next call of that conversation. All spans are matched
by the strongest kind of evidence before the next kind is tried:

1. `RESULT`: the arguments match, and the model was sent the span's result. Arguments match if they
   are equal, are contained in those of the span (defaults, a handle), or are the value of its only
   parameter (a dict, a model).
2. `ARGUMENTS`: the arguments match.
3. `AGAIN`: the arguments match those of a request that another span executes already: a retry.
4. `NAME`: only the name matches, and a single conversation requests that tool.

Several equal requests: the model call nearest to the span wins, then the conversation that
continues first.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from agentool_otel.ground.json_codec import canonical
from agentool_otel.model.evidence import fingerprint, is_contained
from agentool_otel.model.messages import call_id_of, parts_of, role_of
from agentool_otel.model.operations import Inference, McpRequest, ToolExecution
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild.correlation.disk_store import LARGEST, Rows, Sorted
from agentool_otel.reading.rebuild.steps.model_calls import is_details
from agentool_otel.reading.rebuild.steps.tool_calls import parsed, unpacked
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import plain

__all__ = ["Evidence", "Requested"]

_PARTS = 64
"""Number of partitions of the conversations' calls; only one is in memory."""
_OPEN = 64
"""Limit of the equal requests, and of those of one tool, that are open at once."""


class Evidence(Enum):
    """Kinds of evidence that a span executes a request, the strongest first."""

    RESULT = 1
    ARGUMENTS = 2
    AGAIN = 3
    NAME = 4


class _Process(NamedTuple):
    """Hashes of what identifies a process, the surest first; 0 for what is unknown."""

    instance: int
    pid: int
    service: int

    def may_be(self, other: _Process) -> bool:
        """Return whether two may be one process."""
        for one, two in zip(self, other, strict=True):
            if one and two:
                return one == two
        return True


def _always(_: str, __: str | None) -> bool:
    return True


class _Call(msgspec.Struct, array_like=True, gc=False):
    """A request, or a span that executes one."""

    start_ns: int
    order: str
    is_span: bool
    unit: int
    number: int
    """Of this record."""
    name: int
    end_ns: int
    """Of the span; 0 if it has not ended."""
    process: tuple[int, int, int]
    trace: int
    parent: int
    arguments: int
    """Hash; 0 if they are unknown."""
    members: tuple[int, ...]
    """Hashes of each argument with its name, sorted."""
    values: tuple[int, ...]
    """Hashes of the values of parameters."""
    result: int
    """Hash; 0 if it is unknown."""
    call_id: int
    """Hash; 0 if it is unknown."""


class Requested:
    """Finds the model calls that requested what tools without an id execute."""

    def __init__(self, *, with_ids: bool = False) -> None:
        """Look for the tools without an id, or also for those `with_ids`: a request with another id
        does not fit."""
        self._with_ids = with_ids
        self._calls = Sorted(_Call, key=_order)
        self._model_calls = Rows(3)
        """Unit, start and end."""
        self._sent = Rows(2, _PARTS)
        """Hashes of the id of a call and of the result that was sent for it."""
        self._ids = Rows(2, _PARTS)
        """Hash of the id of a request, and its number."""
        self._count = 0
        self._spans_left = 0
        """Number of spans without a request so far."""
        self._names: dict[int, str] = {}
        """The names of the tools of spans, by their hashes."""

    def add(self, node: Node, unit: int, trace: int, *, with_id: bool = False) -> None:
        """Add a model call or a tool outside any run.

        Args:
            node: the span.
            unit: its number.
            trace: number of its OTel trace.
            with_id: whether a tool with an id is added.

        Raises:
            SourceError: the temporary folder is full.
        """
        operation = node.operation
        if node.start_ns is None:
            return
        with_id = with_id or self._with_ids
        if isinstance(operation, Inference):
            if not is_details(node):
                end_ns = node.start_ns if node.end_ns is None else node.end_ns
                self._model_calls.add(0, unit, node.start_ns, end_ns)
        elif isinstance(operation, ToolExecution):
            if operation.call_id is None or with_id:
                self._add_span(node, operation.name, operation, unit, trace)
        elif isinstance(operation, McpRequest) and operation.side == "client":
            name = operation.tool_name
            if name is not None and (operation.call_id is None or with_id):
                self._add_span(node, name, operation, unit, trace)

    def add_requests(
        self,
        node: Node,
        unit: int,
        trace: int,
        is_open: Callable[[str, str | None], bool] = _always,
    ) -> None:
        """Add what a model call requested; `settle` does it for those that are in a store.

        Args:
            node: the model call.
            unit: its number.
            trace: number of its OTel trace.
            is_open: whether the request of a name and an id is added.
        """
        operation = node.operation
        if not isinstance(operation, Inference) or node.start_ns is None:
            return
        for message in operation.output or ():
            for place, part in enumerate(parts_of(message)):
                name = part.get("name")
                if part.get("type") != "tool_call" or not isinstance(name, str):
                    continue
                call_id = call_id_of(part, place)
                if not is_open(name, call_id):
                    continue
                if call_id is not None:
                    key = hash(call_id)
                    self._ids.add(key % _PARTS, key, self._count)
                self._add(
                    node, False, name, part.get("arguments", UNSET), UNSET, unit, trace, call_id
                )
        for message in reversed(operation.input or ()):
            if role_of(message) == "assistant":
                break
            for place, part in enumerate(parts_of(message)):
                call_id = call_id_of(part, place)
                if part.get("type") != "tool_call_response" or call_id is None:
                    continue
                result = part.get("response", part.get("result", UNSET))
                if result is not UNSET:
                    key = hash(call_id)
                    self._sent.add(key % _PARTS, key, _hash(result))

    def _add_span(
        self, node: Node, name: str, operation: ToolExecution | McpRequest, unit: int, trace: int
    ) -> None:
        self._spans_left += 1
        self._names[hash(name)] = name
        self._add(
            node, True, name, operation.arguments, operation.result, unit, trace, operation.call_id
        )

    def _add(
        self,
        node: Node,
        is_span: bool,
        name: str,
        arguments: Any,
        result: Any,
        unit: int,
        trace: int,
        call_id: str | None,
    ) -> None:
        assert node.start_ns is not None
        known = parsed(plain(arguments))
        of_values = fingerprint(_values(known))
        parent_id = node.span.parent_id
        self._calls.add(
            _Call(
                start_ns=node.start_ns,
                order=f"{node.span.span_id} {node.span.trace_id}",
                is_span=is_span,
                unit=unit,
                number=self._count,
                name=hash(name),
                end_ns=node.end_ns or 0,
                process=_process(node.span),
                trace=trace,
                parent=0 if parent_id is None else hash((node.span.trace_id, parent_id)),
                arguments=0 if known is UNSET else _hash(known),
                members=of_values.members,
                values=of_values.values,
                result=0 if result is UNSET else _hash(result),
                call_id=0 if call_id is None else hash(call_id) or 1,
            )
        )
        self._count += 1

    def close(self) -> None:
        self._calls.close()
        for rows in (self._model_calls, self._sent, self._ids):
            rows.close()

    def settle(
        self,
        firsts: Iterable[tuple[int, SpanRecord]],
        trace_of: Callable[[int], int],
        group_of: Callable[[int], int],
        units: int,
    ) -> None:
        """Find out how long each request is open; nothing can be added any more.

        Model calls are read again for it: most recordings have no tools without an id.

        Args:
            firsts: each unit with its first span.
            trace_of: number of the OTel trace of a unit.
            group_of: group of a unit, with all that is known without these rules; it must not
                change until all pairs are found.
            units: how many units there are.
        """
        if not self._spans_left:
            return
        is_model_call = bytearray(units)
        for unit in self.model_calls():
            is_model_call[unit] = True
        for unit, span in firsts:
            if is_model_call[unit]:
                self.add_requests(Node(span), unit, trace_of(unit))
        self._group_of = group_of
        self._closes = self._closing_times(group_of, units)
        self._results = self._sent_results()
        self._taken = bytearray(self._count)

    def pairs(self, evidence: Evidence, joined: bytearray) -> Iterator[tuple[int, int]]:
        """Yield the units of each span and of the model call that requested it.

        Args:
            evidence: the evidence that is requested; a stronger one comes in an earlier pass.
            joined: by unit, whether a tool has its request. Each one found is marked.
        """
        if not self._spans_left:
            return
        sweep = _Sweep(self._group_of, self._closes, self._results, self._taken, evidence)
        for call in self._calls:
            if not call.is_span:
                sweep.open(call)
            elif not joined[call.unit] and (found := sweep.match(call)) is not None:
                joined[call.unit] = True
                self._spans_left -= 1
                yield call.unit, found

    def unsure(self, is_joined: Callable[[int], bool]) -> Iterator[tuple[str, int]]:
        """Yield the names of tools whose request is unknown, and the unit of each model call that
        may have requested one of them; to be called after `pairs`.

        Args:
            is_joined: whether a tool, by its unit, belongs to a model call.
        """
        if not self._spans_left:
            return
        sweep = _Sweep(self._group_of, self._closes, self._results, self._taken, Evidence.NAME)
        for call in self._calls:
            if not call.is_span:
                sweep.open(call)
            elif not is_joined(call.unit):
                for unit in sweep.may_be_of(call):
                    yield self._names[call.name], unit

    def model_calls(self) -> Iterator[int]:
        """Yield the units of the model calls."""
        return (unit for unit, _, _ in self._model_calls.of(0))

    def _closing_times(self, group_of: Callable[[int], int], units: int) -> array[int]:
        """Return, by unit, when the conversation of a model call goes on."""
        closes = array("q", [LARGEST]) * units
        rows = Rows(4, _PARTS)
        try:
            for unit, start_ns, end_ns in self._model_calls.of(0):
                group = group_of(unit)
                rows.add(group % _PARTS, group, start_ns, end_ns, unit)
            for part in rows.parts():
                groups: dict[int, list[tuple[int, ...]]] = defaultdict(list)
                for group, *row in rows.of(part):
                    groups[group].append(tuple(row))
                for calls in groups.values():
                    calls.sort()
                    starts = [start_ns for start_ns, _, _ in calls]
                    for place, (_, end_ns, unit) in enumerate(calls):
                        after = bisect_left(starts, end_ns, place + 1)
                        if after < len(starts):
                            closes[unit] = starts[after]
        finally:
            rows.close()
        return closes

    def _sent_results(self) -> array[int]:
        """Return, by number of a request, the hash of the result that was sent for it."""
        results = array("q", [0]) * self._count
        for part in self._ids.parts():
            sent: dict[int, int] = {}
            for key, result in self._sent.of(part):
                sent[key] = 0 if sent.get(key, result) != result else result
            for key, number in self._ids.of(part):
                results[number] = sent.get(key, 0)
        return results


class _Request(NamedTuple):
    """A request that is open."""

    call: _Call
    group: int
    close_ns: int
    result: int


class _Sweep:
    """The open requests, while all calls pass in order of start."""

    def __init__(
        self,
        group_of: Callable[[int], int],
        closes: array[int],
        results: array[int],
        taken: bytearray,
        evidence: Evidence,
    ):
        self._group_of = group_of
        self._closes = closes
        self._results = results
        self._taken = taken
        """By number, whether a span executes a request."""
        self._evidence = evidence
        self._alike: dict[tuple[int, int], list[_Request]] = {}
        self._of_name: dict[int, list[_Request]] = {}

    def open(self, call: _Call) -> None:
        """Take a request."""
        number = call.number
        if self._taken[number] and self._evidence is not Evidence.AGAIN:
            return
        if self._evidence is Evidence.RESULT and not self._results[number]:
            return
        request = _Request(
            call, self._group_of(call.unit), self._closes[call.unit], self._results[number]
        )
        for requests, key in self._places(call):
            waiting = [
                request for request in requests.get(key, ()) if request.close_ns > call.start_ns
            ]
            requests[key] = [*waiting[-_OPEN + 1 :], request]

    def _places(self, call: _Call) -> list[tuple[dict[Any, list[_Request]], Any]]:
        return [(self._alike, (call.name, call.arguments)), (self._of_name, call.name)]

    def match(self, span: _Call) -> int | None:
        """Return the unit of the model call that requested what a span executes."""
        by_name = self._evidence is Evidence.NAME
        found = self._same_name(span) if by_name else self._equal(span)
        if found is None:
            return None
        self._taken[found.call.number] = True
        return found.call.unit

    def may_be_of(self, span: _Call) -> Iterator[int]:
        """Yield the unit of each model call whose request for the same tool a span may execute."""
        for request in self._of_name.get(span.name, ()):
            if self._may_execute(span, request):
                yield request.call.unit

    def _equal(self, span: _Call) -> _Request | None:
        if not span.arguments:
            return None
        alike = self._alike.get((span.name, span.arguments), ())
        found = self._first(span, list(alike))
        if found is None:
            contained = [
                item for item in self._of_name.get(span.name, ()) if is_contained(item.call, span)
            ]
            found = self._first(span, contained)
        return found

    def _first(self, span: _Call, requests: list[_Request]) -> _Request | None:
        fitting = [request for request in requests if self._may_execute(span, request)]
        return min(fitting, key=lambda item: _rank(span, item), default=None)

    def _may_execute(self, span: _Call, request: _Request) -> bool:
        if self._taken[request.call.number] and self._evidence is not Evidence.AGAIN:
            return False
        if self._evidence is Evidence.RESULT and not _is_equal_result(span, request):
            return False
        return _fits(span, request)

    def _same_name(self, span: _Call) -> _Request | None:
        requests = [
            item for item in self._of_name.get(span.name, ()) if self._may_execute(span, item)
        ]
        for better in (_is_same_parent, _is_same_trace, _is_equal_result):
            requests = [request for request in requests if better(span, request)] or requests
        if len({request.group for request in requests}) != 1:
            return None
        return min(requests, key=lambda request: _rank(span, request))


def _fits(span: _Call, request: _Request) -> bool:
    if max(span.start_ns, span.end_ns) > request.close_ns:
        return False
    if span.call_id and request.call.call_id not in (0, span.call_id):
        return False
    return _Process(*span.process).may_be(_Process(*request.call.process))


def _is_same_parent(span: _Call, request: _Request) -> bool:
    return bool(span.parent) and span.parent == request.call.parent


def _is_same_trace(span: _Call, request: _Request) -> bool:
    return span.trace == request.call.trace


def _is_equal_result(span: _Call, request: _Request) -> bool:
    return bool(span.result) and span.result == request.result


def _rank(span: _Call, request: _Request) -> tuple[bool | int | str, ...]:
    call = request.call
    return (
        not _is_same_parent(span, request),
        not _is_same_trace(span, request),
        call.end_ns > span.start_ns,  # an answer that still streams
        not _is_equal_result(span, request),
        request.close_ns,
        -call.start_ns if request.close_ns == LARGEST else call.start_ns,
        call.order,
        call.number,
    )


def _order(call: _Call) -> tuple[int, bool, str, int]:
    return call.start_ns, call.is_span, call.order, call.number


def _process(span: SpanRecord) -> tuple[int, int, int]:
    resource = span.resource
    instance, pid = resource.get("service.instance.id"), resource.get("process.pid")
    service = resource.get("service.name")
    host = resource.get("host.name") or resource.get("host.id")
    return (
        0 if instance is None else hash(("instance", str(instance))),
        0 if pid is None else hash(("pid", str(host), str(pid))),
        0 if service is None else hash(("service", str(service))),
    )


def _values(arguments: Any) -> Any:
    """Return arguments whose values are unpacked, as tools get them; None for no object."""
    if not isinstance(arguments, dict):
        return None
    return {key: unpacked(parsed(plain(value))) for key, value in arguments.items()}


def _hash(value: Any) -> int:
    """Return the hash of a value, never 0."""
    return hash(canonical(unpacked(plain(value)))) or 1
