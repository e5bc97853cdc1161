"""The steps by which an agent hands over to another, from transfers and nested runs."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from functools import cached_property

from msgspec import UNSET

from agentool_otel.model.messages import text_of
from agentool_otel.model.operations import AgentInvocation, ToolExecution, WorkflowInvocation
from agentool_otel.reading.rebuild.lineage import Nearest
from agentool_otel.reading.rebuild.steps.delegation import delegate, task_in
from agentool_otel.reading.rebuild.steps.handoff_rules import (
    announced,
    plain_name,
    same_name,
    spelled,
    transfer_target,
    within_transfer,
)
from agentool_otel.reading.rebuild.steps.order import Draft, Drafts
from agentool_otel.reading.rebuild.steps.requests import ToolCall, Waiting
from agentool_otel.reading.rebuild.steps.tool_calls import ToolCalls, tools_around
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import index, plain, put, set_known
from agentool_otel.reading.rebuild.wrappers import run_name
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["HandoffSteps"]


class HandoffSteps:
    """Builds the handoffs of one run."""

    def __init__(self, root: Node | None, nodes: list[Node], drafts: Drafts, calls: ToolCalls):
        """
        Args:
            root: the span of the run, if it has one.
            nodes: what is inside it.
            drafts: takes the steps.
            calls: those of the run, among which are the calls of transfer tools.
        """
        self._root = root
        self._nodes = nodes
        self._drafts = drafts
        self._calls = calls
        self._handed = _Handed()
        self.merged: set[int | None] = set()
        """The places on the timeline that belong to another step."""
        self.subruns: list[tuple[Node, Draft | None]] = []
        """Nested runs and the handoff step that leads to each, if one does."""
        self._entered: set[str] = set()
        """The names of the nested runs, as models spell them."""

    def read_transfer(self, node: Node, operation: ToolExecution) -> None:
        """Add the handoff of a transfer tool's span."""
        if within_transfer(node):
            self._name_target(node, operation)
            self._calls.repeated[node] = "a transfer within another: the outer one counts"
            return
        call = self._calls.matching(operation.name, operation.call_id, operation.arguments)
        target = operation.transfer_target
        if call is None:
            call = self._leading_to(target)
        if call is not None:
            call.dropped = True
            if call.result_step is not None:  # from the output of the whole run
                self._drafts.leave_out(call.result_step)
                call.result_step = None
        draft = self._drafts.add("handoff", node.start_ns, 3, node)
        if target is None:
            name = (call and call.name) or operation.name
            arguments = operation.arguments
            if arguments is UNSET and call is not None:
                arguments = call.arguments
            target = spelled(transfer_target(name, arguments), node)
            draft.note("inferred", "to_agent", gen_ai.TOOL_NAME, "name of the tool")
        set_known(draft.body, "to_agent", target)
        set_known(draft.body, "message", operation.transfer_message)
        self._drafts.place(draft, node, call.requested_by if call is not None else None)
        self.merged.add(index(node, agentool.STEP_RESULT_INDEX))
        self._handed.add(target, draft)

    def _leading_to(self, target: str | None) -> ToolCall | None:
        """Return the first call that requests a transfer, to that target if it is known."""
        key = None if target is None else plain_name(target)
        return self._transfers[key].first() if key in self._transfers else None

    @cached_property
    def _transfers(self) -> dict[str | None, Waiting]:
        """The transfers that models requested and no span executes, by target; None for all."""
        transfers: dict[str | None, Waiting] = defaultdict(lambda: Waiting(_is_open))
        for call in self._calls.transfers():
            transfers[None].add(call)
            target = transfer_target(call.name or "", call.arguments)
            if target is not None:
                transfers[plain_name(target)].add(call)
        return transfers

    def _name_target(self, node: Node, operation: ToolExecution) -> None:
        """Give a transfer that knows no target that of another tracer's span inside it."""
        target = operation.transfer_target
        if target is None:
            target = spelled(transfer_target(operation.name, operation.arguments), node)
        for up in tools_around(node):
            self._handed.name(up, target)

    def read_delegation(self, call: ToolCall, node: Node) -> None:
        """Add the handoff beside a call that delegates to another agent."""
        arguments = plain(call.arguments)
        target = delegate(call.name or "", arguments)
        if target is None:
            return
        if call.node is None and plain_name(target) in self._entered:
            return  # the nested run is that handoff
        draft = self._drafts.add(
            "handoff", node.start_ns if call.node else self._drafts.output_time(node), 3, node
        )
        target = spelled(target, node)
        set_known(draft.body, "to_agent", target)
        put(draft.body, "message", task_in(arguments))
        draft.note("inferred", "type", None, "name and arguments of the tool")
        self._handed.add(target, draft)

    def read_message(self, call: ToolCall) -> None:
        """Add the handoff that a model requested and no span executes, not even one inside a nested
        run: a tracer may have put the model call of an agent beside its run."""
        assert call.name is not None
        target = spelled(transfer_target(call.name, call.arguments), call.requested_by)
        if self._is_executed_inside(call, target):
            return
        time_ns = self._drafts.output_time(call.requested_by)
        draft = self._drafts.add("handoff", time_ns, 3, call.requested_by)
        set_known(draft.body, "to_agent", target)
        draft.note("inferred", "to_agent", gen_ai.OUTPUT_MESSAGES, "name of the tool")

    def _is_executed_inside(self, call: ToolCall, target: str | None) -> bool:
        """Return whether a transfer in a nested run is the one that a model requested: by id or,
        where one of the two has none, by target. Nested are runs below this one that are not part
        of it.
        """
        if self._root is None:
            return False
        keys: list[tuple[str, str]] = [("id", call.id)] if call.id is not None else []
        if target is not None:
            keys.append(("to" if call.id is None else "bare", plain_name(target)))
        below = self._root.lineage.count
        return any(
            below(_transfer_keys, key, self._root) > self._own_transfers[key] for key in keys
        )

    @cached_property
    def _own_transfers(self) -> Counter[tuple[str, str]]:
        return Counter(key for node in self._nodes for key in set(_transfer_keys(node)))

    def merge_nested_runs(self) -> None:
        """Make each nested run a handoff, unless a transfer leads to it already."""
        entered: Node | None = None
        for node in self._nodes:
            if not node.is_run:
                continue
            draft = self._announcing(node) or self._inferred_handoff(node, entered)
            self.subruns.append((node, draft))
            if (name := run_name(node)) is not None:
                self._entered.add(plain_name(name))
            entered = node

    def _announcing(self, node: Node) -> Draft | None:
        """Return the transfer that led to a nested run, and count the two as one step."""
        name = run_name(node)
        handoff = self._handed.take(node, name)
        if handoff is None:
            return None
        draft = handoff.draft
        if handoff.target is None:
            set_known(draft.body, "to_agent", name)
        place_of_run = index(node, agentool.STEP_INDEX)
        self.merged.add(place_of_run)
        if draft.index is None:
            draft.index = place_of_run
        return draft

    def _inferred_handoff(self, node: Node, before: Node | None) -> Draft | None:
        """Return the step by which an agent hands over to one below it.

        A workflow's first agent is no handoff. After it, each other agent takes over from the
        previous one, which may have its own handoff for that.
        """
        rule = "nested run"
        if self._root is not None and isinstance(self._root.operation, WorkflowInvocation):
            name = run_name(node)
            if before is None or same_name(run_name(before), name) or announced(node, before):
                return None
            rule = "another agent than the one before"
        operation = node.operation
        assert isinstance(operation, (AgentInvocation, WorkflowInvocation))
        draft = self._drafts.add("handoff", node.start_ns, 3, node)
        draft.index = index(node, agentool.STEP_INDEX)
        set_known(draft.body, "to_agent", run_name(node))
        if operation.input:
            set_known(draft.body, "message", text_of(operation.input[-1]))
        draft.note("inferred", "type", gen_ai.OPERATION_NAME, rule)
        return draft


