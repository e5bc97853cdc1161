"""`evaluate`: results for cases and traces, as they arrive."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from agentool_otel.errors import EvaluationError
from agentool_otel.evaluation.assertion_checks import judgings
from agentool_otel.evaluation.cases.matching import Cases, MatchRule
from agentool_otel.evaluation.given_traces import given_traces
from agentool_otel.evaluation.joined import UnitTrace, judged_trace
from agentool_otel.evaluation.judges.questions import Judge
from agentool_otel.evaluation.lazy_results import EvalResults
from agentool_otel.evaluation.pending import OrderedQueue, Pending, resolve
from agentool_otel.evaluation.results import result_of
from agentool_otel.evaluation.scopes import Scope, Unit, Units
from agentool_otel.evaluation.selecting import Selection
from agentool_otel.evaluation.trace_view import TraceView
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import Assertion, EvalCase, EvalResult, ReasoningTrace
from agentool_otel.reading.rebuild.trace import Rebuilt

if TYPE_CHECKING:
    from agentool_otel.evaluation.judges.asking import JudgePool

__all__ = ["EVERY_TRACE", "Evaluation", "TraceResults", "evaluate"]

_log = logger(__name__)

EVERY_TRACE = "every trace"
"""The case id of results where there are no cases, only assertions that hold for every trace."""
_NO_TRACE = "no trace of this case"
_AHEAD = 8
"""Traces for each question of the judge at a time that may wait for their turn: one whose judge is
slow holds up those behind it."""

_Case: TypeAlias = EvalCase | Assertion | Mapping[str, Any]
_Trace: TypeAlias = ReasoningTrace | Rebuilt


class TraceResults(NamedTuple):
    """The results of a run, with the runs inside it or those of its session, or of a case without
    one."""

    source: _Trace | None
    """The outermost run, the first of a session; None if no run was a try of the case."""
    results: list[EvalResult]
    why_none: str | None = None
    """Why there is no case for the trace; None if there is one."""
    judged: TraceView | None = None
    """The view of the trace that the checks received."""


def evaluate(
    cases: _Case | Iterable[_Case],
    traces: Iterable[_Trace],
    judge: Judge | None = None,
    *,
    min_evaluated: float = 1.0,
    match: MatchRule | None = None,
    scope: Scope = "tree",
    unmatched: Callable[[ReasoningTrace, str], None] | None = None,
) -> EvalResults:
    """Evaluate runs against cases. Results are computed while they are iterated.

    A run belongs to the case that it names (`metadata.case_id`), else to the cases with the same
    input. A case without a run gets a result at the end, in which nothing is evaluated.

    A run is evaluated with its nested runs, as one trace: steps are in the order of time, tokens
    and costs are sums; input, output, status, duration and id are those of the outermost run. The
    result of a rebuilt run is ready when the other runs of the same spans have arrived; that of a
    trace document comes at the end, because any later document may belong to it.

    Without a judge, assertions that need one are not evaluated, and memory holds the cases, the
    runs of one OTel trace, and a summary of each trace document: the rest of a document is in a
    temporary file. With a judge, several questions are sent at a time, from a separate thread;
    results keep their order, and memory also holds the few traces that wait for answers. Closing
    the results drops unanswered questions, and ends the thread.

    Args:
        cases: cases; or assertions alone, which then apply to every trace.
        traces: the traces, best as `rebuild` yields them: a `Rebuilt` knows which data its spans
            lack, a document does not.
        judge: decides the assertions that no rule can (`output_property`, `rubric`,
            `no_hallucination`): a callable that takes a `Question` and returns a bool, a score from
            0 to 1 or an `Answer`, such as `lambda question: "sorry" not in question.output`; or an
            `OpenAIJudge`. Without an answer the assertion is not evaluated, with the reason.
        min_evaluated: the share of the assertions, 0 to 1, that has to be evaluated for a result
            without a failure to count as passed.
        match: the rule for traces that name no case and have the input of none: `contains`, the
            trace's input contains the input of a case; `MEMBER=CASE_MEMBER`, a member of the trace,
            as `metadata.ticket`, is equal to one of the case, by default its `case_id`; or a
            function of a trace and a case.
        scope: the unit of a result: `tree`, a run with its nested runs; `run`, each run by itself,
            where a check that depends on nested runs has in its reason that they were left out;
            `session`, all runs of a session in the order of time, a run without a session by
            itself. With `session` all runs are kept until the last has arrived.
        unmatched: called with each trace that matches no case, and the reason. By default their
            number is logged as a warning.

    Raises:
        EvaluationError: there are no cases, cases and assertions are mixed, `min_evaluated`,
            `match` or `scope` is invalid, or the judge cannot be called. A `CasesError` names all
            assertions that cannot be checked because of their type, a parameter or a value.
        DecodeError: a case given as an object is invalid.
        MissingDependencyError: an assertion needs a library that is not installed.
    """
    evaluation = Evaluation(cases, min_evaluated, judge, match, scope)
    return EvalResults(evaluation.results(traces, unmatched))


class Evaluation:
    """Prepared cases, against which traces are checked one after another."""

    def __init__(
        self,
        cases: _Case | Iterable[_Case],
        min_evaluated: float = 1.0,
        judge: Judge | None = None,
        match: MatchRule | None = None,
        scope: Scope = "tree",
        selection: Selection | None = None,
        last: int | None = None,
    ):
        """Prepare cases.

        Args:
            cases, min_evaluated, judge, match, scope: as `evaluate` has them.
            selection: what a run has to be; None for all.
            last: how many of these runs, counted from the newest; None for all.

        Raises: as `evaluate`.
        """
        self._units = Units(scope, selection, last)
        if not 0 <= min_evaluated <= 1:
            raise EvaluationError(f"min_evaluated is a share from 0 to 1, not {min_evaluated!r}")
        if judge is not None and not callable(judge):
            raise EvaluationError(
                f"a judge is called with a question; {type(judge).__name__} cannot be"
                "; hint: give a function, or OpenAIJudge(model)"
            )
        of_cases, self._for_all = _prepare(cases)
        self._cases = Cases(of_cases, match)
        if match is not None and self._for_all:
            raise EvaluationError(
                "match chooses between cases, and these are assertions alone, which apply to every"
                " trace; hint: leave match out, or put the assertions into cases"
            )
        self._asking = _asking(judge) if judge is not None else None
        self._window: OrderedQueue[TraceResults] = OrderedQueue(
            _AHEAD * self._asking.concurrency if self._asking is not None else 0
        )
        self._judges = judgings(of_cases, self._asking)
        self._min_evaluated = min_evaluated
        self._tried: set[int] = set()

    def results(
        self,
        traces: Iterable[_Trace],
        unmatched: Callable[[ReasoningTrace, str], None] | None = None,
    ) -> Generator[EvalResult]:
        """Yield the results for traces, then for the cases without one."""
        unmatched_count = 0
        try:
            for outcome in self._outcomes(traces):
                yield from outcome.results
                if outcome.why_none is not None and outcome.source is not None:
                    unmatched_count += 1
                    if unmatched is not None:
                        unmatched(_document_of(outcome.source), outcome.why_none)
            if unmatched_count and unmatched is None:
                _log.warning("not evaluated: traces that are a try of no case: %d", unmatched_count)
            for outcome in self.untried():
                yield from outcome.results
        finally:
            self.close()

    def _outcomes(self, traces: Iterable[_Trace]) -> Iterator[TraceResults]:
        for source in given_traces(traces):
            yield from self.put(source)
        yield from self.rest()

    # ---------------------------------------------------------- for those who push their traces

    def put(self, source: _Trace) -> Iterator[TraceResults]:
        """Add a run, and yield the outcomes that are ready, in order. Where too many wait for a
        judge, iterating waits for the first, so do that before the next call."""
        for unit in self._units.put(source):
            yield from self._evaluate(unit)

    def rest(self) -> Iterator[TraceResults]:
        """Yield the outcomes of runs that other runs might have belonged to, and of those that
        wait for a judge. More runs may be put afterwards, which then belong to none of these."""
        for unit in self._units.rest():
            yield from self._evaluate(unit)
        yield from self._window.rest()

    @property
    def unselected(self) -> int:
        """The number of runs that are not selected, each counted with the runs inside it."""
        return self._units.unselected

    @property
    def older(self) -> int:
        """The number of runs that are selected and older than the last ones."""
        return self._units.older

    def _evaluate(self, unit: Unit) -> Iterable[TraceResults]:
        trace = judged_trace(unit)
        places = [0] if self._for_all else self._cases.of(trace)
        self._tried.update(places)
        why_none = None if places else self._cases.why_none(trace)
        promised = [self._pending_verdicts(at, trace) for at in places]
        extra = _about(unit)
        if self._asking is None:
            return (self._outcome(trace, places, promised, why_none, extra),)
        return self._window.put(
            [item for of in promised for item in of],
            lambda: self._outcome(trace, places, promised, why_none, extra),
        )

    def untried(self) -> Iterator[TraceResults]:
        """Yield a result for each case that no trace was a try of."""
        for at, case in enumerate(self._cases.all):
            if at not in self._tried and not self._for_all:
                verdicts = [not_evaluated(_NO_TRACE)] * len(case.assertions)
                yield TraceResults(None, [result_of(case, None, verdicts, self._min_evaluated)])

    def close(self) -> None:
        """Drop unanswered questions and waiting runs, and send no more questions."""
        self._units.close()
        if self._asking is not None:
            self._asking.close()

    def _pending_verdicts(self, at: int, trace: TraceView) -> list[Pending]:
        case = self._cases.all[at]
        if isinstance(trace, UnitTrace):
            return [trace.with_note(partial(judge, trace, case)) for judge in self._judges[at]]
        return [judge(trace, case) for judge in self._judges[at]]

    def _outcome(
        self,
        trace: TraceView,
        places: list[int],
        promised: list[list[Pending]],
        why_none: str | None,
        extra: Mapping[str, Any],
    ) -> TraceResults:
        results: list[EvalResult] = []
        for at, of in zip(places, promised, strict=True):
            verdicts = resolve(of)
            judge = self._who_judged(verdicts)
            results.append(
                result_of(
                    self._cases.all[at],
                    trace.trace.trace_id,
                    verdicts,
                    self._min_evaluated,
                    judge_model=judge,
                    extra=extra,
                )
            )
        return TraceResults(trace.source, results, why_none, trace)

    def _who_judged(self, verdicts: list[Verdict]) -> str | None:
        """Return the judge of the verdicts, None if no judge gave one."""
        if self._asking is None:
            return None
        judged = any(
            "judge_model" in verdict.extra and verdict.passed is not None for verdict in verdicts
        )
        return self._asking.model if judged else None


def _about(unit: Unit) -> Mapping[str, Any]:
    """Return the members of a result about its runs."""
    about: dict[str, Any] = {}
    if len(unit.runs) > 1:
        about["runs"] = len(unit.runs)
    if unit.left_out:
        about["runs_left_out"] = unit.left_out
    if unit.parent is not None:
        about["missing_parent"] = unit.parent
    return about


def _asking(judge: Judge) -> JudgePool:
    from agentool_otel.evaluation.judges.asking import JudgePool  # brings asyncio along

    return JudgePool(judge)


def _document_of(source: _Trace) -> ReasoningTrace:
    return source.trace if isinstance(source, Rebuilt) else source


def _prepare(cases: _Case | Iterable[_Case]) -> tuple[list[EvalCase], bool]:
    """Return the cases, and whether they are assertions that apply to every trace."""
    all_cases = [cases] if isinstance(cases, (EvalCase, Assertion, Mapping)) else cases
    documents = [_document(case) for case in all_cases]
    if not documents:
        raise EvaluationError("there are no cases and no assertions to evaluate by")
    assertions = [document for document in documents if isinstance(document, Assertion)]
    of_cases = [document for document in documents if isinstance(document, EvalCase)]
    if assertions and of_cases:
        raise EvaluationError(
            "cases and assertions are mixed"
            "; hint: give cases, or assertions alone, which apply to every trace"
        )
    if assertions:
        return [EvalCase(case_id=EVERY_TRACE, assertions=assertions)], True
    return of_cases, False


def _document(case: object) -> EvalCase | Assertion:
    if isinstance(case, (EvalCase, Assertion)):
        return case
    if isinstance(case, Mapping) and "type" in case and "assertions" not in case:
        return decode(Assertion, case)
    return decode(EvalCase, case)
