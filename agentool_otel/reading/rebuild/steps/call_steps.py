"""The steps of tool calls: a request and its result, once everything of a run has been read."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from agentool_otel.model.operations import McpRequest, ToolExecution
from agentool_otel.reading.rebuild.steps.delegation import may_delegate
from agentool_otel.reading.rebuild.steps.handoff_rules import transfers
from agentool_otel.reading.rebuild.steps.handoff_steps import HandoffSteps
from agentool_otel.reading.rebuild.steps.order import OF_RESULT, RESULT, Drafts
from agentool_otel.reading.rebuild.steps.requests import ToolCall
from agentool_otel.reading.rebuild.steps.tool_calls import tool_error
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import millis, put
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["CallSteps"]


class CallSteps:
    """Makes the steps of tool calls, or the handoffs that take their place."""

    def __init__(self, drafts: Drafts, handoffs: HandoffSteps):
        self._drafts = drafts
        self._handoffs = handoffs

    def add(self, call: ToolCall) -> None:
        """Add the steps of a call, now that everything has been read."""
        node = call.node
        if node is None and self._is_handoff(call):
            return
        incomplete = node.span.attributes.get(agentool.TOOL_INCOMPLETE) if node else None
        call_id = call.id
        if call_id is None and node is not None:
            call_id = f"call_{node.span.span_id}"
        if incomplete != "result_only":
            self._finish_request(call, call_id)
        if node is not None and incomplete != "call_only":
            self._finish_result(call, node, call_id)
        elif call.result_step is not None and call.call_step is not None:
            call.result_step.after += (call.call_step,)

    def _is_handoff(self, call: ToolCall) -> bool:
        """Return whether a handoff replaces a call that no span executes. A delegation is a handoff
        in addition to the call.
        """
        if call.name is None:
            return False
        if transfers(call.name, call.arguments):
            if call.result_step is not None:
                self._drafts.leave_out(call.result_step)
                call.result_step = None
            self._handoffs.read_message(call)
            return True
        if may_delegate(call.name) and call.requested_by is not None:
            self._handoffs.read_delegation(call, call.requested_by)
        return False

    def _finish_result(self, call: ToolCall, node: Node, call_id: str | None) -> None:
        """Fill in the result of a call from the span that executes it."""
        operation = node.operation
        assert isinstance(operation, (ToolExecution, McpRequest))
        draft = call.result_step
        if draft is None:
            draft = call.result_step = self._drafts.add("tool_result", node.end_ns, RESULT, node)
        elif call.message_result is UNSET:  # the span of the whole run has the result
            call.message_result = draft.body["tool_result"].get("output", UNSET)
        if call.call_step is not None:
            draft.after += (call.call_step,)
        draft.place(node, OF_RESULT)
        output = call.first_known(operation.result, "result")
        if output is UNSET and call.message_result is not UNSET:
            output = call.message_result
            rule = "the result sent to the model"
            draft.note("inferred", "tool_result.output", gen_ai.INPUT_MESSAGES, rule)
        result: dict[str, Any] = {"call_id": call_id}
        put(result, "output", output)
        if (error := _error_of(call, operation)) is not None:
            result["error"] = error
        if (duration_ms := _duration_ms(node, operation)) is not None:
            result["duration_ms"] = duration_ms
        if isinstance(operation, ToolExecution) and operation.cost_tokens is not None:
            result["cost_tokens"] = operation.cost_tokens
        if (exit_code := _exit_code_of(call, operation)) is not None:
            result["exit_code"] = exit_code
        draft.body["tool_result"] = result
        if output is UNSET and "error" not in result:
            draft.note("not_captured", "tool_result.output")

    def _finish_request(self, call: ToolCall, call_id: str | None) -> None:
        node, source = call.node, call.node or call.requested_by
        time_ns = node.start_ns if node else self._drafts.output_time(source)
        draft = call.call_step = self._drafts.add("tool_call", time_ns, 2, source)
        body: dict[str, Any] = {} if call_id is None else {"id": call_id}
        body["name"] = call.name or "unknown"
        arguments = call.first_known(call.arguments, "arguments")
        put(body, "arguments", arguments)
        draft.body["tool_call"] = body
        if node is not None:
            self._drafts.place(draft, node, call.requested_by)
        else:
            self._drafts.follow_thoughts(draft, call.requested_by)
        if call_id is None:
            draft.note("not_captured", "tool_call.id")
        elif call.id is None:
            draft.note("inferred", "tool_call.id", None, "made from the span id")
        if call.match_rule is not None:
            field = "arguments" if call.id is None else "id"
            draft.note("inferred", f"tool_call.{field}", None, call.match_rule)
        if arguments is UNSET:
            draft.note("not_captured", "tool_call.arguments")


def _error_of(call: ToolCall, operation: ToolExecution | McpRequest) -> str | None:
    error = tool_error(operation)
    if error is None and call.repeats:  # a server knows whether the tool failed
        return next(filter(None, map(tool_error, call.repeats)), None)
    return error


def _exit_code_of(call: ToolCall, operation: ToolExecution | McpRequest) -> int | None:
    """Return the exit code of the command that a tool ran, of any span of the call."""
    executions = (item for item in (operation, *call.repeats) if isinstance(item, ToolExecution))
    return next((item.exit_code for item in executions if item.exit_code is not None), None)


def _duration_ms(node: Node, operation: ToolExecution | McpRequest) -> int | float | None:
    if isinstance(operation, ToolExecution) and operation.duration_ms is not None:
        return operation.duration_ms
    if node.start_ns is None or node.end_ns is None:
        return None
    if node.span.attributes.get(agentool.TOOL_INCOMPLETE):
        return None  # the span does not last from the call to the result
    return millis(node.end_ns - node.start_ns)
