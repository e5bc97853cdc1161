"""The output has a property, described in words."""

from __future__ import annotations

from agentool_otel.evaluation.judge_check import JudgeCheck, input_of, judged
from agentool_otel.evaluation.judged import JudgedTrace
from agentool_otel.evaluation.judges import prompts
from agentool_otel.evaluation.judges.questions import Answer, Question
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated
from agentool_otel.model.documents import EvalCase

__all__ = ["OutputProperty"]


class OutputProperty(JudgeCheck, frozen=True, kw_only=True):
    """The output has a property, given in words. The judge sees input and output, but no steps."""

    property: str
    min_score: float | None = None
    """The score from which on it holds; left out, the judge says."""

    def question(self, trace: JudgedTrace, case: EvalCase, max_chars: int) -> Question | Verdict:
        output, gap = trace.output()
        if gap:
            return not_evaluated(f"the output {gap}")
        run_input, hidden = input_of(trace)
        return prompts.question(
            "output_property",
            f"The output has this property: {self.property}",
            prompts.VERDICT,
            input=run_input,
            output=output,
            step_ids=[step_id for step_id, _ in trace.steps],
            hidden=hidden,
            max_chars=max_chars,
        )

    def verdict(self, question: Question, answer: Answer) -> Verdict:
        return judged(answer, self.min_score)
