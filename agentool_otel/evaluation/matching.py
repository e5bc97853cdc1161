"""Which cases a trace is a try of: the one its run names, else those that have its input."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from agentool_otel import _json
from agentool_otel.evaluation.comparing import gap_in
from agentool_otel.evaluation.judged import JudgedTrace
from agentool_otel.model.documents import UNSET, EvalCase

__all__ = ["Cases"]


class Cases:
    """Cases, found by what a trace says."""

    def __init__(self, cases: Iterable[EvalCase]):
        self.all = list(cases)
        self._by_id: defaultdict[str, list[int]] = defaultdict(list)
        self._by_input: defaultdict[str, list[int]] = defaultdict(list)
        for at, case in enumerate(self.all):
            self._by_id[case.case_id].append(at)
            if case.input is not UNSET and case.input is not None:
                self._by_input[_json.canonical(case.input)].append(at)

    def of(self, trace: JudgedTrace) -> list[int]:
        """Return the places of a trace's cases, none where it is a try of none."""
        named = trace.metadata.get("case_id")
        if isinstance(named, str):
            return self._by_id.get(named, [])
        given = trace.trace.input
        return [] if given is UNSET else self._by_input.get(_json.canonical(given), [])

    def why_none(self, trace: JudgedTrace) -> str:
        """Return why a trace is a try of no case."""
        named = trace.metadata.get("case_id")
        if isinstance(named, str):
            return f"no case is called {named!r}, which its run names"
        if trace.trace.input is UNSET:
            return "its run names no case, and its input is not in this store"
        if gap := gap_in(trace.trace.input) or trace.gap("input"):
            return f"its run names no case, and its input {gap}"
        return "its run names no case, and no case has its input"
