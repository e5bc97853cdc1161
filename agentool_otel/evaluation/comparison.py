"""Compare runs by framework: correctness, duration, cost.

A run with its nested runs counts once: their tokens, tool calls and errors are its own. So does a
run that is added again, from a second recording. Figures that its spans lack are not counted as
zero, but named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from statistics import fmean, median, stdev
from typing import Any, NamedTuple, TypeAlias

from msgspec import UnsetType

from agentool_otel.evaluation.facets import FACETS
from agentool_otel.evaluation.trace_view import or_none
from agentool_otel.model.amounts import possible
from agentool_otel.model.documents import EvalResult, ReasoningTrace, TraceMetrics
from agentool_otel.model.statuses import FAILED_STATUSES
from agentool_otel.reading.rebuild.trace import Rebuilt

__all__ = ["BY", "Comparison", "Group", "Latency"]

FRAMEWORK = "framework"
BY = (FRAMEWORK, *FACETS)
"""Fields by which runs can be grouped."""
_UNKNOWN = "(unknown)"
_LARGEST = 2**63 - 1
"""Largest integer of OTLP."""


class Latency(NamedTuple):
    """Durations of runs, in seconds."""

    median_s: float
    p95_s: float
    """The smallest that 95 of 100 do not exceed."""
    mean_s: float
    sd_s: float | None
    """Of a sample; None for a single run."""


class Group(NamedTuple):
    """The figures of a group. None is unknown, or no cases."""

    name: str
    runs: int
    passed: int
    failed: int
    not_evaluated: int
    """Of the results of cases: 0 of all three where none were given."""
    cases: frozenset[str] | None
    """The ids of the cases that were tried; None if none were given."""
    caseless: int
    """Runs that are a try of no case; 0 where none were given."""
    latency: Latency | None
    tokens: float | None
    """Per run, over the runs that have it."""
    tool_calls: float | None
    """Per run, over the runs that have it."""
    tool_errors: int
    errors: int
    """Runs that failed: those whose span is an error."""
    unsaid: dict[str, int]
    """Number of runs that lack a figure, by its name."""

    @property
    def correct(self) -> float | None:
        """The share of results that passed, of those that were evaluated."""
        evaluated = self.passed + self.failed
        return self.passed / evaluated if evaluated else None

    def to_dict(self, by: str) -> dict[str, Any]:
        """Return the figures as a JSON object, with the group's name under `by`."""
        latency = None if self.latency is None else self.latency._asdict()
        cases = None if self.cases is None else len(self.cases)
        figures = {**self._asdict(), "latency": latency, "correct": self.correct, "cases": cases}
        return {by: figures.pop("name"), **figures}


class _Run(NamedTuple):
    """The figures of one run."""

    trace_id: str
    parent_id: str | None
    name: str | None
    duration_s: float | None
    tokens: float | None
    tool_calls: float | None
    tool_errors: int
    failed: bool


_Verdicts: TypeAlias = tuple[tuple[str, bool | None], ...]
"""The outcome of each case that a run is a try of."""


