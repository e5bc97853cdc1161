"""The tool calls of a run while its spans and messages are read."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from msgspec import UNSET

from agentool_otel.ground.json_codec import loads
from agentool_otel.model.denials import DENIALS, denial_text
from agentool_otel.model.messages import only_block
from agentool_otel.model.operations import (
    Inference,
    McpRequest,
    Operation,
    Retrieval,
    ToolExecution,
)
from agentool_otel.reading.rebuild.steps.handoff_rules import same_name, transfers
from agentool_otel.reading.rebuild.steps.requests import Requests, ToolCall, waits_for_span
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import arguments_text
from agentool_otel.semconv import agentool, openinference

__all__ = [
    "AROUND",
    "ToolCall",
    "ToolCalls",
    "call_above",
    "call_below",
    "has_result",
    "is_further_in",
    "is_inside_step",
    "is_transfer",
    "parsed",
    "reranks",
    "tool_error",
    "tools_around",
    "unpacked",
]


_Execution = ToolExecution | McpRequest


class _Repeat(NamedTuple):
    """A span that repeats a call, with its operation."""

    node: Node
    operation: _Execution


class ToolCalls(list[ToolCall]):
    """The tool calls of one run, in the order in which they were read."""

    def __init__(self) -> None:
        super().__init__()
        self.by_id: dict[str, list[ToolCall]] = defaultdict(list)
        self._passed: dict[str, int] = {}
        """By id, how many of its first calls a span executes or are transfers, as far as that was
        looked for."""
        self._requested: dict[str | None, Requests] = defaultdict(Requests)
        """The calls that models requested, by tool name."""
        self._executed: dict[Node, ToolCall] = {}
        """The call that each tool span executes."""
        self._part_of: dict[Node, ToolCall] = {}
        """The same, with the spans that repeat a call."""
        self._waiting_for: dict[Node, list[_Repeat]] = {}
        """By a span whose call is not known yet, those that repeat it."""
        self.repeated: dict[Node, str] = {}
        """The spans that repeat a call, and how."""
        self.unnamed: dict[Node, str] = {}
        """The model calls that repeat a request with an id that no call was given, and why."""
        self.unsure: dict[Node, str] = {}
        """The spans that were not compared with all that they may repeat, and why."""
        self._nameless: dict[tuple[str | None, str], list[ToolCall]] = {}
        """By name and arguments, the calls without an id."""
        self._only_requested: list[ToolCall] = []
        """The calls whose span records the request and no outcome, as they arrive."""
        self._requests_of_spans: dict[tuple[str | None, str], deque[ToolCall]] = defaultdict(deque)
        """The same, by name and arguments."""

    def add(self, call: ToolCall) -> None:
        self.append(call)
        if call.id is not None:
            self.by_id[call.id].append(call)

    def request(self, call: ToolCall) -> None:
        """Add a call that a model requested."""
        self._requested[call.name].calls.append(call)
        self.add(call)

    def note_nameless(self) -> None:
        """Find the calls that have no id, now that the spans are read."""
        for call in self:
            if call.id is None and call.requested_by is not None and call.arguments is not UNSET:
                key = call.name, arguments_text(call.arguments)
                self._nameless.setdefault(key, []).append(call)

    @property
    def has_nameless(self) -> bool:
        """Return whether calls without an id have been found."""
        return bool(self._nameless)

    def name(self, node: Node, place: int, part: dict[str, Any], call_id: str | None) -> None:
        """Set the id of a call from the history of a later model call.

        Google's models give their calls no ids. ADK adds them on receipt, and ADK for Java until
        0.5 records them in the history alone. An equal call that precedes the request in the
        history is another one.
        """
        name = part.get("name")
        if call_id is None or call_id in self.by_id or not isinstance(name, str | None):
            return
        alike = self._nameless.get((name, arguments_text(part.get("arguments"))), [])
        for n, call in enumerate(alike[:_ALIKE]):
            request = call.requested_by.operation if call.requested_by is not None else None
            if call.requested_by is node or not isinstance(request, Inference):
                continue
            if place >= len(request.input or ()):  # else it is older
                call.id = call_id
                self.by_id[call_id].append(call)
                del alike[n]
                return
        if len(alike) > _ALIKE:
            self.unnamed[node] = f"id {call_id!r}: compared with the first {_ALIKE} equal calls"

    def waits_without_id(self, name: str) -> bool:
        """Return whether a model requested a call of a tool without an id."""
        return name in self._requested and self._requested[name].has_nameless()

    def run(self, call: ToolCall, node: Node, call_id: str | None) -> None:
        """Record that a tool span executes a call, and take the span's id if the call has none."""
        self._execute(call, node, call_id)
        self._add_repeats(call, self._part_of_call(node, call))

    def _execute(self, call: ToolCall, node: Node, call_id: str | None) -> None:
        call.node = node
        self._executed[node] = call
        if _only_requests(node):
            self._only_requested.append(call)
        if call.id is None and call_id is not None:
            call.id = call_id
            self.by_id[call_id].append(call)

    def _part_of_call(self, node: Node, call: ToolCall) -> list[_Repeat]:
        """Record that a span is of a call, and return those that waited for that."""
        self._part_of[node] = call
        return self._waiting_for.pop(node, []) if self._waiting_for else []

    def join(self, requested: ToolCall, executed: ToolCall, rule: str) -> None:
        """Make one call of a requested one and of one that is only known by its span.

        Args:
            requested: the call that stays.
            executed: the call that is one with it, for `leave_out`.
            rule: why they are one.
        """
        assert executed.node is not None
        self.run(requested, executed.node, None)
        requested.repeats += executed.repeats
        requested.match_rule = rule

    def leave_out(self, joined: Collection[ToolCall]) -> None:
        """Leave out calls that are one with others."""
        self[:] = [call for call in self if call not in joined]

    def run_by(self, node: Node) -> ToolCall | None:
        """Return the call that a tool span executes."""
        return self._executed.get(node)

    def several_wait(self, name: str | None) -> bool:
        """Return whether models requested several calls of a tool that no span executes yet."""
        return name in self._requested and self._requested[name].several_wait()

    def waiting(self, name: str | None, arguments: Any) -> list[ToolCall]:
        """Return the calls of a tool that no span executes yet: those with equal arguments, or all
        if the arguments are unknown."""
        return [
            call
            for call in self._requested[name].with_arguments(arguments)
            if waits_for_span(call) and not call.dropped
        ]

    def transfers(self) -> Iterator[ToolCall]:
        """Yield the transfers that models requested."""
        return (call for call in self if call.requested_by is not None and is_transfer(call))

    def matching(self, name: str | None, call_id: str | None, arguments: Any) -> ToolCall | None:
        """Return the requested call that a span executes: by id, else by arguments, else the first
        of that tool."""
        if call_id is not None and (call := self._not_executed(call_id)) is not None:
            return call
        requests = self._requested.get(name)
        return None if requests is None else requests.matching(arguments, call_id is not None)

    def _not_executed(self, call_id: str) -> ToolCall | None:
        """Return the first call with an id that no span executes, and no transfer."""
        calls = self.by_id.get(call_id, ())
        passed = self._passed.get(call_id, 0)
        while passed < len(calls):
            if calls[passed].node is None and not calls[passed].dropped:
                return calls[passed]
            passed += 1
            self._passed[call_id] = passed
        return None

    def requested_by_span(self, name: str | None, arguments: Any) -> ToolCall | None:
        """Return the call that one span requests, below the model's, and another one executes."""
        if arguments is UNSET:
            return None
        for call in self._only_requested:
            if call.arguments is not UNSET:
                key = call.name, arguments_text(call.arguments)
                self._requests_of_spans[key].append(call)
        self._only_requested.clear()
        if not self._requests_of_spans:
            return None
        alike = self._requests_of_spans.get((name, arguments_text(arguments)))
        return alike.popleft() if alike else None

    def repeated_span(self, node: Node, call_id: str | None) -> Node | None:
        """Return the earlier span beside a tool span that it repeats, if it repeats one."""
        calls = self.by_id.get(call_id, ()) if call_id is not None else ()
        near = (call.node for call in calls[-_BESIDE:] if call.node is not None)
        beside = _call_beside(node, near)
        if beside is None and len(calls) > _BESIDE:
            self.unsure[node] = f"compared with the last {_BESIDE} calls of its id"
        return beside

    def repeat(self, other: Node, node: Node, operation: _Execution, how: str) -> None:
        """Add a span to the call that another one is of, which may not have been read yet: clocks
        differ, and a span inside may start first.

        Args:
            other: the span that it repeats.
            node: the span.
            operation: what it says.
            how: in words, for the fidelity report.
        """
        self.repeated[node] = how
        repeat = _Repeat(node, operation)
        call = self._part_of.get(other)
        if call is None:
            self._waiting_for.setdefault(other, []).append(repeat)
            return
        self._add_repeats(call, [repeat])

    def _add_repeats(self, call: ToolCall, repeats: list[_Repeat]) -> None:
        """Add spans to a call, and those that repeat them."""
        for repeat in repeats:  # grows
            self._add_repeat(call, *repeat)
            repeats += self._part_of_call(repeat.node, call)

    def _add_repeat(self, call: ToolCall, node: Node, operation: _Execution) -> None:
        """Add a span to a call. The span that has a place on the run's timeline is the call's own,
        whichever was read first."""
        if call.node is not None and _is_placed(node) and not _is_placed(call.node):
            other = call.node.operation
            if isinstance(operation, ToolExecution) and isinstance(other, ToolExecution):
                self._execute(call, node, operation.call_id)
                if operation.arguments is not UNSET:
                    call.arguments = operation.arguments
                operation = other
        call.repeats.append(operation)

    def without_call(self) -> Iterator[Node]:
        """Yield the tool spans that were taken for duplicates of a span without a call, such as a
        transfer to another agent. Each is a call itself. Add it before the next one is requested:
        further spans may be its duplicates.
        """
        waiting = {repeat.node for repeats in self._waiting_for.values() for repeat in repeats}
        others = [other for other in self._waiting_for if other not in waiting]
        for other in others:  # grows
            for node, operation in self._waiting_for.pop(other, ()):
                if _is_call_itself(operation, other.operation):
                    del self.repeated[node]
                    yield node
                else:
                    others.append(node)


