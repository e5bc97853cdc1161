"""The totals of a run, from its model calls or from its own span."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from agentool_otel.model.messages import parts_of
from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    Inference,
    McpRequest,
    ToolExecution,
)
from agentool_otel.reconstruction.correlation.unknown_messages import waits_for_tools
from agentool_otel.reconstruction.tree import Node
from agentool_otel.reconstruction.values import millis, number, set_known
from agentool_otel.semconv import agentool

__all__ = ["leaves", "metrics_of", "rolled_up_tokens", "tokens_of", "unknown_tool_calls"]


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
    """Yield the model calls whose answer asks for tools that neither it nor a span names.

    Args:
        nodes: what is inside a run.
        inferences: the model calls among them, each once, in order.
    """
    unnamed = [
        (node, later)
        for node, later in zip_longest(inferences, inferences[1:])
        if waits_for_tools(node) and not _names_calls(node)
    ]
    executed = sorted(node.start_ns or 0 for node in nodes if _executes(node)) if unnamed else []
    for node, later in unnamed:
        place = bisect_left(executed, node.start_ns or 0)
        ended = later.start_ns if later is not None else None
        if place == len(executed) or (ended is not None and executed[place] > ended):
            yield node


def _names_calls(node: Node) -> bool:
    output = node.operation.output if isinstance(node.operation, Inference) else None
    return any(it.get("type") == "tool_call" for said in output or () for it in parts_of(said))


def _executes(node: Node) -> bool:
    """Whether a span may be what came of a request for a tool: a tool, or an agent that is one."""
    return node.is_run or isinstance(node.operation, (ToolExecution, McpRequest))


def leaves(nodes: list[Node], inferences: list[Node]) -> list[Inference | Embeddings]:
    """Return the operations whose tokens and cost add up to those of the run."""
    operations: list[Inference | Embeddings] = []
    operations += [it.operation for it in inferences if isinstance(it.operation, Inference)]
    operations += [it.operation for it in nodes if type(it.operation) is Embeddings]
    return operations


def tokens_of(operations: list[Inference | Embeddings]) -> int | None:
    total: int | None = _sum([usage.total for it in operations if (usage := it.usage) is not None])
    return total


def rolled_up_tokens(root: Node | None) -> int | None:
    """Return the total that the span of a run has itself.

    None of a run of ours: its usage has the tokens of the runs inside as well, and its own total is
    `agentool.metrics.total_tokens`.
    """
    if root is None or agentool.METRICS_TOOL_CALL_COUNT in root.span.attributes:
        return None
    operation = root.operation
    usage = operation.usage if isinstance(operation, AgentInvocation) else None
    return usage.total if usage is not None else None


def _total_tokens(
    operations: list[Inference | Embeddings], attributes: dict[str, Any], root: Node | None
) -> int | float | None:
    tokens: int | float | None = tokens_of(operations)
    if tokens is None:
        tokens = number(attributes.get(agentool.METRICS_TOTAL_TOKENS))
    return rolled_up_tokens(root) if tokens is None else tokens


def _total_cost(
    operations: list[Inference | Embeddings], attributes: dict[str, Any], root: Node | None
) -> int | float | None:
    cost: int | float | None = _sum([it.cost_usd for it in operations])
    if cost is None:
        cost = number(attributes.get(agentool.METRICS_TOTAL_COST_USD))
    if cost is None and root is not None:
        cost = number(root.operation.extra.get(agentool.COST_USD))
    return cost


def _duration(
    times: tuple[int | None, int | None], attributes: dict[str, Any]
) -> int | float | None:
    duration = number(attributes.get(agentool.METRICS_TOTAL_DURATION_MS))
    start_ns, end_ns = times
    if duration is None and start_ns is not None and end_ns is not None:
        return millis(end_ns - start_ns)
    return duration


def _sum(values: list[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
