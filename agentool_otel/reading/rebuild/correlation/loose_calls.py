"""Model calls and tools without an agent around them, until it is known which belong together."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from agentool_otel.model.operations import Inference
from agentool_otel.model.session_ids import session_of
from agentool_otel.model.spans import SpanRecord, copies_of
from agentool_otel.reading.rebuild.correlation.disk_store import Packed, Rows, Units
from agentool_otel.reading.rebuild.correlation.duplicate_calls import AnsweredCalls, answered
from agentool_otel.reading.rebuild.correlation.keys import ids_on, keys_of
from agentool_otel.reading.rebuild.correlation.neighbours import Neighbours
from agentool_otel.reading.rebuild.correlation.open_requests import OpenRequests
from agentool_otel.reading.rebuild.correlation.requested import Evidence, Requested
from agentool_otel.reading.rebuild.correlation.sessions import Sessions
from agentool_otel.reading.rebuild.correlation.union_find import Joining, rank_of
from agentool_otel.reading.rebuild.correlation.unknown_messages import has_messages, same_runs
from agentool_otel.reading.rebuild.evaluation_spans import Judgement
from agentool_otel.reading.rebuild.lineage import Nearest
from agentool_otel.reading.rebuild.tree import Node, is_record
from agentool_otel.semconv import agentool

__all__ = ["LooseCalls", "LooseNodes", "LooseRun", "order_of"]

_OF_CALL, _OF_TOOL = 1, 2
"""A model call or a tool that refers to earlier calls."""


class LooseNodes(NamedTuple):
    """The spans of one OTel trace that are outside any run."""

    nodes: list[Node]
    spans: list[SpanRecord]
    """All of the trace."""
    has_runs: bool
    """Whether the trace has runs as well."""
    judgements: Sequence[Judgement] = ()
    """The judgements of these nodes."""


class LooseRun(NamedTuple):
    """Loose calls that belong together."""

    trace_id: str
    """Of the rebuilt trace."""
    calls: list[Packed]
    """The spans, and the judgements of them."""
    copies: int
    """Number of copies of spans that were left out of their OTel traces."""
    unmatched: tuple[str, ...] = ()
    """Names of tools that were called elsewhere, perhaps at the request of one of the calls."""
    session: str | None = None
    """Id of the session that its messages share with those of other runs."""
    has_turns_before: bool = False
    """Whether its first call repeats turns that are not there."""
    continues: bool = False
    """Whether the first call refers, by ids, to an earlier one that is not there."""


class LooseCalls:
    """Loose calls of all traces, until it is known which of them belong together.

    A unit is a model call with what it caused, or a tool execution by itself. Units are numbered in
    the order in which they are added, those of one trace in a row. Any later trace may continue
    them, so all wait on disk; about thirteen bytes a call stay in memory.
    """

    def __init__(self) -> None:
        self._joining = Joining()
        self._turns = Sessions()
        """The same units by session."""
        self._later = bytearray()
        """Which units repeat earlier turns."""
        self._sessions: dict[int, str] = {}
        """By session with several runs, its id; empty before its first run is yielded."""
        self._units = Units()
        self._answered = AnsweredCalls()
        self._requested = Requested()
        self._near = Rows(2)
        """A tool, and the model call before it that is nearest in its OTel trace."""
        self._firsts = array("I")
        """The first unit of each trace."""
        self._has_runs = bytearray()
        """Whether each trace has runs as well."""
        self._several = array("b")
        """Whether each trace has more than a part of one run; -1 if not known yet."""
        self._copies = array("I")
        """Number of copies of spans that were left out of each trace."""
        self._refers = bytearray()
        """Which calls refer to earlier ones by ids."""
        self._taken: dict[int, int] = {}
        """The tools that a run takes, and its number."""
        self._unmatched: defaultdict[int, set[str]] = defaultdict(set)
        """By group, the names of tools that it may have called in spans outside."""
        self.has_tools = False
        """Whether there are tools outside of any run."""
        self._is_settled = False

    def add(self, loose: LooseNodes) -> None:
        """Add the loose nodes of one OTel trace; `loose` must not be empty.

        Raises:
            SourceError: the temporary folder is full.
        """
        self._firsts.append(len(self._joining))
        self._has_runs.append(loose.has_runs)
        self._several.append(-1)
        self._copies.append(copies_of(loose.spans))
        units = self._add_units(loose.nodes)
        for one, other in _ties(units):
            self._joining.tie(one, other)
        of_span = {node.span.span_id: unit for node, unit in units.items()}
        for judgement in loose.judgements:
            unit = of_span.get(judgement.about or "", units[loose.nodes[0]])
            self._units.add(unit, judgement.record)

    def _add_units(self, nodes: list[Node]) -> dict[Node, int]:
        """Add nodes and return the unit of each."""
        kept = set(nodes)
        calls = [node for node in nodes if isinstance(node.operation, Inference)]
        around = Nearest(kept.__contains__)
        units = {node: self._add_unit(node, around) for node in calls}
        neighbours = Neighbours(calls)
        for node in _outer_first(nodes, around):
            if node in units:
                continue
            self.has_tools = True
            above = around.at(node.parent)
            if above is not None:
                self._units.add(units[above], _as_kept(node, around))
                units[node] = units[above]
                continue
            units[node] = self._add_unit(node, around)
            if (neighbour := neighbours.of(node)) is not None:
                self._near.add(0, units[node], units[neighbour])
        return units

    def _add_unit(self, node: Node, around: Nearest) -> int:
        order = order_of(node)
        keys = keys_of(node)
        number = self._joining.add(keys, rank_of(node.start_ns, order))
        self._turns.add(keys, rank_of(node.start_ns, order))
        self._later.append(bool(keys.turns_before))
        is_tool = not isinstance(node.operation, Inference)
        self._refers.append((_OF_TOOL if is_tool else _OF_CALL) if keys.has_ids else 0)
        if (call := answered(node)) is not None:
            self._answered.add(call, number)
        self._requested.add(node, number, len(self._firsts) - 1)
        self._units.add(number, _as_kept(node, around), order)
        return number

    def close(self) -> None:
        self._joining.close()
        self._turns.close()
        self._units.close()
        self._answered.close()
        self._requested.close()
        self._near.close()

    def runs(self, of_runs: AnsweredCalls) -> Iterator[LooseRun]:
        """Yield the runs, in order of their first call; nothing can be added any more.

        Args:
            of_runs: the calls in runs with an agent, whose duplicates are left out.

        Raises:
            SourceError: the temporary folder is full.
        """
        self.settle()
        duplicates = self._answered.duplicates(of_runs) | self._taken.keys()
        has_calls = self._has_calls()
        for group in self._units.groups(self._joining.group_of, len(self._joining), duplicates):
            _, trace_id, span_id = group.order.decode("utf-8", "surrogatepass").split(" ", 2)
            several = self._has_several(self._trace_of(group.units[0]), duplicates)
            traces = set(map(self._trace_of, group.units))
            run_id = f"{trace_id}:{span_id}" if several else trace_id
            yield LooseRun(
                run_id,
                self._units.get(group),
                sum(self._copies[trace] for trace in traces),
                tuple(sorted(self._unmatched.get(self._joining.group_of(group.units[0]), ()))),
                self._session_of(group.units[0], run_id),
                self._has_turns_before(group.units[0]),
                self._continues(group.units[0], has_calls),
            )

    def _has_turns_before(self, unit: int) -> bool:
        return bool(self._later[unit]) and not self._turns.has_turn_before(unit)

    def _session_of(self, unit: int, run_id: str) -> str | None:
        """Return the session of a run that has others; it is named after the first of them."""
        session = self._turns.session_of(unit)
        session_id = self._sessions.get(session)
        if session_id == "":
            session_id = session_of(run_id)
            self._sessions[session] = session_id
        return session_id

    def _continues(self, first: int, has_calls: bytearray) -> bool:
        """Return whether the first unit of a group refers to an earlier call that is not there."""
        if self._joining.is_joined(first):
            return False
        if self._refers[first] == _OF_TOOL:
            return not has_calls[self._joining.group_of(first)]
        return self._refers[first] == _OF_CALL

    def settle(self, requests: OpenRequests | None = None) -> None:
        """Find out what belongs together; nothing can be added any more.

        Args:
            requests: the runs that take tools of theirs that are outside.
        """
        if self._is_settled:
            return
        self._is_settled = True
        for one, other in self._answered.pairs(self._trace_of):
            self._joining.tie(one, other)
        self._joining.settle(self._trace_of, self._is_tool)
        self._tie_tools(requests)
        self._find_sessions()

    def _find_sessions(self) -> None:
        """Find the sessions that have several runs."""
        run_of = self._joining.group_of
        self._turns.settle(run_of, self._trace_of)
        firsts: dict[int, int] = {}
        for unit in range(len(self._joining)):
            run = run_of(unit)
            session = self._turns.session_of(unit)
            if firsts.setdefault(session, run) != run:
                self._sessions[session] = ""

    def _tie_tools(self, requests: OpenRequests | None) -> None:
        """Tie the tools to the calls that requested them, else to the nearest before them."""
        joined = bytearray(len(self._joining))
        group_of = self._joining.group_of
        self._add_unsure_tools()
        self._requested.settle(self._units.firsts(), self._trace_of, group_of, len(joined))
        if requests:
            requests.settle(self._tools_alone())
        ties: list[tuple[int, int]] = []
        for evidence in Evidence:
            ties += self._requested.pairs(evidence, joined)
            if requests:
                self._taken.update(requests.tools(evidence, joined))
        for tool, call in ties:
            self._joining.join(tool, call)
        self._joining.join_unsure(self._taken.__contains__)
        if requests and self._taken:
            for unit, span, is_first in self._units.spans():
                if (run := self._taken.get(unit)) is not None:
                    requests.take(run, span, is_tool=is_first)
        for tool, call in self._near.of(0):
            if not (joined[tool] or self._joining.is_joined(tool)):
                self._joining.tie(tool, call)
        has_calls = self._has_calls()

        def is_joined(tool: int) -> bool:
            return bool(joined[tool] or has_calls[group_of(tool)])

        for name, call in self._requested.unsure(is_joined):
            self._unmatched[group_of(call)].add(name)
        if requests:
            requests.note_unsure(is_joined)

    def _is_tool(self, unit: int) -> bool:
        return self._refers[unit] == _OF_TOOL

    def _add_unsure_tools(self) -> None:
        """Add the tools whose call id several model calls of other traces have requested, to be
        matched by their arguments and results too."""
        unsure = bytearray(len(self._joining))
        for unit, _ in self._joining.unsure():
            unsure[unit] = True
        if any(unsure):
            for unit, span in self._units.firsts():
                if unsure[unit]:
                    self._requested.add(Node(span), unit, self._trace_of(unit), with_id=True)

    def _has_calls(self) -> bytearray:
        """Return a flag for each group: whether it has a model call."""
        has_calls = bytearray(len(self._joining))
        for unit in self._requested.model_calls():
            has_calls[self._joining.group_of(unit)] = True
        return has_calls

    def _tools_alone(self) -> Iterator[tuple[int, SpanRecord]]:
        """Yield the units that belong to no model call, with their first spans."""
        group_of, has_calls = self._joining.group_of, self._has_calls()
        return (first for first in self._units.firsts() if not has_calls[group_of(first[0])])

    def _trace_of(self, unit: int) -> int:
        return bisect_right(self._firsts, unit) - 1

    def _has_several(self, trace: int, duplicates: set[int]) -> bool:
        """Return whether a trace holds more than a part of one run."""
        if self._has_runs[trace]:
            return True
        if self._several[trace] < 0:
            self._several[trace] = self._holds_several(trace, duplicates)
        return bool(self._several[trace])

    def _holds_several(self, trace: int, duplicates: set[int]) -> bool:
        first = self._firsts[trace]
        after = self._firsts[trace + 1] if trace + 1 < len(self._firsts) else len(self._joining)
        group_of = self._joining.group_of
        groups = (group_of(unit) for unit in range(first, after) if unit not in duplicates)
        one = next(groups, None)
        return any(group != one for group in groups)


def order_of(node: Node) -> str:
    return f"{node.start_ns or 0:020} {node.span.trace_id} {node.span.span_id}"


def _ties(units: dict[Node, int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of units that belong together for another reason than their keys."""
    firsts: dict[object, int] = {}
    around = Nearest(units.__contains__)
    for node, unit in units.items():
        for shared in _shared(node):
            yield firsts.setdefault(shared, unit), unit
        if isinstance(node.operation, Inference):
            up = around.at(node.parent)
            if up is not None:  # one call with two spans: an SDK's below a framework's
                yield units[up], unit
    calls = [node for node in units if isinstance(node.operation, Inference)]
    for one, other in same_runs(node for node in calls if not _refers(node)):
        yield units[one], units[other]


