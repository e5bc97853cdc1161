"""Match traces to cases: the case that the run names, else those with its input, else those that a
rule of the user's selects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from agentool_otel.errors import EvaluationError
from agentool_otel.evaluation.comparing import gap_in, same
from agentool_otel.evaluation.trace_view import TraceView
from agentool_otel.ground import json_codec
from agentool_otel.model.documents import UNSET, EvalCase, ReasoningTrace

__all__ = ["Cases", "MatchRule"]

MatchRule: TypeAlias = str | Callable[[ReasoningTrace, EvalCase], bool]
"""`contains`, `MEMBER` or `MEMBER=CASE_MEMBER`, or a function of a trace and a case."""


class Cases:
    """Cases, looked up by the members of a trace."""

    def __init__(self, cases: Iterable[EvalCase], match: MatchRule | None = None):
        """Index cases; the rule is for traces that name no case and share no case's input.

        Args:
            cases: the cases.
            match: `contains`: the input of a case is part of the trace's. `MEMBER=CASE_MEMBER`: a
                member of the trace, as `metadata.ticket` or `session_id`, is equal to one of the
                case, as `context.ticket`; `MEMBER` alone is compared with the `case_id`. Or a
                function.

        Raises:
            EvaluationError: the rule cannot be understood.
        """
        self.all = list(cases)
        self._match = None if match is None else _rule(match)
        self._path = _path_in(match)
        self._words = match if isinstance(match, str) else "the match function"
        self._by_id: defaultdict[str, list[int]] = defaultdict(list)
        self._by_input: defaultdict[str, list[int]] = defaultdict(list)
        for at, case in enumerate(self.all):
            self._by_id[case.case_id].append(at)
            if case.input is not UNSET and case.input is not None:
                self._by_input[json_codec.canonical(case.input)].append(at)

    def of(self, trace: TraceView) -> list[int]:
        """Return the indexes of the cases that a trace is a try of."""
        named = trace.metadata.get("case_id")
        if isinstance(named, str):
            return self._by_id.get(named, [])
        run_input = trace.trace.input
        places = (
            [] if run_input is UNSET else self._by_input.get(json_codec.canonical(run_input), [])
        )
        match = self._match
        if places or match is None:
            return places
        return [at for at, case in enumerate(self.all) if match(trace.trace, case)]

    def why_none(self, trace: TraceView) -> str:
        """Return why a trace is a try of no case."""
        named = trace.metadata.get("case_id")
        if isinstance(named, str):
            return f"no case is called {named!r}, which its run names"
        nor = "" if self._match is None else f", nor does {self._words} find one"
        if self._path is not None and _value(trace.trace, self._path) in (None, UNSET):
            nor = f", and it has no {'.'.join(self._path)} to match by"
        if trace.trace.input is UNSET:
            return f"its run names no case, and its input was not recorded{nor}"
        if gap := gap_in(trace.trace.input) or trace.gap("input"):
            return f"its run names no case, and its input {gap}{nor}"
        return f"its run names no case, and no case has its input{nor}"


def _rule(match: MatchRule) -> Callable[[ReasoningTrace, EvalCase], bool]:
    if not isinstance(match, str):
        return match
    if match == "contains":
        return _input_contains
    member, _, case_member = match.partition("=")
    if not member or match.endswith("="):
        raise EvaluationError(
            f"match is `contains`, a member of the trace, as `metadata.ticket`, or that and one of "
            f"the case, as `metadata.ticket=context.ticket`, not {match!r}"
        )
    path, case_path = member.split("."), (case_member or "case_id").split(".")
    _require_member(ReasoningTrace, path[0], match, ("contains",))
    _require_member(EvalCase, case_path[0], match)

    def equal(trace: ReasoningTrace, case: EvalCase) -> bool:
        value = _value(trace, path)
        return value not in (None, UNSET) and same(_value(case, case_path), value)

    return equal


def _path_in(match: MatchRule | None) -> list[str] | None:
    """Return the path of the member of a trace that a rule names; None if it names none."""
    if not isinstance(match, str) or match == "contains":
        return None
    return match.partition("=")[0].split(".")


def _require_member(
    kind: type[ReasoningTrace | EvalCase], name: str, match: str, words: Sequence[str] = ()
) -> None:
    """Refuse the name of a member that is nearly one of those that documents of a kind have.

    Raises:
        EvaluationError: it is. Any other name may be that of a member that the spec does not know.
    """
    members = [*words, *kind.__struct_fields__]
    if name in members:
        return
    from difflib import get_close_matches

    if similar := get_close_matches(name, members, n=1):
        raise EvaluationError(
            f"{name!r} in match {match!r} is no member of {kind.__name__}"
            f"; hint: did you mean {similar[0]!r}?"
        )


def _input_contains(trace: ReasoningTrace, case: EvalCase) -> bool:
    run_input, case_input = trace.input, case.input
    if not (isinstance(run_input, str) and isinstance(case_input, str)):
        return False
    return bool(case_input.strip()) and case_input.strip() in run_input


def _value(document: ReasoningTrace | EvalCase, path: list[str]) -> Any:
    name, *remainder = path
    value: Any = getattr(document, name, UNSET) if name in document.__struct_fields__ else UNSET
    if value is UNSET:
        value = document.extra.get(name)
    for name in remainder:
        value = value.get(name) if isinstance(value, dict) else None
    return value
