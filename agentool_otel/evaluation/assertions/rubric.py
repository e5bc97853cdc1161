"""The run as a whole meets a rubric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentool_otel.evaluation.check import Prose, Share, list_words
from agentool_otel.evaluation.judge_check import JudgeCheck, input_of, verdict_from
from agentool_otel.evaluation.judges import prompts
from agentool_otel.evaluation.judges.questions import Answer, Question
from agentool_otel.evaluation.trace_view import ARGUMENTS, RESULT, TraceView, or_none
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated
from agentool_otel.model.documents import UNSET, EvalCase, Step

__all__ = ["Rubric"]

_MEMBERS = ("content", "to_agent", "message", "query", "results", "key")


class Rubric(JudgeCheck, frozen=True, kw_only=True):
    """The run meets a rubric, described in words. The judge sees the recorded run, and a list of
    the parts whose content was not recorded.
    """

    rubric: Prose
    """The rubric, as sentences for the judge."""
    min_score: Share | None = None
    """The score from which on it holds; by default the judge decides."""

    def question(self, trace: TraceView, case: EvalCase, max_chars: int) -> Question | Verdict:
        output, gap = trace.output()
        if gap:
            return not_evaluated(f"the output {gap}")
        run_input, hidden = input_of(trace)
        gaps = [hidden] if hidden else []
        gaps += [trace.unseen_calls] if trace.unseen_calls else []
        unanswered = [call.step_id for call in trace.calls if call.result is None]
        if unanswered:
            gaps.append(f"no result of the calls at {list_words(unanswered)} was recorded")
        for step_id, step in trace.steps:
            gaps += _hidden(trace, step_id, step)
        return prompts.question(
            "rubric",
            f"The run meets this rubric: {self.rubric}",
            prompts.VERDICT,
            input=run_input,
            output=output,
            steps=[_without_metadata(step_id, step) for step_id, step in trace.steps],
            step_ids=[step_id for step_id, _ in trace.steps],
            hidden=list_words(gaps) or None,
            max_chars=max_chars,
        )

    def verdict(self, question: Question, answer: Answer) -> Verdict:
        return verdict_from(answer, self.min_score)


def _without_metadata(step_id: str, step: Step) -> dict[str, Any]:
    """Return a step without times, ids and costs, which are irrelevant to the agent's work."""
    shown: dict[str, Any] = {"step_id": step_id, "type": step.type}
    if (call := or_none(step.tool_call)) is not None:
        shown |= {"tool": call.name} | _there(arguments=call.arguments)
    if (result := or_none(step.tool_result)) is not None:
        shown |= _there(result=result.output, error=result.error)
    return shown | _there(**{name: getattr(step, name) for name in _MEMBERS})


def _there(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not UNSET}


def _hidden(trace: TraceView, step_id: str, step: Step) -> Iterator[str]:
    members = [(name, getattr(step, name)) for name in _MEMBERS]
    if (call := or_none(step.tool_call)) is not None:
        members.append((ARGUMENTS, call.arguments))
    result = or_none(step.tool_result)
    if result is not None and (result.output is not UNSET or or_none(result.error) is None):
        members.append((RESULT, result.output))  # a failed call has an error and no output
    for field, value in members:
        wanted = field in (ARGUMENTS, RESULT)
        if value is UNSET and not wanted:
            continue
        why = trace.why_missing(field, step_id) if value is UNSET else None
        if gap := why or trace.hides(value, field, step_id):
            yield f"{field} of {step_id} {gap}"
