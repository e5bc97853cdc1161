"""Tools that a run requested and that lost its context: their spans are outside the run.

A run leaves as soon as its OTel trace has been read. But a model in it may have requested a tool
that no span in the run executes, so that only messages have the result: then the span, with the
tool's error, may be in another trace. Such a run waits on disk until all traces have been read, and
takes the tools that fit its requests, as `requested` has it. A tool with a model call inside is
left as a run of its own.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from agentool_otel.model.messages import call_id_of, parts_of
from agentool_otel.model.operations import Inference, McpRequest, ToolExecution
from agentool_otel.model.spans import Deduplicated, SpanRecord, copies_of
from agentool_otel.reading.rebuild.correlation.disk_store import Units, unpacked
from agentool_otel.reading.rebuild.correlation.requested import Evidence, Requested
from agentool_otel.reading.rebuild.run_spans import RunSpans
from agentool_otel.reading.rebuild.steps.delegation import may_delegate
from agentool_otel.reading.rebuild.steps.handoff_rules import transfers
from agentool_otel.reading.rebuild.tree import Node

__all__ = ["OpenRequests", "OpenRun", "OpenTrace", "SettledTrace", "open_run"]

_RUN = "run "
"""Begins the parent id of a tool that a run takes, until the spans of the run are read again. Ids
of spans have no space."""


class OpenTrace(NamedTuple):
    """An OTel trace with runs that wait for tools."""

    spans: list[SpanRecord]
    runs: list[OpenRun]
    rebuild: Callable[[], list[Any]] | None = None
    """Rebuilds its runs without such tools; to be called before its nodes are unlinked."""


class SettledTrace(NamedTuple):
    """An OTel trace whose runs have their tools."""

    spans: list[SpanRecord]
    unmatched: dict[str, list[str]]
    """By the id of the span of a run, the names of tools that were called elsewhere, perhaps at the
    request of the run."""


class OpenRun(NamedTuple):
    """A run that waits for tools."""

    root: Node
    calls: list[Node]
    """Its model calls."""
    is_open: Callable[[str, str | None], bool]
    """Test of whether no span in the run executes the request with a given name and id."""


def open_run(run: RunSpans) -> OpenRun | None:
    """Return a run that has to wait: a model in it requested a tool that no span executes."""
    if run.root is None:
        return None
    calls = [node for node in run.nodes if type(node.operation) is Inference]
    requests = list(_requests(calls))
    if not requests:
        return None
    executed = Counter(map(_executed, run.nodes))
    requested: Counter[str] = Counter()
    for name, call_id in requests:
        if call_id is None or not executed["id", call_id]:
            requested[name] += 1
    names = {name for name, count in requested.items() if count > executed["name", name]}
    if not names:
        return None
    ids = {key[1] for key in executed if key is not None and key[0] == "id"}
    return OpenRun(run.root, calls, lambda name, call_id: name in names and call_id not in ids)


def _requests(calls: Iterable[Node]) -> Iterator[tuple[str, str | None]]:
    """Yield name and id of each tool call that models requested, each id once."""
    known: set[str] = set()
    for node in calls:
        output = node.operation.output if isinstance(node.operation, Inference) else None
        for message in output or ():
            for place, part in enumerate(parts_of(message)):
                name = part.get("name")
                if part.get("type") != "tool_call" or not isinstance(name, str):
                    continue
                call_id = call_id_of(part, place)
                if call_id in known or transfers(name) or may_delegate(name):
                    continue
                if call_id is not None:
                    known.add(call_id)
                yield name, call_id


def _executed(node: Node) -> tuple[str, str | None] | None:
    """Return the id of the call that a span executes, or the tool's name if it has no id."""
    operation = node.operation
    if not isinstance(operation, (ToolExecution, McpRequest)):
        return None
    if operation.call_id is not None:
        return "id", operation.call_id
    return "name", operation.name if isinstance(operation, ToolExecution) else operation.tool_name


