"""Documents as one line of text each, for `print`.

Contents come from models and tools, so they are made safe to print, and long ones are cut. A member
that is absent is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from agentool_otel.ground import json_codec
from agentool_otel.ground.untrusted_text import count_text, line
from agentool_otel.model.amounts import possible

if TYPE_CHECKING:
    from agentool_otel.model.amounts import possible
from agentool_otel.model.documents import (
    AssertionResult,
    Document,
    EvalResult,
    ReasoningTrace,
    Step,
    ToolCall,
    ToolResult,
)

__all__ = [
    "MARKS",
    "call_text",
    "figures_of",
    "line_of",
    "result_text",
    "score_text",
    "step_text",
    "value_text",
]

MARKS: dict[bool | None, str] = {True: "✓", False: "✗", None: "-"}
"""Passed, failed, not evaluated."""

_LONGEST = 200
"""Characters of a value."""


def value_text(value: Any, most: int = _LONGEST) -> str:
    """Return a text as it is, any other value as JSON, on one line; of a long one, the beginning.

    An absent value is an ellipsis.
    """
    if value is UNSET:
        return "…"
    if not isinstance(value, str):
        try:
            value = json_codec.dumps(value)
        except (TypeError, ValueError, RecursionError):  # made in Python, not read from JSON
            value = f"<{type(value).__name__}>"
    return (
        line(value) if len(value) <= most else f"{line(value, most)}… ({len(value):,} characters)"
    )


def call_text(call: ToolCall) -> str:
    """Return a tool call as Python would write it, e.g. `search(query="news", limit=5)`."""
    arguments = call.arguments
    if isinstance(arguments, dict):
        pairs = (f"{_one_line(name)}={_json(value)}" for name, value in arguments.items())
        return f"{_one_line(call.name)}({', '.join(pairs)})"
    return f"{_one_line(call.name)}({value_text(arguments)})"


def result_text(result: ToolResult) -> str:
    """Return the output of a tool, or `✗` and its error."""
    if result.error is not UNSET and result.error is not None:
        return f"✗ {value_text(result.error)}"
    return value_text(result.output)


def step_text(step: Step, tool_name: str | None = None) -> str:
    """Return the content of a step.

    Args:
        step: the step.
        tool_name: the tool that a result is of; None if it is not known.
    """
    if step.tool_call is not UNSET and step.tool_call is not None:
        return call_text(step.tool_call)
    if step.tool_result is not UNSET and step.tool_result is not None:
        name = "" if tool_name is None else f"{_one_line(tool_name)} "
        return f"{name}→ {result_text(step.tool_result)}"
    if step.type == "handoff":
        agent = _one_line(step.to_agent) if isinstance(step.to_agent, str) else "?"
        return f"→ {agent}" + ("" if step.message is UNSET else f": {value_text(step.message)}")
    if step.type == "memory_read":
        return f"{value_text(step.query)} → {value_text(step.results)}"
    if step.type == "memory_write":
        key = "" if step.key is UNSET or step.key is None else f"{value_text(step.key)} = "
        return f"{key}{value_text(step.content)}"
    return "" if step.content is UNSET else value_text(step.content)


def figures_of(trace: ReasoningTrace) -> list[str]:
    """Return the counts of a trace, those that are known: steps, tool calls, tokens, cost."""
    figures = [
        count_text(len(trace.steps), "step"),
        count_text(len(trace.tool_calls()), "tool call"),
    ]
    metrics = trace.metrics
    forms = (
        ("total_tokens", "{:,} tokens"),
        ("total_cost_usd", "${:,.4f}"),
        ("total_duration_ms", "{:,.0f} ms"),
    )
    amounts = ((possible(getattr(metrics, name, None)), form) for name, form in forms)
    return figures + [form.format(item) for item, form in amounts if item is not None]


def score_text(score: Any) -> str:
    """Return a score with three decimals, empty if there is none."""
    return f"{score:.3f}" if isinstance(score, (int, float)) else ""


def line_of(document: Document) -> str | None:
    """Return the line of a document; None for types that have none."""
    text = _LINES.get(type(document).__name__)
    return None if text is None else text(document)


def _step(step: Step) -> str:
    return f"{_one_line(step.type)} {step_text(step)}".rstrip()


def _trace(trace: ReasoningTrace) -> str:
    agent = (
        _one_line(trace.agent_id) if isinstance(trace.agent_id, str) else "(agent without a name)"
    )
    status = _one_line(trace.status) if isinstance(trace.status, str) else "no status"
    return f"{agent}: {', '.join([status, *figures_of(trace)])} [{_one_line(trace.trace_id)}]"


def _assertion(result: AssertionResult) -> str:
    reason = f": {_one_line(result.reason)}" if isinstance(result.reason, str) else ""
    return f"{MARKS.get(result.passed, '-')} {_one_line(result.assertion_type)}{reason}"


def _result(result: EvalResult) -> str:
    counts = [
        (
            sum(assertion_result.passed is True for assertion_result in result.assertion_results),
            "passed",
        ),
        (
            sum(assertion_result.passed is False for assertion_result in result.assertion_results),
            "failed",
        ),
        (
            sum(assertion_result.passed is None for assertion_result in result.assertion_results),
            "not evaluated",
        ),
    ]
    trace = f" [{_one_line(result.trace_id)}]" if isinstance(result.trace_id, str) else ""
    words = ", ".join(f"{count} {word}" for count, word in counts if count)
    title = f"{MARKS.get(result.passed, '-')} {_one_line(result.case_id)}{trace}"
    return f"{title}: {words or 'no assertions'}"


def _one_line(value: object) -> str:
    """Return a name on one line, also where a program has put no text there."""
    return line(str(value))


def _json(value: Any) -> str:
    """Return a value as JSON, so that a text is in quotes."""
    return value_text(json_codec.dumps(value)) if isinstance(value, str) else value_text(value)


_LINES: dict[str, Callable[[Any], str]] = {
    "ToolCall": call_text,
    "ToolResult": result_text,
    "Step": _step,
    "ReasoningTrace": _trace,
    "AssertionResult": _assertion,
    "EvalResult": _result,
}
