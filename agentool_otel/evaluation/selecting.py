"""Selecting traces, to evaluate or to show them."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from agentool_otel.evaluation.facets import FACETS, started_ns
from agentool_otel.evaluation.trace_view import or_none
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.statuses import STATUSES
from agentool_otel.reading.rebuild.endings import STOPPED, ending_of
from agentool_otel.reading.rebuild.trace import Rebuilt

__all__ = ["KNOWN_STATUSES", "Selection"]

KNOWN_STATUSES: tuple[str, ...] = (*STATUSES, *STOPPED)
"""The statuses of the spec, and how else a run ends. A trace may have other words."""


class Selection(NamedTuple):
    """Conditions for a trace. Names may be shell patterns (`research*`). One value of each kind has
    to match, and all kinds have to. A fact that a trace lacks matches no name and no time. A status
    is that of the trace, or its end where the spec has no status for it (`cancelled`,
    `interrupted`, `exited`).
    """

    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    since_ns: int | None = None
    """When it started, at the earliest."""
    until_ns: int | None = None
    """When it started at the latest, this time itself excluded."""
    sessions: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    """Texts, no patterns, of which one occurs in a value of the trace, in upper or lower case."""

    def holds(self, source: ReasoningTrace | Rebuilt) -> bool:
        """Return whether a trace is selected."""
        trace = source.trace if isinstance(source, Rebuilt) else source
        if not self._in_time(trace):
            return False
        rebuilt = source if isinstance(source, Rebuilt) else None
        named = (("agent", self.agents), ("tag", self.tags), ("model", self.models))
        return (
            _any(self.statuses, [or_none(trace.status), ending_of(trace)])
            and _any(self.sessions, [or_none(trace.session_id)])
            and all(
                not patterns or _any(patterns, FACETS[facet](trace, rebuilt))
                for facet, patterns in named
            )
            and (not self.texts or _occurs(self.texts, trace.to_dict()))
        )

    def holds_tree(self, runs: Sequence[ReasoningTrace | Rebuilt]) -> bool:
        """Return whether a run with the runs inside it is selected, itself the first of them. Any
        of the runs may call the model and have the text; all else must hold of the first.
        """
        first = self._replace(models=(), texts=())
        of_any = Selection(models=self.models), Selection(texts=self.texts)
        return first.holds(runs[0]) and all(any(map(item.holds, runs)) for item in of_any)

    def _in_time(self, trace: ReasoningTrace) -> bool:
        if self.since_ns is None and self.until_ns is None:
            return True
        started = started_ns(trace)
        if started is None:
            return False
        return (self.since_ns or 0) <= started and (
            self.until_ns is None or started < self.until_ns
        )


def _any(patterns: tuple[str, ...], values: list[object]) -> bool:
    return not patterns or any(
        isinstance(value, str) and fnmatchcase(value, pattern)
        for value in values
        for pattern in patterns
    )


def _occurs(texts: tuple[str, ...], document: Any) -> bool:
    """Return whether a string of a document, at any depth, contains one of the texts."""
    wanted = [text.casefold() for text in texts]
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            folded = value.casefold()
            if any(text in folded for text in wanted):
                return True
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return False
