"""The steps by which an agent hands over to another, from transfers and nested runs."""

from __future__ import annotations

from functools import cached_property

from msgspec import UNSET

from agentool_otel.model.messages import text_of
from agentool_otel.model.operations import AgentInvocation, ToolExecution, WorkflowInvocation
from agentool_otel.reconstruction.steps.delegation import below, delegate, task_in
from agentool_otel.reconstruction.steps.handoff_rules import (
    announced,
    same_name,
    spelled,
    transfer_target,
    within_transfer,
)
from agentool_otel.reconstruction.steps.order import Draft, Drafts
from agentool_otel.reconstruction.steps.tool_calls import ToolCall, ToolCalls, is_transfer
from agentool_otel.reconstruction.tree import Node
from agentool_otel.reconstruction.values import index, plain, put, set_known
from agentool_otel.reconstruction.wrappers import run_name
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
        self._handed: list[tuple[str | None, Draft]] = []
        """Target and step of the handoffs whose run has not been reached."""
        self.merged: set[int | None] = set()
        """The places on the timeline that belong to another step."""
        self.subruns: list[tuple[Node, Draft | None]] = []
        """Nested runs and the handoff step that leads to each, if one does."""

    def read_transfer(self, node: Node, operation: ToolExecution) -> None:
        """Add the handoff of a transfer tool's span."""
        if within_transfer(node):
            self._name_target(node, operation)
            return
        call = self._calls.matching(operation.name, operation.call_id, operation.arguments)
        target = operation.transfer_target
        if call is None:
            call = next((it for it in self._calls if _leads_to(it, target)), None)
        if call is not None:
            call.dropped = True
            if call.result_step is not None:  # from the output of the whole run
                self._drafts.remove(call.result_step)
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
        self._handed.append((target, draft))

    def _name_target(self, node: Node, operation: ToolExecution) -> None:
        """Give a transfer that knows no target that of another tracer's span inside it."""
        target = operation.transfer_target
        if target is None:
            target = spelled(transfer_target(operation.name, operation.arguments), node)
        above = {id(up) for up in node.ancestors()}
        for place, (known, draft) in enumerate(self._handed):
            if known is None and id(draft.node) in above:
                set_known(draft.body, "to_agent", target)
                self._handed[place] = (target, draft)

    def read_delegation(self, call: ToolCall, node: Node) -> None:
        """Add the handoff beside a call that delegates to another agent."""
        arguments = plain(call.arguments)
        target = delegate(call.name or "", arguments)
        if target is None:
            return
        if call.node is None and any(same_name(target, run_name(it)) for it, _ in self.subruns):
            return  # the nested run is that handoff
        draft = self._drafts.add(
            "handoff", node.start_ns if call.node else self._drafts.output_time(node), 3, node
        )
        target = spelled(target, node)
        set_known(draft.body, "to_agent", target)
        put(draft.body, "message", task_in(arguments))
        draft.note("inferred", "type", None, "name and arguments of the tool")
        self._handed.append((target, draft))

    def read_message(self, call: ToolCall) -> None:
        """Add the handoff that a model requested and no span executes, not even one inside a nested
        run: a tracer may have put the model call of an agent beside its run."""
        assert call.name is not None
        target = spelled(transfer_target(call.name, call.arguments), call.requested_by)
        if any(_executes(it, call, target) for it in self._nested_transfers):
            return
        time_ns = self._drafts.output_time(call.requested_by)
        draft = self._drafts.add("handoff", time_ns, 3, call.requested_by)
        set_known(draft.body, "to_agent", target)
        draft.note("inferred", "to_agent", gen_ai.OUTPUT_MESSAGES, "name of the tool")

    @cached_property
    def _nested_transfers(self) -> list[ToolExecution]:
        inside = (it.operation for run in self._nodes if run.is_run for it in below(run))
        return [
            it for it in inside if isinstance(it, ToolExecution) and it.transfer_target is not None
        ]

    def merge_nested_runs(self) -> None:
        """Make each nested run a handoff, unless a transfer leads to it already."""
        entered: Node | None = None
        for node in self._nodes:
            if not node.is_run:
                continue
            draft = self._announcing(node) or self._inferred_handoff(node, entered)
            self.subruns.append((node, draft))
            entered = node

    def _announcing(self, node: Node) -> Draft | None:
        """Return the transfer that led to a nested run, and count the two as one step."""
        name = run_name(node)
        above = {id(up) for up in node.ancestors()}
        for place, (target, draft) in enumerate(self._handed):
            if (draft.node is not None and id(draft.node) in above) or same_name(target, name):
                if target is None:
                    set_known(draft.body, "to_agent", name)
                place_of_run = index(node, agentool.STEP_INDEX)
                self.merged.add(place_of_run)
                if draft.index is None:
                    draft.index = place_of_run
                del self._handed[place]
                return draft
        return None

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


def _executes(transfer: ToolExecution, call: ToolCall, target: str | None) -> bool:
    """Whether a transfer is the one that a model requested."""
    if transfer.call_id is not None and call.id is not None:
        return transfer.call_id == call.id
    return same_name(transfer.transfer_target, target)


def _leads_to(call: ToolCall, target: str | None) -> bool:
    """Whether a call requests a transfer, to that target if it is known."""
    if call.node is not None or call.dropped or not is_transfer(call):
        return False
    return target is None or same_name(target, transfer_target(call.name or "", call.arguments))