class Comparison:
    """Adds up runs; keeps a few numbers of each."""

    def __init__(self, by: str = FRAMEWORK):
        """Compare.

        Args:
            by: one of `BY`.
        """
        self._by = by
        self._runs: dict[_Run, None] = {}
        self._verdicts: dict[str, _Verdicts] = {}

    def add(self, trace: ReasoningTrace, rebuilt: Rebuilt | None) -> None:
        """Add a run, in any order. The same run again changes nothing.

        Args:
            trace: its document.
            rebuilt: what that was rebuilt of; without it nothing is known of the framework.
        """
        metrics = or_none(trace.metrics) or TraceMetrics()
        above = (or_none(trace.metadata) or {}).get("parent_trace_id")
        duration_ms = _figure(metrics.total_duration_ms)
        run = _Run(
            trace.trace_id,
            above if isinstance(above, str) else None,
            self._name(trace, rebuilt),
            None if duration_ms is None else duration_ms / 1000,
            _figure(metrics.total_tokens),
            _figure(metrics.tool_call_count),
            sum(or_none(tool_result.error) is not None for tool_result in trace.tool_results()),
            trace.status in FAILED_STATUSES,
        )
        self._runs[run] = None

    def add_results(self, trace_id: str, results: Iterable[EvalResult]) -> None:
        """Add the results of an outermost run with the runs inside it.

        Args:
            trace_id: the id of the run.
            results: a result for each case that the run is a try of.
        """
        self._verdicts[trace_id] = tuple((result.case_id, result.passed) for result in results)

    def _name(self, trace: ReasoningTrace, rebuilt: Rebuilt | None) -> str | None:
        if self._by == FRAMEWORK:
            return None if rebuilt is None else rebuilt.framework()
        values = FACETS[self._by](trace, rebuilt)
        return next((value for value in values if isinstance(value, str) and value), None)

    def groups(self) -> list[Group]:
        """Return the figures, by name; unknown names come last."""
        groups: dict[str, list[list[_Run]]] = {}
        for task in self._tasks():
            name = next((run.name for run in task if run.name is not None), _UNKNOWN)
            groups.setdefault(name, []).append(task)
        names = sorted(groups, key=lambda name: (name == _UNKNOWN, name))
        return [_group(name, groups[name], self._verdicts) for name in names]

    def _tasks(self) -> Iterator[list[_Run]]:
        """Yield each outermost run with those inside it, itself first."""
        parents = {run.trace_id: run.parent_id for run in self._runs}
        tasks: dict[str, list[_Run]] = {}
        for run in self._runs:
            top, passed = run.trace_id, {run.trace_id}
            while (above := parents.get(top)) in parents and above not in passed:
                assert above is not None
                top = above
                passed.add(above)
            runs = tasks.setdefault(top, [])
            runs.insert(0 if run.trace_id == top else len(runs), run)
        yield from tasks.values()


def _group(name: str, tasks: Sequence[Sequence[_Run]], results: Mapping[str, _Verdicts]) -> Group:
    durations = _known_values(task[0].duration_s for task in tasks)
    tokens = _known_values(_sum(run.tokens for run in task) for task in tasks)
    calls = _known_values(_sum(run.tool_calls for run in task) for task in tasks)
    tries = [results[task[0].trace_id] for task in tasks if task[0].trace_id in results]
    verdicts = [passed for of in tries for _, passed in of]
    missing = {"latency": durations, "tokens": tokens, "tool calls": calls}
    return Group(
        name=name,
        runs=len(tasks),
        passed=verdicts.count(True),
        failed=verdicts.count(False),
        not_evaluated=verdicts.count(None),
        cases=frozenset(case_id for of in tries for case_id, _ in of) if tries else None,
        caseless=sum(not of for of in tries),
        latency=_latency(durations),
        tokens=fmean(tokens) if tokens else None,
        tool_calls=fmean(calls) if calls else None,
        tool_errors=sum(run.tool_errors for task in tasks for run in task),
        errors=sum(task[0].failed for task in tasks),
        unsaid={key: n for key, runs in missing.items() if (n := len(tasks) - len(runs))},
    )


def _figure(value: float | UnsetType | None) -> float | None:
    """Return a number that can be added up; None for any other value, which counts as unknown."""
    number: float | None = possible(value)
    return number if number is not None and number <= _LARGEST else None


def _known_values(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _sum(values: Iterable[float | None]) -> float | None:
    numbers = _known_values(values)
    return sum(numbers) if numbers else None


def _latency(durations: list[float]) -> Latency | None:
    if not durations:
        return None
    in_order = sorted(durations)
    return Latency(
        median(in_order),
        in_order[ceil(0.95 * len(in_order)) - 1],
        fmean(in_order),
        stdev(in_order) if len(in_order) > 1 else None,
    )
