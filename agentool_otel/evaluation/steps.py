"""The steps of a trace as short lines of text, with marks on those of interest."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from agentool_otel.evaluation.reports.result_texts import line
from agentool_otel.evaluation.trace_view import TraceView
from agentool_otel.model.plain_text import step_text

__all__ = ["shown_places", "step_lines"]

_WIDTH = 120
_MOST = 40
"""Steps that are shown; of more, the marked ones and the first ones."""


def step_lines(trace: TraceView, marked: Collection[str]) -> Iterator[str]:
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
        words = line(step_text(step, names.get(step_id)), _WIDTH)
        yield f"  {arrow} {step_id:{width}}  {line(step.type):<12} {words}".rstrip()
    if len(trace.steps) > before + 1:
        yield f"    ... {len(trace.steps) - before - 1} more"


def shown_places(ids: list[str], marked: Collection[str]) -> list[int]:
    """Return the places of the steps that are shown: the marked ones, and the first others."""
    first = [at for at, step_id in enumerate(ids) if step_id in marked][:_MOST]
    others = [at for at, step_id in enumerate(ids) if step_id not in marked]
    return sorted([*first, *others[: _MOST - len(first)]])
