"""Tool calls in the making, and what their spans and messages say of them."""

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
from agentool_otel.reconstruction.steps.handoffs import transfers
from agentool_otel.reconstruction.steps.order import Draft
from agentool_otel.reconstruction.tree import Node
from agentool_otel.reconstruction.values import plain
from agentool_otel.semconv import agentool, openinference

__all__ = [
    "ToolCall",
    "ToolCalls",
    "call_above",
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
    """One tool call, whatever has told of it so far."""

    name: str | None
    id: str | None
    arguments: Any
    asked_by: Node | None = None
    node: Node | None = None
    again: tuple[ToolExecution | McpRequest, ...] = ()
    """The same call as spans further down say it."""
    told: Any = UNSET
    """What the model was told of it, where its span has no result."""
    guessed: str | None = None
    """By which rule its span is of this call, where it could be of another."""
    dropped: bool = False
    """Whether it turned out to be something else than a call: a transfer."""
    call: Draft | None = None
    result: Draft | None = None


class ToolCalls(list[ToolCall]):
    """The tool calls of one run, in the order in which they were told of."""

    def __init__(self) -> None:
        super().__init__()
        self.by_id: dict[str, list[ToolCall]] = defaultdict(list)
        self._asked_for: dict[str | None, list[ToolCall]] = defaultdict(list)
        """By name, the calls models asked for."""
        self._run_by: dict[int, ToolCall] = {}
        """By the id() of its node, the call a tool span executes."""
        self.nameless: list[ToolCall] = []
        """The calls that got no id from the model that asked for them, nor from their span."""
        self._noted: list[ToolCall] = []
        """The calls of which a span tells no more than that the model asked for them."""

    def add(self, call: ToolCall) -> None:
        self.append(call)
        if call.id is not None:
            self.by_id[call.id].append(call)

    def ask(self, call: ToolCall) -> None:
        """Add a call that a model asked for."""
        self._asked_for[call.name].append(call)
        self.add(call)

    def note_nameless(self) -> None:
        """Find the calls that have no id, now that the spans are read."""
        self.nameless = [it for it in self if it.id is None and it.asked_by is not None]

    def name(self, node: Node, place: int, part: dict[str, Any], call_id: str | None) -> None:
        """Give a call the id under which a later model call repeats it.

        ADK gives one to the calls of Google's models, which have none, when they have come; ADK for
        Java until 0.5 tells it in the history alone. A call like it that stands in the history
        before the answer that asked for it is another one.
        """
        if call_id is None or call_id in self.by_id:
            return
        told = canonical(parsed(part.get("arguments")))
        for call in self.nameless:
            before = call.asked_by.operation if call.asked_by is not None else None
            if call.asked_by is node or not isinstance(before, Inference):
                continue
            if call.name != part.get("name") or call.arguments is UNSET:
                continue
            new = place >= len(before.input or ())
            if new and canonical(plain(call.arguments)) == told:
                call.id = call_id
                self.by_id[call_id].append(call)
                self.nameless.remove(call)
                return

    def waits_without_id(self, name: str) -> bool:
        """Whether a model asked for a call of a tool without giving the call an id."""
        return any(call.id is None for call in self._asked_for.get(name, ()))

    def run(self, call: ToolCall, node: Node, call_id: str | None) -> None:
        """Let a tool span execute a call, and name it where nobody else did."""
        call.node = node
        self._run_by[id(node)] = call
        if _only_asks(node):
            self._noted.append(call)
        if call.id is None and call_id is not None:
            call.id = call_id
            self.by_id[call_id].append(call)

    def run_by(self, node: Node) -> ToolCall | None:
        """Return the call that a tool span executes."""
        return self._run_by.get(id(node))

    def waiting(self, name: str | None) -> list[ToolCall]:
        """Return the calls of a tool that models asked for and no span executes yet."""
        return [it for it in self._asked_for.get(name, ()) if it.node is None and not it.dropped]

    def matching(self, name: str | None, call_id: str | None, arguments: Any) -> ToolCall | None:
        """Find the call a model asked for that a span executes: by id, else by arguments, else by
        the order in which calls of one name are asked for."""
        if call_id is not None:
            for call in self.by_id.get(call_id, ()):
                if call.node is None:
                    return call
        asked = self._asked_for.get(name)
        if not asked:
            return None
        waiting = [call for call in asked if call.node is None and not call.dropped]
        self._asked_for[name] = waiting
        if call_id is not None:  # one side has the id, the other may have lost it
            waiting = [call for call in waiting if call.id is None]
        if arguments is not UNSET and waiting:
            wanted = canonical(plain(arguments))
            for call in waiting:
                if call.arguments is not UNSET and canonical(call.arguments) == wanted:
                    return call
                if is_only_value(arguments, call.arguments):
                    return call
            # LlamaIndex tells a streamed call before its arguments have come.
            empty = [call for call in waiting if call.id is None and plain(call.arguments) == {}]
            if call_id is None and len(empty) == 1:
                return empty[0]
        elif waiting:
            return waiting[0]
        return None

    def asked_by_span(self, name: str | None, arguments: Any) -> ToolCall | None:
        """Find the call that a span below the model's has told of and another one executes."""
        if arguments is UNSET or not self._noted:
            return None
        wanted = canonical(plain(arguments))
        for call in self._noted:
            known = call.arguments
            if call.name == name and known is not UNSET and canonical(plain(known)) == wanted:
                self._noted.remove(call)
                return call
        return None

    def told_by(self, node: Node, call_id: str | None) -> Node | None:
        """Return the span that has told already of the call that a tool span is of."""
        if (above := call_above(node)) is not None or call_id is None:
            return above
        known = (call.node for call in self.by_id.get(call_id, ()) if call.node is not None)
        return call_beside(node, known)

    def repeat(self, above: Node, operation: ToolExecution | McpRequest) -> None:
        """Keep what a span says of a call that the span above it, or beside it, is of, too."""
        for up in (above, *above.ancestors()):
            if (call := self.run_by(up)) is not None:
                call.again += (operation,)
                return


def call_above(node: Node) -> Node | None:
    """Return the span around a tool span that is of the same call, if there is one.

    That is any tool around an MCP request, and a tool around one with the same call id, or with no
    name nor id: a part of its execution.
    """
    for up in node.ancestors():
        if _of_one_call(node.operation, up.operation):
            return up
        if up.is_run:
            break
    return None


_PLACES = frozenset({agentool.STEP_INDEX, agentool.STEP_RESULT_INDEX})


def call_beside(node: Node, others: Iterable[Node]) -> Node | None:
    """Return the one of some tool spans with the same call id that is of the same call as a later
    one: they overlap and contradict each other in nothing.

    Servers give an id again, also to calls beside each other; so the id alone does not tell. A span
    with a place of its own on a run's timeline tells of a call of its own.
    """
    if not _PLACES.isdisjoint(node.span.attributes):
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
    return one.name == other.name and (
        one.arguments is UNSET
        or other.arguments is UNSET
        or canonical(plain(one.arguments)) == canonical(plain(other.arguments))
    )


def _of_one_call(inner: Operation, outer: Operation) -> bool:
    if isinstance(inner, McpRequest):
        return isinstance(outer, (ToolExecution, McpRequest))
    if isinstance(inner, ToolExecution) and isinstance(outer, ToolExecution):
        return inner.call_id == outer.call_id if inner.call_id is not None else not inner.name
    return False


def parsed(arguments: Any) -> Any:
    """Arguments as an object where they are the JSON text of one, as providers send them."""
    if isinstance(arguments, str) and arguments[:1] == "{":
        try:
            return loads(arguments)
        except ValueError:
            return arguments
    return arguments


def unpacked(response: Any) -> Any:
    """A result as the tool gave it: providers take text only, so programs send JSON as text, or
    blocks of content, of which there is mostly one."""
    if isinstance(response, str):
        if response[:1] not in ("{", "["):
            return response
        try:
            value = loads(response)
        except ValueError:
            return response
        # A list of one object may be what the tool gave; a block of content names its type.
        return unpacked(value) if isinstance(value, list) and _names_type(value[:1]) else value
    block = only_block(response)
    return unpacked(block) if isinstance(block, str) else block


def _names_type(blocks: list[Any]) -> bool:
    return any(isinstance(block, dict) and "type" in block for block in blocks)


def tool_error(operation: Operation) -> str | None:
    if isinstance(operation, ToolExecution) and operation.tool_error is not None:
        return operation.tool_error
    if operation.error_type is None:
        return None
    return operation.error_message or operation.error_type


def has_result(operation: Operation) -> bool:
    return isinstance(operation, (ToolExecution, McpRequest)) and operation.result is not UNSET


def _only_asks(node: Node) -> bool:
    """True for a tool span inside the model's that tells of no outcome: AgentOps makes one for each
    tool call of an answer."""
    operation = node.operation
    return (
        node.parent is not None
        and isinstance(node.parent.operation, Inference)
        and not has_result(operation)
        and operation.error_type is None
    )


def reranks(operation: Retrieval) -> bool:
    """True for a span that only orders what was retrieved before: that is no second reading."""
    return operation.extra.get(openinference.SPAN_KIND) == openinference.RERANKER


def is_only_value(text: Any, arguments: Any) -> bool:
    """Whether a span has only the value of the one argument the model gave, as LangChain's has."""
    return (
        isinstance(text, str)
        and isinstance(arguments, Mapping)
        and len(arguments) == 1
        and next(iter(arguments.values())) == text
    )


def is_transfer(call: ToolCall) -> bool:
    return not call.dropped and call.name is not None and transfers(call.name, call.arguments)
