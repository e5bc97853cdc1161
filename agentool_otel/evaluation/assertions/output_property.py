"""The output has a property, described in words."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from agentool_otel.evaluation.check import Prose, Share, Word
from agentool_otel.evaluation.comparing import same
from agentool_otel.evaluation.judge_check import JudgeCheck, input_of, verdict_from
from agentool_otel.evaluation.judges import prompts
from agentool_otel.evaluation.judges.questions import Answer, Question
from agentool_otel.evaluation.trace_view import TraceView
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated, passed
from agentool_otel.ground import json_codec
from agentool_otel.model.documents import UNSET, EvalCase

__all__ = ["OutputProperty"]


class OutputProperty(JudgeCheck, frozen=True, kw_only=True):
    """The output has a property, given in words. The judge sees input and output, but no steps."""

    property: Prose
    """The property, as a sentence for the judge."""
    min_score: Share | None = None
    """The score from which on it holds; by default the judge decides."""
    reference: Word | None = None
    """A text with the property, JSON for an object. An output equal to it passes without a
    judge."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        return self._if_equal(trace) or JudgeCheck.check(self, trace, case)

    def question(self, trace: TraceView, case: EvalCase, max_chars: int) -> Question | Verdict:
        if (verdict := self._if_equal(trace)) is not None:
            return verdict
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
        return verdict_from(answer, self.min_score)

    def _if_equal(self, trace: TraceView) -> Verdict | None:
        """Return a pass if the output is equal to the reference; None leaves it to a judge."""
        output, gap = trace.output()
        if self.reference is None or gap or output is UNSET:
            return None
        expected: Any = self.reference
        if not isinstance(output, str):
            with suppress(ValueError):
                expected = json_codec.loads(self.reference)
        return passed("the output is equal to the reference") if same(expected, output) else None
