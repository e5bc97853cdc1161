"""`diff`: differences between two traces."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from agentool_otel.errors import EvaluationError
from agentool_otel.evaluation.trace_diff.actions import PARTS, Member, Part, actions_of
from agentool_otel.evaluation.trace_diff.ignored import Ignoring
from agentool_otel.evaluation.trace_diff.members import MemberComparison
from agentool_otel.evaluation.trace_diff.records import TraceDiff
from agentool_otel.evaluation.trace_diff.step_changes import StepComparison
from agentool_otel.evaluation.trace_diff.tolerances import tolerances_from
from agentool_otel.evaluation.trace_diff.totals import measures_of
from agentool_otel.evaluation.trace_view import TraceView
from agentool_otel.model.documents import UNSET, ReasoningTrace
from agentool_otel.reading.rebuild.trace import Rebuilt

__all__ = ["Diffing", "diff"]


def diff(
    a: ReasoningTrace | Rebuilt,
    b: ReasoningTrace | Rebuilt,
    *,
    ignore: Iterable[str | re.Pattern[str]] = (),
    skip: Collection[Part] = (),
    tolerances: Mapping[str, str | float] | None = None,
) -> TraceDiff:
    """Return the differences of two traces.

    Steps belong together by what they are, not by their places: first equal steps, then those with
    equal requests, then those of a kind between the same neighbours. A tool call and its result are
    one. Ids of traces, sessions, steps and calls, times and totals do not count. Content that is
    masked, shortened or not recorded on one side is unknown, not a difference.

    `diff(b, a)` gives the same with added and lost exchanged.

    Args:
        a: the first trace, best as `rebuild` yields it: a `Rebuilt` knows which data its spans
            lack.
        b: the second trace.
        ignore: regular expressions; their matches inside texts count as equal.
        skip: parts to ignore, of `PARTS`.
        tolerances: by name of a total, the accepted distance of B from A: `{"tokens": "10%",
            "cost": 0.01, "duration": "+2s"}`, with a plus where less is always accepted. Totals
            without a tolerance are shown and do not count.

    Raises:
        EvaluationError: an expression, a part or a tolerance is none.
    """
    return Diffing(ignore, skip, tolerances).compare(TraceView(a), TraceView(b))


class Diffing:
    """Definition of a difference, prepared once for any number of traces."""

    def __init__(
        self,
        ignore: Iterable[str | re.Pattern[str]] = (),
        skip: Collection[Part] = (),
        tolerances: Mapping[str, str | float] | None = None,
    ):
        """Prepare a comparison.

        Raises: as `diff`.
        """
        for part in skip:
            if part not in PARTS:
                raise EvaluationError(f"no part is called {part!r}; known are {', '.join(PARTS)}")
        self.ignoring = Ignoring(ignore)
        self._skip = frozenset(skip)
        self._tolerances = tolerances_from(tolerances or {})

    def compare(self, a: TraceView, b: TraceView) -> TraceDiff:
        """Return the differences of two traces."""
        members = MemberComparison(a, b, self.ignoring, self._skip)
        outside = [*map(members.differences, _outside(a), _outside(b))]
        steps = StepComparison(members, actions_of(a, self._skip), actions_of(b, self._skip))
        return TraceDiff(
            a=a.trace.trace_id,
            b=b.trace.trace_id,
            changes=tuple(change for outcome in outside for change in outcome.changes),
            steps=tuple(steps.changes()),
            equal_steps=steps.equal,
            measures=measures_of(a, b, self._tolerances),
            unknown=(*(item for outcome in outside for item in outcome.unknown), *steps.unknown),
        )


def _outside(trace: TraceView) -> Iterator[Member]:
    """Yield the members of a trace that are compared beside its steps, always in the same order."""
    document = trace.trace
    error = trace.metadata.get("error")
    yield Member("agent", "agent_id", document.agent_id, ("agent_id",), None)
    yield Member("models", "models", ", ".join(sorted(trace.models)) or UNSET, ("models",), None)
    yield Member("input", "input", document.input, ("input",), None)
    yield Member("status", "status", document.status, ("status",), None)
    if not isinstance(error, dict):
        error = {"type": None, "message": error}
    for name in ("type", "message"):  # and no span id, which is another in every run
        yield Member("status", f"error.{name}", error.get(name, UNSET), ("error",), None)
    yield Member("output", "output", document.output, ("output",), None)