def _is_call_itself(operation: _Execution, other: Operation) -> bool:
    """Return whether a span executes a call, and the span it duplicates does not."""
    if isinstance(operation, McpRequest):
        return True
    known = operation.call_id
    return bool(operation.name) and (known is None or known != getattr(other, "call_id", None))


def call_above(node: Node) -> Node | None:
    """Return the span around a tool span that is of the same call, if there is one.

    That is any tool around an MCP request, an MCP request around the tool it asks for, which a
    server traces as well, a tool around a span with the same call id or with neither name nor id,
    which is a part of its execution, and a tool around one without an id that differs in nothing,
    which another tracer has recorded.
    """
    if node.parent is None or node.parent.is_run:
        return None  # nearly always
    for up in tools_around(node):
        if _of_one_call(node.operation, up.operation) or _of_two_tracers(node, up):
            return up
    return None


def is_inside_step(node: Node, above: Node) -> bool:
    """Return whether a tool span of ours is inside the step that stands for its call: in a run a
    span that is a call of its own has a place on the timeline.
    """
    return _is_ours(node) and _is_ours(above) and _is_placed(above) and not _is_placed(node)


def _is_ours(node: Node) -> bool:
    return node.span.scope.partition(".")[0] == "agentool_otel"


def tools_around(node: Node) -> Iterator[Node]:
    """Yield the nearest tool spans and MCP requests around a span, within its run."""
    for _ in range(AROUND):
        up = node.nearest(_is_run_or_tool)
        if up is None or up.is_run:
            return
        yield up
        node = up


