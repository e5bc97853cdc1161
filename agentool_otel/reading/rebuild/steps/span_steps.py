"""Steps from the spans of a run: executed tools, memory, retrieval and transfers."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import Any

from msgspec import UNSET

from agentool_otel.model.evidence import is_only_value
from agentool_otel.model.operations import (
    Inference,
    McpRequest,
    MemoryOperation,
    Retrieval,
    ToolExecution,
)
from agentool_otel.reading.rebuild.steps.delegation import may_delegate
from agentool_otel.reading.rebuild.steps.handoff_rules import transfers
from agentool_otel.reading.rebuild.steps.handoff_steps import HandoffSteps
from agentool_otel.reading.rebuild.steps.order import Drafts
from agentool_otel.reading.rebuild.steps.requests import ToolCall
from agentool_otel.reading.rebuild.steps.tool_calls import (
    ToolCalls,
    call_above,
    call_below,
    is_inside_step,
    reranks,
)
from agentool_otel.reading.rebuild.steps.tool_matching import (
    Match,
    Results,
    key_without_id,
    matches,
)
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import arguments_text, index, put, set_known
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["SpanSteps"]


class SpanSteps:
    """Reads the spans of one run, except those of model calls."""

    def __init__(
        self,
        nodes: list[Node],
        inferences: list[Node],
        drafts: Drafts,
        calls: ToolCalls,
        handoffs: HandoffSteps,
    ):
        self._nodes = nodes
        self._drafts = drafts
        self._calls = calls
        self._handoffs = handoffs
        self._matches: dict[Node, Match] = {}
        """The calls that tool spans without a call id execute."""
        self._results = Results(inferences)
        self._matched: set[tuple[str | None, str | None]] = set()
        """The tools, with arguments or None, whose spans of this kind have been matched."""

    def read(self, node: Node) -> None:
        operation = node.operation
        if type(operation) is Inference:
            return
        if isinstance(operation, ToolExecution):
            self._read_execution(node, operation)
        elif isinstance(operation, McpRequest):
            if operation.method == "tools/call":
                self._read_mcp(node, operation)
        elif isinstance(operation, MemoryOperation):
            self._read_memory(node, operation)
        elif isinstance(operation, Retrieval) and not reranks(operation):
            self._read_retrieval(node, operation)

    def _read_execution(self, node: Node, operation: ToolExecution) -> None:
        name, target = operation.name, operation.transfer_target
        if target is not None or transfers(name, operation.arguments):
            self._handoffs.read_transfer(node, operation)
            return
        if (inner := call_below(node)) is not None:
            how = "a tool call around another of the same: the inner one counts"
            self._calls.repeat(inner, node, operation, how)
            return
        above = call_above(node)
        if above is not None and (
            isinstance(above.operation, McpRequest) or is_inside_step(node, above)
        ):
            self._calls.repeat(above, node, operation, _seen_again(above, "further down"))
            return
        self._read_tool(node, operation, above)
        if may_delegate(name) and (call := self._calls.run_by(node)):
            self._handoffs.read_delegation(call, node)

    def read_without_call(self) -> None:
        """Read the spans that repeat one of which no call has come."""
        for node in self._calls.without_call():
            operation = node.operation
            assert isinstance(operation, (ToolExecution, McpRequest))
            self._read_tool(node, operation, None)

    def _read_retrieval(self, node: Node, operation: Retrieval) -> None:
        draft = self._drafts.add("memory_read", node.start_ns, 3, node)
        draft.index = index(node, agentool.STEP_INDEX)
        set_known(draft.body, "query", operation.query)
        set_known(draft.body, "results", operation.documents)
        draft.note("normalised", "type", gen_ai.OPERATION_NAME, "retrieval")

    def _read_tool(
        self, node: Node, operation: ToolExecution | McpRequest, above: Node | None
    ) -> None:
        """Read the span of a tool, which is of the same call as the one above it where no model
        requested another call by then."""
        name: str | None
        call_id: str | None
        call_id = operation.call_id
        name = operation.name if isinstance(operation, ToolExecution) else operation.tool_name
        call = None
        if call_id is None:
            call = self._matched_call(node, name, operation.arguments)
        if call is None:
            call = self._calls.matching(name, call_id, operation.arguments)
        if call is None and call_id is None:
            call = self._calls.requested_by_span(name, operation.arguments)
        if call is None or _is_requested_later(call, node):
            beside = self._calls.repeated_span(node, call_id) if above is None else None
            if (other := above or beside) is not None:
                if call is not None:
                    call.match_rule = None
                where = "beside it" if above is None else "further down"
                self._calls.repeat(other, node, operation, _seen_again(other, where))
                return
        if call is None:
            call = ToolCall(name, call_id, UNSET)
            self._calls.add(call)
        self._calls.run(call, node, call_id)
        if name is not None:
            call.name = name
        if operation.arguments is not UNSET and not is_only_value(
            operation.arguments, call.arguments
        ):
            call.arguments = operation.arguments

    def _matched_call(self, node: Node, name: str | None, arguments: Any) -> ToolCall | None:
        """Return the call that a tool span without an id executes, if several are possible."""
        key = (name, None if arguments is UNSET else arguments_text(arguments))
        if key not in self._matched and self._calls.several_wait(name):
            self._matched.add(key)
            waiting = [
                item
                for item in self._calls.waiting(name, arguments)
                if item.id is None or item.id not in self._executed_ids
            ]
            if arguments is UNSET or len(waiting) > 1:
                self._matches.update(matches(self._without_id[key], waiting, self._results))
        call, rule = self._matches.pop(node, (None, None))
        if call is None or call.node is not None:
            return None
        call.match_rule = rule
        return call

    @cached_property
    def _executed_ids(self) -> set[str | None]:
        return {getattr(node.operation, "call_id", None) for node in self._nodes}

    @cached_property
    def _without_id(self) -> dict[tuple[str | None, str | None], list[Node]]:
        spans: dict[tuple[str | None, str | None], list[Node]] = defaultdict(list)
        for node in self._nodes:
            if (key := key_without_id(node)) is not None:
                spans[key].append(node)
        return spans

    def _read_mcp(self, node: Node, operation: McpRequest) -> None:
        if (above := call_above(node)) is not None:
            self._calls.repeat(above, node, operation, _seen_again(above, "further down"))
        else:
            self._read_tool(node, operation, None)

    def _read_memory(self, node: Node, operation: MemoryOperation) -> None:
        kind = "memory_read" if operation.reads else "memory_write"
        draft = self._drafts.add(kind, node.start_ns, 3, node)
        self._drafts.place(draft, node, None)
        if operation.reads:
            set_known(draft.body, "query", operation.query)
            set_known(draft.body, "results", operation.records)
            put(draft.body, "results", operation.results)
        else:
            set_known(draft.body, "content", operation.records)
            put(draft.body, "content", operation.content)
            set_known(draft.body, "key", operation.record_id)


def _is_requested_later(call: ToolCall, node: Node) -> bool:
    """Return whether a model requested a call after a span had begun: servers reuse ids."""
    request = call.requested_by
    return request is not None and (request.start_ns or 0) > (node.start_ns or 0)


def _seen_again(other: Node, where: str) -> str:
    return f"the call of span {other.span.span_id[:8]}, seen again {where}"
