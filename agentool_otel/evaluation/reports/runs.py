"""A run as a report shows it: input, steps and output, with the reasons beside them.

Texts and the number of steps are bounded, so that a page stays one that a browser opens.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from agentool_otel.evaluation.judged import known
from agentool_otel.evaluation.reports.result_texts import line, plain, reason_of, step_ids_of
from agentool_otel.evaluation.reports.slices import Subject
from agentool_otel.evaluation.steps import shown_places
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.documents import UNSET, EvalResult, Step

__all__ = ["Run", "RunStep", "run_of"]

_TEXT = 1500
"""Characters of an input, an output or a step."""
_NAME = 200
_OF_OUTPUT = frozenset(
    {
        *("output_equals", "output_contains", "output_matches", "output_property"),
        "response_format",
    }
)
"""Types of assertions that are about the output alone."""
_NOT_CAPTURED = "(not captured)"


class RunStep(NamedTuple):
    """A step of a run, or a number of steps that are left out."""

    id: str
    kind: str
    """Its type in words."""
    title: str
    """The name of a tool or an agent; empty for others."""
    text: str
    failed: bool
    """Whether it is an error."""
    reasons: tuple[tuple[bool | None, str], ...]
    """Outcome and reason of the assertions whose verdicts rest on it; of one that rests on several
    steps, the reason is at the first of them, and its type at the others."""
    more: int = 0
    """Steps that are left out; all other members are empty then."""


class Run(NamedTuple):
    """The course of a run."""

    input: str
    output: str
    output_reasons: tuple[tuple[bool | None, str], ...]
    """Outcome and reason of the assertions about the output."""
    steps: list[RunStep]


def run_of(result: EvalResult, subject: Subject) -> Run | None:
    """Return the run that a result is about; None for a case without a run."""
    if (trace := subject.judged) is None:
        return None
    reasons: defaultdict[str, list[tuple[bool | None, str]]] = defaultdict(list)
    of_output: list[tuple[bool | None, str]] = []
    for held in result.assertion_results:
        if held.passed is True:
            continue
        kind = line(held.assertion_type, _NAME)
        reason = held.passed, plain(f"{kind}: {reason_of(held)}", _TEXT)
        for n, step_id in enumerate(step_ids_of(held)):
            reasons[step_id].append((held.passed, kind) if n else reason)
        if not step_ids_of(held) and held.assertion_type in _OF_OUTPUT:
            of_output.append(reason)
    names = {call.result_step_id: call.name for call in trace.calls}
    steps: list[RunStep] = []
    before = -1
    for place in shown_places([step_id for step_id, _ in trace.steps], reasons.keys()):
        if place > before + 1:
            steps.append(_left_out(place - before - 1))
        before = place
        step_id, step = trace.steps[place]
        steps.append(_step(step_id, step, names.get(step_id), tuple(reasons.get(step_id, ()))))
    if len(trace.steps) > before + 1:
        steps.append(_left_out(len(trace.steps) - before - 1))
    run = trace.trace
    return Run(_text(run.input), _text(run.output), tuple(of_output), steps)


def _left_out(number: int) -> RunStep:
    return RunStep("", "", "", "", False, (), number)


def _step(
    step_id: str, step: Step, tool_name: str | None, reasons: tuple[tuple[bool | None, str], ...]
) -> RunStep:
    title, text, failed = _content(step, tool_name)
    kind = line(step.type.replace("_", " "), _NAME)
    return RunStep(line(step_id, _NAME), kind, line(title, _NAME), text, failed, reasons)


def _content(step: Step, tool_name: str | None) -> tuple[str, str, bool]:
    """Return the title and the text of a step, and whether it is an error."""
    if (call := known(step.tool_call)) is not None:
        return call.name or "", _text(call.arguments), False
    if (result := known(step.tool_result)) is not None:
        error = known(result.error)
        text = _text(result.output if error is None else error)
        return tool_name or "", text, error is not None
    if step.type == "handoff":
        message = "" if step.message is UNSET else _text(step.message)
        return known(step.to_agent) or "", message, False
    if step.type == "memory_read":
        return "", f"{_text(step.query)}\n→ {_text(step.results)}", False
    if step.type == "memory_write":
        return known(step.key) or "", _text(step.content), False
    return "", _text(step.content), False


def _text(value: Any) -> str:
    if value is UNSET:
        return _NOT_CAPTURED
    return plain(value if isinstance(value, str) else dumps(value), _TEXT)