class OpenRequests:
    """Runs that wait for tools, on disk. Some twelve bytes a model call stay in memory."""

    def __init__(self) -> None:
        self._units = Units()
        """The spans of each trace."""
        self._requested = Requested(with_ids=True)
        self._run_of = array("I")
        """The run of each model call."""
        self._trace_of_run = array("I")
        self._root_of_run = array("I")
        """Index of each run's root among the spans of its trace."""
        self._unmatched: defaultdict[int, set[str]] = defaultdict(set)
        """The names of tools that each run may have called in spans outside."""
        self._copies: dict[int, int] = {}
        self._count = 0

    def __bool__(self) -> bool:
        return self._count > 0

    def add(self, trace: OpenTrace) -> None:
        """Add a trace whose runs wait.

        Raises:
            SourceError: the temporary folder is full.
        """
        number = self._count
        self._count += 1
        first = trace.spans[0]
        order = f"{first.start_ns or 0:020} {first.trace_id}"
        places: dict[str, int] = {}
        for place, span in enumerate(trace.spans):
            self._units.add(number, span, "" if place else order)
            places[span.span_id] = place
        if copies := copies_of(trace.spans):
            self._copies[number] = copies
        for run in trace.runs:
            for node in run.calls:
                unit = len(self._run_of)
                self._run_of.append(len(self._trace_of_run))
                self._requested.add(node, unit, number)
                self._requested.add_requests(node, unit, number, run.is_open)
            self._trace_of_run.append(number)
            self._root_of_run.append(places[run.root.span.span_id])

    def settle(self, loose: Iterable[tuple[int, SpanRecord]]) -> None:
        """Take the tools that may be a run's; nothing can be added any more.

        Args:
            loose: tools without a model call of their own, with their numbers.
        """
        for unit, span in loose:
            self._requested.add(Node(span), unit, -1)
        run_of = self._run_of.__getitem__
        self._requested.settle((), run_of, run_of, len(self._run_of))

    def tools(self, evidence: Evidence, joined: bytearray) -> Iterator[tuple[int, int]]:
        """Yield each tool that a model in a run requested, and the run.

        Args:
            evidence: the evidence that is requested.
            joined: by number, whether a tool has its request. Each one found is marked.
        """
        for tool, call in self._requested.pairs(evidence, joined):
            yield tool, self._run_of[call]

    def note_unsure(self, is_joined: Callable[[int], bool]) -> None:
        """Note, for each run, the tools outside that it may have requested.

        Args:
            is_joined: whether a tool has its request.
        """
        for name, call in self._requested.unsure(is_joined):
            self._unmatched[self._run_of[call]].add(name)

    def take(self, run: int, span: SpanRecord, *, is_tool: bool) -> None:
        """Add a span to a run.

        Args:
            run: its number.
            span: that of a tool, or one below it.
            is_tool: whether it is that of the tool.
        """
        if is_tool:
            span = msgspec.structs.replace(span, parent_id=f"{_RUN}{run}")
        self._units.add(self._trace_of_run[run], span)

    def traces(self) -> Iterator[SettledTrace]:
        """Yield each trace with its tools; nothing can be added any more."""
        unmatched: defaultdict[int, dict[int, list[str]]] = defaultdict(dict)
        for run, names in self._unmatched.items():
            unmatched[self._trace_of_run[run]][self._root_of_run[run]] = sorted(names)
        for group in self._units.groups(int, self._count):
            number = group.units[0]
            known = list(map(unpacked, self._units.get(group)))
            spans = {span.span_id: self._below_root(span, known) for span in known}
            copies = self._copies.get(number, 0)
            yield SettledTrace(
                Deduplicated(spans.values(), copies) if copies else list(spans.values()),
                {known[place].span_id: names for place, names in unmatched[number].items()},
            )

    def _below_root(self, span: SpanRecord, spans: list[SpanRecord]) -> SpanRecord:
        if span.parent_id is None or not span.parent_id.startswith(_RUN):
            return span
        root = spans[self._root_of_run[int(span.parent_id.removeprefix(_RUN))]]
        return msgspec.structs.replace(span, parent_id=root.span_id)

    def close(self) -> None:
        self._units.close()
        self._requested.close()
