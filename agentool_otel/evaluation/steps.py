"""The steps of a trace as short lines of text, with marks on those of interest."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from agentool_otel.evaluation.comparing import short
from agentool_otel.evaluation.judged import JudgedTrace, known
from agentool_otel.evaluation.reports.result_texts import line
from agentool_otel.model.documents import UNSET, Step

__all__ = ["shown_places", "step_lines"]

_WIDTH = 120
_MOST = 40
"""Steps that are shown; of more, the marked ones and the first ones."""


def step_lines(trace: JudgedTrace, marked: Collection[str]) -> Iterator[str]:
    """Yield a line for each step, in order, with an arrow where its id is marked."""
    if not trace.steps:
        yield "  no steps"
        return
    shown = shown_places([step_id for step_id, _ in trace.steps], marked)
    width = max(len(trace.steps[at][0]) for at in shown)
    names = {call.result_step_id: call.name for call in trace.calls}
    before = -1
    for at in shown:
        if at > before + 1:
            yield f"    ... {at - before - 1} more"
        before = at
        step_id, step = trace.steps[at]
        arrow = ">" if step_id in marked else " "
        words = line(_words(step, names.get(step_id)), _WIDTH)
        yield f"  {arrow} {step_id:{width}}  {line(step.type):<12} {words}".rstrip()
    if len(trace.steps) > before + 1:
        yield f"    ... {len(trace.steps) - before - 1} more"


def shown_places(ids: list[str], marked: Collection[str]) -> list[int]:
    """Return the places of the steps that are shown: the marked ones, and the first others."""
    first = [at for at, step_id in enumerate(ids) if step_id in marked][:_MOST]
    others = [at for at, step_id in enumerate(ids) if step_id not in marked]
    return sorted([*first, *others[: _MOST - len(first)]])


def _words(step: Step, tool_name: str | None) -> str:
    if (call := known(step.tool_call)) is not None:
        return f"{call.name}({_arguments(call.arguments)})"
    if (result := known(step.tool_result)) is not None:
        name = tool_name or ""
        if (error := known(result.error)) is not None:
            return f"{name} → ✗ {_text(error)}"
        return f"{name} → {_text(result.output)}"
    if step.type == "handoff":
        message = "" if step.message is UNSET else f": {_text(step.message)}"
        return f"→ {known(step.to_agent) or '?'}{message}"
    if step.type == "memory_read":
        return f"{_text(step.query)} → {_text(step.results)}"
    if step.type == "memory_write":
        return f"{known(step.key) or ''} = {_text(step.content)}"
    return "" if step.content is UNSET else _text(step.content)


def _arguments(arguments: Any) -> str:
    if isinstance(arguments, dict):
        return ", ".join(f"{name}={short(value)}" for name, value in arguments.items())
    return _text(arguments)


def _text(value: Any) -> str:
    if value is UNSET:
        return "..."
    return value if isinstance(value, str) else short(value)
