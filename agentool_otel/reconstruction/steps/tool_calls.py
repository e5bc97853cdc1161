"""The tool calls of a run while its spans and messages are read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from agentool_otel.ground.json_codec import canonical, loads
from agentool_otel.model.messages import only_block
from agentool_otel.model.operations import (
    Inference,
    McpRequest,
    Operation,
    Retrieval,
    ToolExecution,
)
from agentool_otel.reconstruction.steps.handoff_rules import same_name, transfers
from agentool_otel.reconstruction.steps.order import Draft
from agentool_otel.reconstruction.tree import Node
from agentool_otel.reconstruction.values import plain
from agentool_otel.semconv import agentool, openinference

__all__ = [
    "ToolCall",
    "ToolCalls",
    "call_above",
    "call_below",
    "call_beside",
    "has_result",
    "is_only_value",
    "is_transfer",
    "parsed",
    "reranks",
    "tool_error",
    "unpacked",
]


class ToolCall(msgspec.Struct, eq=False):
    """One tool call, from all spans and messages read so far."""

    name: str | None
    id: str | None
    arguments: Any
    requested_by: Node | None = None
    """The model call that requested it."""
    node: Node | None = None
    """The tool span that executes it."""
    repeats: tuple[ToolExecution | McpRequest, ...] = ()
    """Other spans of the same call, such as an MCP request below the tool's span."""
    message_result: Any = UNSET
    """The result sent to the model, where the span has none."""
    match_rule: str | None = None
    """The rule that matched the span to this call, where another call was possible."""
    dropped: bool = False
    """Whether it turned out to be a transfer."""
    call_step: Draft | None = None
    result_step: Draft | None = None

    def first_known(self, value: Any, member: str) -> Any:
        """Return a value of the call's own span, or where it has none the member of the first
        repeat that has one."""
        if value is not UNSET or not self.repeats:
            return value
        values = (getattr(it, member) for it in self.repeats)
        return next((it for it in values if it is not UNSET), UNSET)


class ToolCalls(list[ToolCall]):
    """The tool calls of one run, in the order in which they were read."""

    def __init__(self) -> None:
        super().__init__()
        self.by_id: dict[str, list[ToolCall]] = defaultdict(list)
        self._requested: dict[str | None, list[ToolCall]] = defaultdict(list)
        """The calls that models requested, by tool name."""
        self._executed: dict[Node, ToolCall] = {}
        """The call that each tool span executes."""
        self.nameless: list[ToolCall] = []
        """The calls without an id, from the model that requested them or from their span."""
        self._only_requested: list[ToolCall] = []
        """The calls whose span records the request and no outcome."""

    def add(self, call: ToolCall) -> None:
        self.append(call)
        if call.id is not None:
            self.by_id[call.id].append(call)

    def request(self, call: ToolCall) -> None:
        """Add a call that a model requested."""
        self._requested[call.name].append(call)
        self.add(call)

    def note_nameless(self) -> None:
        """Find the calls that have no id, now that the spans are read."""
        self.nameless = [it for it in self if it.id is None and it.requested_by is not None]

    def name(self, node: Node, place: int, part: dict[str, Any], call_id: str | None) -> None:
        """Set the id of a call from the history of a later model call.

        Google's models give their calls no ids. ADK adds them on receipt, and ADK for Java until
        0.5 records them in the history alone. An equal call that precedes the request in the
        history is another one.
        """
        if call_id is None or call_id in self.by_id:
            return
        wanted = canonical(parsed(part.get("arguments")))
        for call in self.nameless:
            request = call.requested_by.operation if call.requested_by is not None else None
            if call.requested_by is node or not isinstance(request, Inference):
                continue
            if call.name != part.get("name") or call.arguments is UNSET:
                continue
            new = place >= len(request.input or ())
            if new and canonical(plain(call.arguments)) == wanted:
                call.id = call_id
                self.by_id[call_id].append(call)
                self.nameless.remove(call)
                return

    def waits_without_id(self, name: str) -> bool:
        """Whether a model requested a call of a tool without giving the call an id."""
        return any(call.id is None for call in self._requested.get(name, ()))

    def run(self, call: ToolCall, node: Node, call_id: str | None) -> None:
        """Record that a tool span executes a call, and take the span's id if the call has none."""
        call.node = node
        self._executed[node] = call
        if _only_requests(node):
            self._only_requested.append(call)
        if call.id is None and call_id is not None:
            call.id = call_id
            self.by_id[call_id].append(call)

    def join(self, requested: ToolCall, executed: ToolCall, rule: str) -> None:
        """Make one call of a requested one and of one that is only known by its span.

        Args:
            requested: the call that stays.
            executed: the call that is left out.
            rule: why they are one.
        """
        assert executed.node is not None
        self.run(requested, executed.node, None)
        requested.repeats += executed.repeats
        requested.match_rule = rule
        self.remove(executed)

    def run_by(self, node: Node) -> ToolCall | None:
        """Return the call that a tool span executes."""
        return self._executed.get(node)

    def waiting(self, name: str | None) -> list[ToolCall]:
        """Return the calls of a tool that models requested and no span executes yet."""
        return [it for it in self._requested.get(name, ()) if it.node is None and not it.dropped]

    def matching(self, name: str | None, call_id: str | None, arguments: Any) -> ToolCall | None:
        """Return the requested call that a span executes: by id, else by arguments, else the first
        of that tool."""
        if call_id is not None:
            for call in self.by_id.get(call_id, ()):
                if call.node is None:
                    return call
        if not self._requested.get(name):
            return None
        waiting = self._requested[name] = self.waiting(name)
        if call_id is not None:  # one side has the id, the other may have lost it
            waiting = [call for call in waiting if call.id is None]
        if arguments is UNSET:
            return waiting[0] if waiting else None
        return _with_arguments(waiting, arguments, call_id)

    def requested_by_span(self, name: str | None, arguments: Any) -> ToolCall | None:
        """Return the call that one span requests, below the model's, and another one executes."""
        if arguments is UNSET or not self._only_requested:
            return None
        wanted = canonical(plain(arguments))
        for call in self._only_requested:
            known = call.arguments
            if call.name == name and known is not UNSET and canonical(plain(known)) == wanted:
                self._only_requested.remove(call)
                return call
        return None

    def repeated_span(self, node: Node, call_id: str | None) -> Node | None:
        """Return the earlier span of the call that a tool span repeats, if it repeats one."""
        if (above := call_above(node)) is not None or call_id is None:
            return above
        known = (call.node for call in self.by_id.get(call_id, ()) if call.node is not None)
        return call_beside(node, known)

    def repeat(self, above: Node, node: Node, operation: ToolExecution | McpRequest) -> None:
        """Add a span to the call of the span above it, or beside it.

        The span that has a place on the run's timeline is the call's own, whichever was read first.
        """
        for up in (above, *above.ancestors()):
            if (call := self.run_by(up)) is not None:
                if call.node is not None and _is_placed(node) and not _is_placed(call.node):
                    other = call.node.operation
                    if isinstance(operation, ToolExecution) and isinstance(other, ToolExecution):
                        self.run(call, node, operation.call_id)
                        if operation.arguments is not UNSET:
                            call.arguments = operation.arguments
                        operation = other
                call.repeats += (operation,)
                return