def _refers(node: Node) -> bool:
    """Return whether a model call refers to others by its messages or by the ids of tool calls."""
    if has_messages(node):
        return True
    return any(ids_on(node, key) for key in (agentool.CALLS_REQUESTED, agentool.CALLS_ANSWERED))


def _shared(node: Node) -> Iterator[object]:
    """Yield what the nodes of one run in an OTel trace have in common."""
    if node.parent is None and node.span.parent_id is not None:
        yield node.span.parent_id  # a run whose own span is missing
    if is_record(node):
        yield is_record  # a session whose prompts were not recorded


def _outer_first(nodes: list[Node], around: Nearest) -> list[Node]:
    """Return nodes in their order, but none before one around it."""
    if all(node.parent is None or node.parent.order < node.order for node in nodes):
        return nodes
    ordered: dict[Node, None] = {}
    for node in nodes:
        way: list[Node] = []
        up: Node | None = node
        while up is not None and up not in ordered:
            way.append(up)
            up = around.at(up.parent)
        ordered.update(dict.fromkeys(reversed(way)))
    return list(ordered)


def _as_kept(node: Node, around: Nearest) -> SpanRecord:
    """Return a span as a child of the nearest kept span around it. A parent that is in the trace
    and not kept is not to be reported as missing."""
    up = node.parent
    if up is None or (above := around.at(up)) is up:
        return node.span
    same = above is not None and above.span.trace_id == node.span.trace_id
    parent_id = above.span.span_id if above is not None and same else None
    return msgspec.structs.replace(node.span, parent_id=parent_id)
