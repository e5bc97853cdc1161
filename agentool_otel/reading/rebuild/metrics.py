"""The totals of a run, from its model calls or from its own span."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from agentool_otel.ground import lazy_re as re
from agentool_otel.model.amounts import is_possible, possible
from agentool_otel.model.messages import parts_of
from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    Inference,
    McpRequest,
    ToolExecution,
)
from agentool_otel.reading.rebuild.correlation.unknown_messages import waits_for_tools
from agentool_otel.reading.rebuild.tree import Node, has_summed_usage
from agentool_otel.reading.rebuild.values import millis, number, set_known
from agentool_otel.semconv import agentool
from agentool_otel.semconv.marks import MARK_TRUNCATED
from agentool_otel.semconv.redaction import is_marker

__all__ = [
    "CALLS",
    "TOTAL_COST",
    "TOTAL_TOKENS",
    "leaves",
    "metrics_of",
    "rolled_up_tokens",
    "tokens_of",
    "uncounted",
    "unknown_tool_calls",
]

CALLS = "calls"
"""Stands for the tool calls of a run that its trace may not show."""
TOTAL_TOKENS = "metrics.total_tokens"
TOTAL_COST = "metrics.total_cost_usd"
_OF_ANSWERS = re.compile(r"output|completion|response|answer|choice")
"""Names of attributes that may hold the answer of a model."""


def metrics_of(
    root: Node | None,
    nodes: list[Node],
    inferences: list[Node],
    steps: list[Any],
    times: tuple[int | None, int | None],
) -> dict[str, Any]:
    """Return the totals of a run: the sums of its leaves where known, else its own roll-ups.

    There is no number of tool calls where there were some that nobody recorded.

    Args:
        root: the span of the run, if it has one.
        nodes: what is inside it.
        inferences: the model calls among them, each once.
        steps: those of the trace.
        times: start and end of the run.
    """
    attributes = root.span.attributes if root is not None else {}
    operations = leaves(nodes, inferences)
    metrics: dict[str, Any] = {}
    set_known(metrics, "total_tokens", _total_tokens(operations, attributes, root))
    set_known(metrics, "total_cost_usd", _total_cost(operations, attributes, root))
    set_known(metrics, "total_duration_ms", _duration(times, attributes))
    metrics["step_count"] = len(steps)
    if next(unknown_tool_calls(nodes, inferences), None) is None:
        metrics["tool_call_count"] = [step.get("type") for step in steps].count("tool_call")
    return metrics


def unknown_tool_calls(nodes: list[Node], inferences: list[Node]) -> Iterator[Node]:
    """Yield the model calls whose answer requests tools that neither it nor a span names.

    Args:
        nodes: what is inside a run.
        inferences: the model calls among them, each once, in order.
    """
    unnamed = [
        (node, later)
        for node, later in zip_longest(inferences, inferences[1:])
        if (waits_for_tools(node) or _may_ask_for_tools(node)) and not _names_calls(node)
    ]
    executed = sorted(node.start_ns or 0 for node in nodes if _executes(node)) if unnamed else []
    for node, later in unnamed:
        place = bisect_left(executed, node.start_ns or 0)
        ended = later.start_ns if later is not None else None
        if place == len(executed) or (ended is not None and executed[place] > ended):
            yield node


def uncounted(
    root: Node | None, nodes: list[Node], inferences: list[Node]
) -> Iterator[tuple[str, str]]:
    """Yield the totals of a run to which something is missing, and why. Of a model call that
    failed, no tokens and no cost are expected.

    Args:
        root: the span of the run, if it has one.
        nodes: what is inside it.
        inferences: the model calls among them, each once.
    """
    operations = [
        inference.operation
        for inference in inferences
        if isinstance(inference.operation, Inference) and inference.operation.error_type is None
    ]
    amounts = (
        (TOTAL_TOKENS, "tokens", [*map(_tokens, operations)]),
        (TOTAL_COST, "cost", [possible(operation.cost_usd) for operation in operations]),
    )
    for member, subject, values in amounts:
        missing = values.count(None)
        if 0 < missing < len(values):
            yield (
                member,
                f"is that of {len(values) - missing} of {len(values)} model calls with {subject}",
            )
    stated = number(root.span.attributes.get(agentool.METRICS_TOOL_CALL_COUNT)) if root else None
    if stated is not None and stated > max(_count_calls(nodes), _count_requests(inferences)):
        yield CALLS, f"the span of the run counts {stated} tool calls, and fewer were recorded"
    elif next(unknown_tool_calls(nodes, inferences), None) is not None:
        yield CALLS, "a model's answer requests tools, and none of its calls was recorded"


def _count_calls(nodes: list[Node]) -> int:
    return sum(isinstance(node.operation, (ToolExecution, McpRequest)) for node in nodes)


def _count_requests(inferences: list[Node]) -> int:
    return sum(
        part.get("type") == "tool_call"
        for node in inferences
        if isinstance(node.operation, Inference)
        for answer in node.operation.output or ()
        for part in parts_of(answer)
    )


def _may_ask_for_tools(node: Node) -> bool:
    """Return whether a hidden answer may have requested tools: no finish reason shows how it
    ended.
    """
    operation = node.operation
    if not isinstance(operation, Inference) or operation.finish_reasons or operation.error_type:
        return False
    if operation.output:
        return any(MARK_TRUNCATED in part for item in operation.output for part in parts_of(item))
    return any(
        isinstance(value, str) and _OF_ANSWERS.search(key) and is_marker(value)
        for key, value in node.span.attributes.items()
    )


def _names_calls(node: Node) -> bool:
    output = node.operation.output if isinstance(node.operation, Inference) else None
    return any(
        part.get("type") == "tool_call" for message in output or () for part in parts_of(message)
    )


def _executes(node: Node) -> bool:
    """Return whether a span may execute a request for a tool: a tool, or an agent called as one."""
    return node.is_run or isinstance(node.operation, (ToolExecution, McpRequest))


def leaves(nodes: list[Node], inferences: list[Node]) -> list[Inference | Embeddings]:
    """Return the operations whose tokens and cost add up to those of the run."""
    operations: list[Inference | Embeddings] = []
    operations += [
        inference.operation
        for inference in inferences
        if isinstance(inference.operation, Inference)
    ]
    operations += [node.operation for node in nodes if type(node.operation) is Embeddings]
    return operations


def tokens_of(operations: list[Inference | Embeddings]) -> int | None:
    total: int | None = _sum([*map(_tokens, operations)])
    return total


def _tokens(operation: Inference | Embeddings) -> int | None:
    usage = operation.usage
    if usage is None or any(
        (value or 0) < 0 for value in (usage.input_tokens, usage.output_tokens)
    ):
        return None
    return usage.total if is_possible(usage.total) else None


def rolled_up_tokens(root: Node | None) -> int | None:
    """Return the total that the span of a run has itself.

    None of a run of ours: its usage has the tokens of the runs inside as well, and its own total is
    `agentool.metrics.total_tokens`.
    """
    if root is None or has_summed_usage(root.span):
        return None
    operation = root.operation
    usage = operation.usage if isinstance(operation, AgentInvocation) else None
    return usage.total if usage is not None and is_possible(usage.total) else None


def _total_tokens(
    operations: list[Inference | Embeddings], attributes: dict[str, Any], root: Node | None
) -> int | float | None:
    tokens: int | float | None = tokens_of(operations)
    if tokens is None:
        tokens = possible(number(attributes.get(agentool.METRICS_TOTAL_TOKENS)))
    return rolled_up_tokens(root) if tokens is None else tokens


def _total_cost(
    operations: list[Inference | Embeddings], attributes: dict[str, Any], root: Node | None
) -> int | float | None:
    cost: int | float | None = _sum([possible(operation.cost_usd) for operation in operations])
    if cost is None:
        cost = possible(number(attributes.get(agentool.METRICS_TOTAL_COST_USD)))
    if cost is None and root is not None:
        cost = possible(number(root.operation.extra.get(agentool.COST_USD)))
    return cost


def _duration(
    times: tuple[int | None, int | None], attributes: dict[str, Any]
) -> int | float | None:
    duration = possible(number(attributes.get(agentool.METRICS_TOTAL_DURATION_MS)))
    start_ns, end_ns = times
    if duration is None and start_ns is not None and end_ns is not None:
        return possible(millis(end_ns - start_ns))
    return duration


def _sum(values: list[Any]) -> Any:
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None
