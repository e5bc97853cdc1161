"""Results grouped by agent, model, tag, day, case or assertion, and the counts of each group."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, NamedTuple

from agentool_otel.evaluation.facets import FACETS
from agentool_otel.evaluation.reports.assertion_names import AssertionNames
from agentool_otel.evaluation.trace_view import TraceView
from agentool_otel.model.documents import AssertionResult, EvalResult, ReasoningTrace
from agentool_otel.model.plain_text import MARKS
from agentool_otel.reading.rebuild.trace import Rebuilt

__all__ = [
    "ASSERTION",
    "BY",
    "CASE",
    "MARKS",
    "NO_TRACE",
    "UNKNOWN",
    "Row",
    "Slices",
    "Subject",
    "Tally",
]

UNKNOWN = "(unknown)"
NO_TRACE = "(no trace)"

CASE, ASSERTION = "case", "assertion"
BY = (*FACETS, CASE, ASSERTION)
"""Fields by which results can be grouped: a facet of the trace, the case, the assertion."""


class Subject:
    """The subject of a result: a trace, or nothing for a case without one."""

    def __init__(
        self,
        trace: ReasoningTrace | None,
        rebuilt: Rebuilt | None = None,
        judged: TraceView | None = None,
    ):
        self.trace = trace
        self.rebuilt = rebuilt
        self._judged = judged
        self._names: dict[str, list[str]] = {}

    @property
    def view(self) -> TraceView | None:
        """The trace as the checks saw it, with nested runs; None if there is none."""
        if self._judged is None and self.trace is not None:
            self._judged = TraceView(self.rebuilt or self.trace)
        return self._judged

    def names(self, by: str) -> list[str]:
        """Return the slices it belongs to, at least one.

        Args:
            by: a key of `FACETS`.
        """
        if by not in self._names:
            self._names[by] = self._read(by)
        return self._names[by]

    def _read(self, by: str) -> list[str]:
        if self.trace is None:
            return [NO_TRACE]
        values: list[Any] = FACETS[by](self.trace, self.rebuilt)
        if by == "model" and self._judged is not None:
            values = [*self._judged.models]
        values = values or [None]
        return [
            *dict.fromkeys(
                value if isinstance(value, str) and value else UNKNOWN for value in values
            )
        ]


class Row(NamedTuple):
    """The figures of a slice, or of all results."""

    name: str
    results: int
    passed: int
    failed: int
    not_evaluated: int
    score: float | None
    """The mean of the scores of what passed or failed; None if nothing did."""

    @property
    def pass_rate(self) -> float | None:
        """The share that passed, of the evaluated ones; None if nothing was evaluated."""
        evaluated = self.passed + self.failed
        return self.passed / evaluated if evaluated else None


class Tally:
    """Counts results."""

    def __init__(self) -> None:
        self.outcomes: Counter[bool | None] = Counter()
        self.evaluated = 0
        """Assertions that were evaluated, of `total`."""
        self.total = 0
        self._scores = 0.0
        self._scored = 0

    def add(self, result: EvalResult) -> None:
        """Count a result."""
        self.outcomes[result.passed] += 1
        self.total += len(result.assertion_results)
        self.evaluated += sum(
            1
            for assertion_result in result.assertion_results
            if assertion_result.passed is not None
        )
        self._add_score(result.passed, result.composite_score)

    def add_assertion(self, assertion_result: AssertionResult) -> None:
        """Count the result of one assertion."""
        self.outcomes[assertion_result.passed] += 1
        self.total += 1
        self.evaluated += assertion_result.passed is not None
        self._add_score(assertion_result.passed, assertion_result.score)

    def _add_score(self, passed: bool | None, score: Any) -> None:
        if passed is not None and isinstance(score, (int, float)):
            self._scores += score
            self._scored += 1

    def row(self, name: str = "") -> Row:
        """Return the figures."""
        outcomes = self.outcomes
        score = self._scores / self._scored if self._scored else None
        return Row(name, outcomes.total(), outcomes[True], outcomes[False], outcomes[None], score)


class Slices:
    """Counts results.

    Args:
        by: one of `BY`; by assertion it counts the results of assertions.
        names: the names of the assertions; by default their types.
    """

    def __init__(self, by: str, names: AssertionNames | None = None):
        self.by = by
        self._names = names or AssertionNames()
        self._tallies: defaultdict[str, Tally] = defaultdict(Tally)

    def add(self, result: EvalResult, subject: Subject) -> None:
        """Count a result in every slice it belongs to."""
        if self.by == CASE:
            self._tallies[result.case_id].add(result)
            return
        if self.by == ASSERTION:
            for name, item in zip(self._names.of(result), result.assertion_results, strict=True):
                self._tallies[name].add_assertion(item)
            return
        for name in subject.names(self.by):
            self._tallies[name].add(result)

    def rows(self) -> list[Row]:
        """Return the slices, the worst first."""
        return sorted((tally.row(name) for name, tally in self._tallies.items()), key=_badness)

    @property
    def tell_nothing(self) -> bool:
        """Return whether no result has a known value for this facet."""
        return not self._tallies.keys() - {UNKNOWN, NO_TRACE}


def _badness(row: Row) -> tuple[float, float, int, str]:
    return -row.failed / row.results, -row.not_evaluated / row.results, -row.results, row.name