def _with_arguments(
    waiting: list[ToolCall], arguments: Any, call_id: str | None
) -> ToolCall | None:
    if not waiting:
        return None
    wanted = canonical(plain(arguments))
    for call in waiting:
        if call.arguments is not UNSET and canonical(call.arguments) == wanted:
            return call
        if is_only_value(arguments, call.arguments):
            return call
    # LlamaIndex records a streamed call before its arguments have arrived.
    empty = [call for call in waiting if call.id is None and plain(call.arguments) == {}]
    return empty[0] if call_id is None and len(empty) == 1 else None


def call_above(node: Node) -> Node | None:
    """Return the span around a tool span that is of the same call, if there is one.

    That is any tool around an MCP request, an MCP request around the tool it asks for, which a
    server traces as well, a tool around a span with the same call id or with neither name nor id,
    which is a part of its execution, and a tool around one without an id that differs in nothing,
    which another tracer has recorded.
    """
    up = node.parent
    while up is not None and not up.is_run:
        if _of_one_call(node.operation, up.operation) or _of_two_tracers(node, up):
            return up
        up = up.parent
    return None


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


def call_beside(node: Node, others: Iterable[Node]) -> Node | None:
    """Return the span of the same call as a later one, among earlier tool spans with its call id:
    the two overlap, and no attribute of them differs.

    Servers reuse ids, even for calls beside each other, so an equal id is not enough. A span with a
    place of its own on a run's timeline is a call of its own.
    """
    if _is_placed(node):
        return None
    return next((other for other in others if _overlap(other, node) and _agree(other, node)), None)


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
        or canonical(plain(one.arguments)) == canonical(plain(other.arguments))
    )


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
    """Return what a tool failed with, in words or, where it has none, by its class."""
    words = operation.tool_error if isinstance(operation, ToolExecution) else None
    if words or operation.error_type is None:
        return words
    return operation.error_message or operation.error_type


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


def is_only_value(text: Any, arguments: Any) -> bool:
    """Whether a span has only the value of a call's single argument, as LangChain's spans do."""
    return (
        isinstance(text, str)
        and isinstance(arguments, Mapping)
        and len(arguments) == 1
        and next(iter(arguments.values())) == text
    )


def is_transfer(call: ToolCall) -> bool:
    return not call.dropped and call.name is not None and transfers(call.name, call.arguments)
