"""From the operations of one run to its ordered steps.

Every fact is one step, however many spans and messages repeat it: a tool call that is a message
part, a tool span and an MCP request is one call and one result.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.reading.rebuild.steps.call_steps import CallSteps
from agentool_otel.reading.rebuild.steps.handoff_steps import HandoffSteps
from agentool_otel.reading.rebuild.steps.message_steps import MessageSteps
from agentool_otel.reading.rebuild.steps.order import Draft, Drafts, in_order
from agentool_otel.reading.rebuild.steps.span_steps import SpanSteps
from agentool_otel.reading.rebuild.steps.timeline import steps_without_spans
from agentool_otel.reading.rebuild.steps.tool_aliases import join_other_arguments, join_other_names
from agentool_otel.reading.rebuild.steps.tool_calls import ToolCalls, has_result
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.semconv import agentool

__all__ = ["StepBuilder"]


class StepBuilder:
    """Builds the steps of one run from the nodes inside it and the model calls among them."""

    def __init__(self, root: Node | None, nodes: list[Node], inferences: list[Node]):
        self._root = root
        self._nodes = nodes
        self._inferences = inferences
        self._drafts = drafts = Drafts(root)
        self.calls = calls = ToolCalls()
        """The tool calls of the run."""
        self._handoffs = HandoffSteps(root, nodes, drafts, calls)
        self._messages = MessageSteps(root, inferences, drafts, calls)
        self._spans = SpanSteps(nodes, inferences, drafts, calls, self._handoffs)

    @property
    def subruns(self) -> list[tuple[Node, Draft | None]]:
        """Nested runs and the handoff step that leads to each, if one does."""
        return self._handoffs.subruns

    def build(self) -> list[dict[str, Any]]:
        """Return the steps as JSON objects, in order."""
        return [draft.finished(n) for n, draft in enumerate(self.ordered())]

    def ordered(self) -> list[Draft]:
        for node in self._inferences:
            self._messages.read_output(node)
        if self._root is not None and not self._inferences:
            self._messages.read_output(self._root)  # the only record of its thoughts and calls
        for node in self._nodes:
            self._spans.read(node)
        self._spans.read_without_call()
        join_other_names(self.calls, self._inferences)
        join_other_arguments(self.calls, self._inferences)
        self._messages.read_unplaced()
        self._handoffs.merge_nested_runs()
        if not self._spans_suffice():
            self.calls.note_nameless()
            for node in self._inferences:
                self._messages.read_input(node)
        if self._root is None or not self.calls:
            self._messages.read_unrecorded_calls()
        call_steps = CallSteps(self._drafts, self._handoffs)
        for call in self.calls:
            if not call.dropped:
                call_steps.add(call)
        self._messages.order_after_results()
        holders = [self._root] if self._root is not None else []
        holders += [node for node in self._nodes if node.span.name == agentool.STEPS_SPAN]
        drafts = self._drafts.kept()
        drafts = drafts + steps_without_spans(holders, drafts, self._handoffs.merged)
        return in_order(drafts, self._turns)

    def _turns(self) -> dict[Draft, int]:
        return {
            draft: n
            for n, call in enumerate(self.calls)
            for draft in (call.call_step, call.result_step)
            if draft is not None and call.requested_by is not None
        }

    def _spans_suffice(self) -> bool:
        """Return whether every call has a span with a result, and start times give the order. Then
        the histories sent to the model, which cost most to parse, have nothing to add.
        """
        for call in self.calls:
            if not call.dropped and (call.node is None or not has_result(call.node.operation)):
                return False
        starts = {node.start_ns for node in self._nodes}
        return None not in starts and len(starts) == len(self._nodes)