class _Handoff:
    """A handoff whose run has not been reached."""

    __slots__ = ("draft", "number", "target")

    def __init__(self, number: int, target: str | None, draft: Draft):
        self.number = number
        self.target = target
        self.draft = draft


class _Handed:
    """The handoffs whose run has not been reached, in order."""

    def __init__(self) -> None:
        self._count = 0
        self._taken: set[_Handoff] = set()
        self._by_name: dict[str, deque[_Handoff]] = defaultdict(deque)
        self._by_node: dict[Node, deque[_Handoff]] = defaultdict(deque)
        self._around: Nearest | None = None

    def add(self, target: str | None, draft: Draft) -> None:
        handoff = _Handoff(self._count, target, draft)
        self._count += 1
        if draft.node is not None:
            self._by_node[draft.node].append(handoff)
        if target is not None:
            self._by_name[plain_name(target)].append(handoff)

    def name(self, node: Node, target: str | None) -> None:
        """Give the handoffs of a span that know no target that of a span inside it."""
        for handoff in self._by_node.get(node, ()) if target is not None else ():
            if handoff.target is None and target is not None:
                handoff.target = handoff.draft.body["to_agent"] = target
                self._by_name[plain_name(target)].append(handoff)

    def take(self, run: Node, name: str | None) -> _Handoff | None:
        """Return the handoff that led to a run, by a span around it or by name, the first of the
        two, and leave it out. None is added any more."""
        if self._around is None:
            self._around = Nearest(lambda item: item.is_run or self._first_of(item) is not None)
        around = self._around.at(run.parent)
        found = [
            handoff
            for handoff in (
                self._first_of(around) if around is not None else None,
                self._first(self._by_name.get(plain_name(name))) if name is not None else None,
            )
            if handoff is not None
        ]
        if not found:
            return None
        first = min(found, key=lambda handoff: handoff.number)
        self._taken.add(first)
        return first

    def _first_of(self, node: Node) -> _Handoff | None:
        return self._first(self._by_node.get(node))

    def _first(self, handoffs: deque[_Handoff] | None) -> _Handoff | None:
        while handoffs and handoffs[0] in self._taken:
            handoffs.popleft()
        return handoffs[0] if handoffs else None


def _transfer_keys(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the keys that identify a transfer to a known agent."""
    operation = node.operation
    if isinstance(operation, ToolExecution) and operation.transfer_target is not None:
        target = plain_name(operation.transfer_target)
        yield "to", target
        if operation.call_id is None:
            yield "bare", target
        else:
            yield "id", operation.call_id


def _is_open(call: ToolCall) -> bool:
    return call.node is None and not call.dropped