def is_further_in(node: Node) -> bool:
    """Return whether a tool span is nested in more tools than it is compared with."""
    outermost = next(islice(tools_around(node), AROUND - 1, None), None)
    return outermost is not None and next(tools_around(outermost), None) is not None


def _is_run_or_tool(node: Node) -> bool:
    return node.is_run or isinstance(node.operation, (ToolExecution, McpRequest))


def call_below(node: Node) -> Node | None:
    """Return the span of the same call right inside a tool span without an id, where another tracer
    has recorded it and knows the id; that one counts, as it does of model calls."""
    operation = node.operation
    if not isinstance(operation, ToolExecution) or operation.call_id is not None:
        return None
    for inner in node.children:
        known = isinstance(inner.operation, ToolExecution) and inner.operation.call_id is not None
        if known and inner.span.scope != node.span.scope and _agree(node, inner):
            return inner
    return None


def _of_two_tracers(inner: Node, outer: Node) -> bool:
    operation = inner.operation
    return (
        isinstance(operation, ToolExecution)
        and operation.call_id is None
        and inner.span.scope != outer.span.scope
        and _agree(inner, outer)
    )


_PLACES = frozenset({agentool.STEP_INDEX, agentool.STEP_RESULT_INDEX})


def _is_placed(node: Node) -> bool:
    return not _PLACES.isdisjoint(node.span.attributes)


