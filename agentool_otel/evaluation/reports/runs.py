"""A run as a report shows it: input, steps and output, with the marks of assertions at them.

Texts and the number of steps are bounded, so that a page stays one that a browser opens.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple, TypeAlias

from agentool_otel.evaluation.reports.result_texts import (
    count_text,
    failing_ids_of,
    line,
    plain,
    step_ids_of,
)
from agentool_otel.evaluation.reports.slices import Subject
from agentool_otel.evaluation.steps import shown_places
from agentool_otel.evaluation.trace_view import or_none
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.documents import UNSET, AssertionResult, EvalResult, Step, ToolResult
from agentool_otel.model.error_results import error_rule
from agentool_otel.reading.rebuild import values

__all__ = ["Run", "RunStep", "about_output", "run_of"]

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


Marks: TypeAlias = tuple[tuple[bool | None, str], ...]
"""Outcome and type of assertions, each once."""


class RunStep(NamedTuple):
    """A step of a run, or a number of steps that are left out."""

    id: str
    place: int
    """Its place among the steps of the run."""
    kind: str
    """Its type in words."""
    title: str
    """The name of a tool or an agent; empty for others."""
    text: str
    failed: bool
    """Whether it is an error."""
    marks: Marks
    """The assertions that do not hold here, or are not evaluated for it."""
    error_at: str = ""
    """Of a call that returned an error, the step of the error."""
    error_marked: bool = False
    """Whether that step has marks."""
    more: int = 0
    """Steps that are left out; all other members are empty then."""


class Run(NamedTuple):
    """The course of a run."""

    input: str
    output: str
    output_marks: Marks
    """The assertions about the output."""
    step_count: str
    """The number of all its steps, with the noun."""
    steps: list[RunStep]


def run_of(result: EvalResult, subject: Subject) -> Run | None:
    """Return the run that a result is about; None for a case without a run."""
    if (trace := subject.view) is None:
        return None
    marks: defaultdict[str, list[tuple[bool | None, str]]] = defaultdict(list)
    of_output: list[tuple[bool | None, str]] = []
    for assertion_result in result.assertion_results:
        if assertion_result.passed is True:
            continue
        mark = assertion_result.passed, line(assertion_result.assertion_type, _NAME)
        for step_id in failing_ids_of(assertion_result):
            marks[step_id].append(mark)
        if about_output(assertion_result):
            of_output.append(mark)
    names = {call.result_step_id: call.name for call in trace.calls}
    errors = {call.step_id: call.result_step_id for call in trace.calls if _is_error(call.result)}
    marked = {*marks, *(call for call, at in errors.items() if at in marks)}
    steps: list[RunStep] = []
    before = -1
    for place in shown_places([step_id for step_id, _ in trace.steps], marked):
        if place > before + 1:
            steps.append(_left_out(place - before - 1))
        before = place
        step_id, step = trace.steps[place]
        title, text, failed = _content(step, names.get(step_id))
        steps.append(
            RunStep(
                plain(step_id),
                place,
                line(step.type.replace("_", " "), _NAME),
                line(title, _NAME),
                text,
                failed,
                tuple(dict.fromkeys(marks.get(step_id, ()))),
                plain(errors.get(step_id) or ""),
                errors.get(step_id) in marks,
            )
        )
    if len(trace.steps) > before + 1:
        steps.append(_left_out(len(trace.steps) - before - 1))
    run = trace.trace
    step_count = count_text(len(trace.steps), "step")
    return Run(
        _text(run.input), _text(run.output), tuple(dict.fromkeys(of_output)), step_count, steps
    )


def about_output(assertion_result: AssertionResult) -> bool:
    """Return whether an assertion is about the output and no step."""
    return assertion_result.assertion_type in _OF_OUTPUT and not step_ids_of(assertion_result)


def _is_error(result: ToolResult | None) -> bool:
    return result is not None and or_none(result.error) is not None


def _left_out(number: int) -> RunStep:
    return RunStep("", 0, "", "", "", False, (), more=number)


def _content(step: Step, tool_name: str | None) -> tuple[str, str, bool]:
    """Return the title and the text of a step, and whether it is an error."""
    if (call := or_none(step.tool_call)) is not None:
        return call.name or "", _text(call.arguments), False
    if (result := or_none(step.tool_result)) is not None:
        error = or_none(result.error)
        text = _text(result.output if error is None else error)
        if error is None and (rule := error_rule(values.plain(result.output))) is not None:
            text = f"Looks like an error: it {rule}.\n{text}"
        return tool_name or "", text, error is not None
    if step.type == "handoff":
        message = "" if step.message is UNSET else _text(step.message)
        return or_none(step.to_agent) or "", message, False
    if step.type == "memory_read":
        return "", f"{_text(step.query)}\n→ {_text(step.results)}", False
    if step.type == "memory_write":
        return or_none(step.key) or "", _text(step.content), False
    return "", _text(step.content), False


def _text(value: Any) -> str:
    if value is UNSET:
        return _NOT_CAPTURED
    return plain(value if isinstance(value, str) else dumps(value), _TEXT)
