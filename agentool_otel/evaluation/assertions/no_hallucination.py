"""The claims of the output are supported by the run's evidence.

Evidence is data from outside: tool results, values read from memory, retrieved documents. The
agent's thoughts, and the arguments of its calls, are no evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from agentool_otel.evaluation.check import Share, be, count_text, list_words
from agentool_otel.evaluation.comparing import short
from agentool_otel.evaluation.judge_check import JudgeCheck, input_of, verdict_from
from agentool_otel.evaluation.judges import prompts
from agentool_otel.evaluation.judges.questions import Answer, Claim, Question
from agentool_otel.evaluation.trace_view import RESULT, TraceView, or_none
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated
from agentool_otel.model.documents import UNSET, EvalCase, Step
from agentool_otel.semconv.redaction import is_marker

__all__ = ["NoHallucination"]

_CRITERION = "Each claim of fact in the output is supported by the evidence, which is the steps."


class NoHallucination(JudgeCheck, frozen=True, kw_only=True):
    """The claims of the output are supported by the run's evidence.

    The score is the share of its claims that are supported. It holds where none is contradicted and
    that share is large enough. The claims are a further member of the result, `claims`.
    """

    min_score: Share = 0.8
    """The share of the claims that has to be supported. One fifth may lack evidence, as in the
    example of the spec, whose score of 0.8 has passed.
    """

    def question(self, trace: TraceView, case: EvalCase, max_chars: int) -> Question | Verdict:
        output, gap = trace.output()
        if gap:
            return not_evaluated(f"the output {gap}")
        evidence = list(_evidence(trace))
        hidden = list_words(_hidden(trace)) or None
        if not evidence:
            why = f": {hidden}" if hidden else ": no tool result, memory read or retrieved document"
            return not_evaluated(f"no evidence was recorded{why}")
        run_input, _ = input_of(trace)
        return prompts.question(
            "no_hallucination",
            _CRITERION,
            prompts.CLAIMS,
            input=run_input,
            output=output,
            steps=evidence,
            step_ids=[record["step_id"] for record in evidence],
            hidden=hidden,
            max_chars=max_chars,
        )

    def verdict(self, question: Question, answer: Answer) -> Verdict:
        unseen = question.hidden or question.shortened
        if answer.claims is None:
            verdict = verdict_from(answer, self.min_score if answer.passed is None else None)
            if verdict.passed is False and unseen:
                return _undecided_verdict("the output is not supported by", unseen, answer.step_ids)
            return verdict
        return self._of_claims(answer.claims, answer.reason, unseen)

    def _of_claims(self, claims: Sequence[Claim], reason: str, unseen: str | None) -> Verdict:
        steps = tuple(dict.fromkeys(name for claim in claims for name in claim.step_ids))
        extra: dict[str, Any] = {"claims": [_as_json(claim) for claim in claims]}
        against = [claim for claim in claims if claim.verdict == "contradicted"]
        unsupported = [claim for claim in claims if claim.verdict == "not_supported"]
        supported = len(claims) - len(against) - len(unsupported)
        score = round(supported / len(claims), 3) if claims else 1.0
        passed = not against and score >= self.min_score
        if unsupported and unseen and not against:
            names = list_words(short(claim.claim) for claim in unsupported)
            verdict = _undecided_verdict(
                f"{names} {be(len(unsupported))} not supported by", unseen, steps
            )
            return verdict._replace(extra=extra)
        if passed:
            summary = f"{supported} of {count_text(len(claims), 'claim')} {be(supported)} supported"
            summary = summary if claims else "the output makes no factual claim"
            return Verdict(True, score, reason or summary, steps, extra)
        wrong = [_claim_text(claim) for claim in (*against, *unsupported)]
        of = f"{len(wrong)} of {count_text(len(claims), 'claim')} {be(len(wrong))} not supported"
        extra["failing_step_ids"] = [name for claim in against for name in claim.step_ids]
        return Verdict(False, score, f"{of}: {list_words(wrong)}", steps, extra)


def _undecided_verdict(subject: str, unseen: str, steps: Sequence[str]) -> Verdict:
    return not_evaluated(f"{subject} the evidence that can be seen, but {unseen}", steps)


def _claim_text(claim: Claim) -> str:
    if claim.verdict == "contradicted":
        return f"{short(claim.claim)} is contradicted by {list_words(claim.step_ids)}"
    return short(claim.claim)


def _as_json(claim: Claim) -> dict[str, Any]:
    return {"claim": claim.claim, "verdict": claim.verdict, "step_ids": list(claim.step_ids)}


def _evidence(trace: TraceView) -> Iterator[dict[str, Any]]:
    """Yield the evidence that a judge may rest a verdict on, with the ids of its steps.

    What stands in the place of a value, by a hook or as a redaction marker, is no evidence.
    """
    tools = {call.result_step_id: call.name for call in trace.calls}
    for step_id, step in trace.steps:
        contents = {
            field.removeprefix("tool_").partition(".")[0]: value
            for field, value in _evidence_members(step)
            if or_none(value) is not None
            and not trace.replaced(value, field, step_id)
            and not (isinstance(value, str) and is_marker(value))
        }
        if contents:
            tool = {"tool": tools[step_id]} if step_id in tools else {}
            yield {"step_id": step_id, "type": step.type, **tool, **contents}


def _hidden(trace: TraceView) -> Iterator[str]:
    """Yield the parts of the evidence that cannot be seen."""
    if trace.unseen_calls:
        yield trace.unseen_calls
    lost = [call.step_id for call in trace.calls if call.result is None]
    if lost:
        yield f"no result of the calls at {list_words(lost)} was recorded"
    for step_id, step in trace.steps:
        for field, value in _evidence_members(step):
            why = trace.why_missing(field, step_id) if value is UNSET else None
            if gap := why or trace.hides(value, field, step_id):
                yield f"{field} of {step_id} {gap}"


def _evidence_members(step: Step) -> Iterator[tuple[str, Any]]:
    """Yield the members with evidence. A failed call has an error and no result."""
    result = or_none(step.tool_result)
    if result is not None and (result.output is not UNSET or or_none(result.error) is None):
        yield RESULT, result.output
    if result is not None and or_none(result.error) is not None:
        yield "error", result.error
    if step.type == "memory_read":
        yield "results", step.results