def _call_beside(node: Node, others: Iterable[Node]) -> Node | None:
    """Return the span of the same call as a later one, among earlier tool spans with its call id:
    the two overlap, and no attribute of them differs.

    Servers reuse ids, even for calls beside each other, so an equal id is not enough. A span with a
    place of its own on a run's timeline is a call of its own.
    """
    if _is_placed(node):
        return None
    return next((other for other in others if _overlap(other, node) and _agree(other, node)), None)


AROUND = 8
"""Most tool spans around a span that may be of its call. A tool, its request, the server's span and
a second tracer's span are four.
"""
_BESIDE = 16
"""Most earlier spans with its call id that a span is compared with."""
_ALIKE = 64
"""Most equal calls without an id that a part of a history is compared with."""


def _overlap(first: Node, second: Node) -> bool:
    if first.start_ns is None or first.end_ns is None or second.start_ns is None:
        return False
    return second.start_ns < first.end_ns or second.start_ns == first.start_ns


def _agree(first: Node, second: Node) -> bool:
    one, other = first.operation, second.operation
    if not (isinstance(one, ToolExecution) and isinstance(other, ToolExecution)):
        return False
    return (one.name == other.name or same_name(one.name, other.name)) and (
        one.arguments is UNSET
        or other.arguments is UNSET
        or _arguments_of(first, one) == _arguments_of(second, other)
    )


def _arguments_of(node: Node, operation: ToolExecution) -> str:
    """Return the arguments of a tool span as text, made once: many may be compared with it."""
    known = node.lineage.cached(_argument_texts)
    text = known.get(node.span.span_id)
    if text is None:
        text = known[node.span.span_id] = arguments_text(operation.arguments)
    return text


def _argument_texts(_: Sequence[Node]) -> dict[str, str]:
    return {}


def _of_one_call(inner: Operation, outer: Operation) -> bool:
    if not isinstance(outer, (ToolExecution, McpRequest)):
        return False
    if isinstance(inner, McpRequest):
        return True
    if not isinstance(inner, ToolExecution):
        return False
    if isinstance(outer, McpRequest):
        return inner.call_id is None and inner.name == outer.tool_name
    return inner.call_id == outer.call_id if inner.call_id is not None else not inner.name


def parsed(arguments: Any) -> Any:
    """Return arguments as an object if they are the JSON text of one, as providers send them."""
    if isinstance(arguments, str) and arguments[:1] == "{":
        try:
            return loads(arguments)
        except ValueError:
            return arguments
    return arguments


def unpacked(response: Any) -> Any:
    """Return a result as the tool returned it. Providers accept text only, so programs send JSON as
    text, or as blocks of content, usually a single one."""
    if isinstance(response, str):
        if response[:1] not in ("{", "["):
            return response
        try:
            value = loads(response)
        except ValueError:
            return response
        # A list of one object may be the tool's own; a block of content has a type.
        return unpacked(value) if isinstance(value, list) and _names_type(value[:1]) else value
    block = only_block(response)
    return unpacked(block) if isinstance(block, str) else block


def _names_type(blocks: list[Any]) -> bool:
    return any(isinstance(block, dict) and "type" in block for block in blocks)


def tool_error(operation: Operation) -> str | None:
    """Return what a tool failed with: the class of its exception and the message, as far as they
    are known."""
    words = operation.tool_error if isinstance(operation, ToolExecution) else None
    kind = operation.error_type
    if kind is None:
        return words
    words = words or operation.error_message
    if kind in DENIALS:
        return denial_text(kind, words)
    if not words:
        return kind
    name = kind.rpartition(".")[2]
    is_class = name.isidentifier() and name[0].isupper() and not name.isupper()
    return f"{kind}: {words}" if is_class and not words.startswith((kind, name)) else words


def has_result(operation: Operation) -> bool:
    return isinstance(operation, (ToolExecution, McpRequest)) and operation.result is not UNSET


def _only_requests(node: Node) -> bool:
    """True for a tool span below the model's without an outcome: AgentOps starts one for each tool
    call of an answer."""
    operation = node.operation
    return (
        node.parent is not None
        and isinstance(node.parent.operation, Inference)
        and not has_result(operation)
        and operation.error_type is None
    )


def reranks(operation: Retrieval) -> bool:
    """True for a span that only reorders retrieved documents, which is no second retrieval."""
    return operation.extra.get(openinference.SPAN_KIND) == openinference.RERANKER


def is_transfer(call: ToolCall) -> bool:
    return not call.dropped and call.name is not None and transfers(call.name, call.arguments)
