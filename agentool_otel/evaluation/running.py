"""`evaluate`: cases and traces to results, as they come."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from agentool_otel.errors import EvaluationError
from agentool_otel.evaluation.building import judging
from agentool_otel.evaluation.judged import JudgedTrace
from agentool_otel.evaluation.matching import Cases, MatchRule
from agentool_otel.evaluation.results import result_of
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import Assertion, EvalCase, EvalResult, ReasoningTrace
from agentool_otel.rebuild import Rebuilt

__all__ = ["EVERY_TRACE", "Evaluation", "evaluate"]

_log = logging.getLogger(__name__)

EVERY_TRACE = "every trace"
"""The case id of results where there are no cases, only assertions that hold for every trace."""
_NO_TRACE = "no trace of this case"

_Case: TypeAlias = EvalCase | Assertion | Mapping[str, Any]
_Trace: TypeAlias = ReasoningTrace | Rebuilt


def evaluate(
    cases: _Case | Iterable[_Case],
    traces: Iterable[_Trace],
    *,
    min_evaluated: float = 1.0,
    match: MatchRule | None = None,
    unmatched: Callable[[ReasoningTrace, str], None] | None = None,
) -> Iterator[EvalResult]:
    """Yield a result for each case and each trace that is a try of it, as the traces come.

    A trace is a try of the case that its run names (`metadata.case_id`), else of those with the
    same input. A case without a trace has a result at the end, of which nothing is evaluated.
    Without a judge, assertions that need one are not evaluated. Memory holds the cases and one
    trace.

    Args:
        cases: cases; or assertions alone, which then apply to every trace.
        traces: the traces, best as `rebuild` gives them: a `Rebuilt` knows what its spans do not
            say, a document by itself does not.
        min_evaluated: the share of the assertions, 0 to 1, that has to be evaluated for a result
            without a failure to count as passed.
        match: the rule for traces that name no case and have the input of none: `contains`, the
            input of a case is part of theirs; `MEMBER=CASE_MEMBER`, a member of the trace, as
            `metadata.ticket`, is equal to one of the case, by default its `case_id`; or a function
            of a trace and a case.
        unmatched: called with each trace that no case is for, and why. Left out, how many there
            were is logged as a warning.

    Raises:
        EvaluationError: there are no cases, they are cases and assertions mixed, `min_evaluated` is
            no share, or `match` no rule.
        DecodeError: a case given as an object is none.
    """
    return Evaluation(cases, min_evaluated, match).results(traces, unmatched)


class Evaluation:
    """Cases made ready, to be held against traces."""

    def __init__(
        self,
        cases: _Case | Iterable[_Case],
        min_evaluated: float = 1.0,
        match: MatchRule | None = None,
    ):
        """Make cases ready.

        Raises: as `evaluate`.
        """
        if not 0 <= min_evaluated <= 1:
            raise EvaluationError(f"min_evaluated is a share from 0 to 1, not {min_evaluated!r}")
        given = [cases] if isinstance(cases, (EvalCase, Assertion, Mapping)) else cases
        documents = [_document(case) for case in given]
        if not documents:
            raise EvaluationError("there are no cases and no assertions to evaluate by")
        assertions = [it for it in documents if isinstance(it, Assertion)]
        of_cases = [it for it in documents if isinstance(it, EvalCase)]
        if assertions and of_cases:
            raise EvaluationError(
                "cases and assertions are mixed"
                "; hint: give cases, or assertions alone, which apply to every trace"
            )
        self._for_all = bool(assertions)
        if self._for_all:
            of_cases = [EvalCase(case_id=EVERY_TRACE, assertions=assertions)]
        self._cases = Cases(of_cases, match)
        self._judges = [[judging(it) for it in case.assertions] for case in of_cases]
        self._min_evaluated = min_evaluated
        self._tried: set[int] = set()

    def results(
        self,
        traces: Iterable[_Trace],
        unmatched: Callable[[ReasoningTrace, str], None] | None = None,
    ) -> Iterator[EvalResult]:
        """Yield the results for traces, then for the cases without one."""
        left_out = 0
        for source in traces:
            found, why = self.of(source)
            yield from found
            if why is not None:
                left_out += 1
                if unmatched is not None:
                    unmatched(source.trace if isinstance(source, Rebuilt) else source, why)
        if left_out and unmatched is None:
            _log.warning("not evaluated: traces that are a try of no case: %d", left_out)
        yield from self.untried()

    def of(self, source: _Trace) -> tuple[list[EvalResult], str | None]:
        """Return the results for one trace; where there is no case for it, why."""
        trace = JudgedTrace(source)
        places = [0] if self._for_all else self._cases.of(trace)
        self._tried.update(places)
        results = [self._result(at, trace) for at in places]
        return results, None if places else self._cases.why_none(trace)

    def untried(self) -> Iterator[EvalResult]:
        """Yield a result for each case that no trace was a try of."""
        for at, case in enumerate(self._cases.all):
            if at not in self._tried and not self._for_all:
                verdicts = [not_evaluated(_NO_TRACE)] * len(case.assertions)
                yield result_of(case, None, verdicts, self._min_evaluated)

    def _result(self, at: int, trace: JudgedTrace) -> EvalResult:
        case = self._cases.all[at]
        verdicts: list[Verdict] = [judge(trace, case) for judge in self._judges[at]]
        return result_of(case, trace.trace.trace_id, verdicts, self._min_evaluated)


def _document(case: object) -> EvalCase | Assertion:
    if isinstance(case, (EvalCase, Assertion)):
        return case
    if isinstance(case, Mapping) and "type" in case and "assertions" not in case:
        return decode(Assertion, case)
    return decode(EvalCase, case)
