"""Several runs as one trace: a run with the runs inside it, or the runs of a session.

The steps of all runs stand in the order of time, those of one run in its own order. The id of a
step of an inner run begins with the name of its agent, as `billing/step_001`, so that reasons name
the run. What cannot be seen of one of the runs cannot be seen of the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from heapq import merge
from math import inf
from typing import Any, NamedTuple

from msgspec.structs import replace

from agentool_otel.evaluation.facets import started_ns
from agentool_otel.evaluation.scopes import Unit, parent_of
from agentool_otel.evaluation.trace_view import NO_COST, TraceView, or_none
from agentool_otel.evaluation.verdicts import Verdict
from agentool_otel.model.amounts import is_possible
from agentool_otel.model.documents import UNSET, ReasoningTrace, Step, TraceMetrics
from agentool_otel.model.times import to_ns
from agentool_otel.reading.rebuild.trace import Rebuilt

__all__ = ["UnitTrace", "judged_trace"]

_LISTED = 3
_NAMES = {"total_tokens": "tokens are", "total_cost_usd": "cost is"}
_MISSING = {"total_tokens": "tokens were not recorded", "total_cost_usd": f"cost {NO_COST}"}
_SUCCESS = "success"


def judged_trace(unit: Unit) -> TraceView:
    """Return the trace that a result is about."""
    if len(unit.runs) == 1 and _note(unit) is None and not unit.missing:
        return TraceView(unit.runs[0], unit.is_session)
    return UnitTrace(unit)


class _Member:
    """A run of a unit, under a name of its own."""

    def __init__(self, run: ReasoningTrace | Rebuilt, is_inside: bool):
        self.judged = TraceView(run)
        self.trace = self.judged.trace
        self.is_inside = is_inside
        """Whether the parent run is in the unit."""
        self.inside: list[_Member] = []
        """The runs that it is around."""
        self.name = ""
        """Prefix of its step ids; empty for the first run."""

    @property
    def is_frame(self) -> bool:
        """Return whether the run has no output of its own because other runs do its work: nested
        runs, or one that it handed over to.
        """
        hands_on = bool(self.inside) or any(step.type == "handoff" for step in self.trace.steps)
        return hands_on and self.trace.output is UNSET and not self.judged.calls

    def step_id(self, own_id: str) -> str:
        return f"{self.name}/{own_id}" if self.name else own_id

    def reason_with_name(self, why: str | None) -> str | None:
        return f"{self.name}: {why}" if why and self.name else why

    @property
    def unseen_calls(self) -> str | None:
        judged = self.judged
        if self.is_frame:  # that it has no output is no sign that its calls were not captured
            judged = TraceView(judged.source)
            judged.trace = replace(self.trace, output=None)
        return self.reason_with_name(judged.unseen_calls)

    def uncounted(self, member: str) -> str | None:
        if (why := self.judged.uncounted(member)) is not None:
            return self.reason_with_name(why)
        name = member.removeprefix("metrics.")
        amount = or_none(getattr(self.judged.metrics, name))
        if amount is None:
            return self.reason_with_name(f"its {_MISSING[name]}") if self._calls_models else None
        return (
            None
            if is_possible(amount)
            else self.reason_with_name(f"its {_NAMES[name]} unknown: {amount}")
        )

    @property
    def _calls_models(self) -> bool:
        """Return whether the run has, or may have, a model call: a document without steps does not
        show how its answer was made.
        """
        if self.judged.models or any(step.type == "reasoning" for step in self.trace.steps):
            return True
        is_document = not isinstance(self.judged.source, Rebuilt)
        return is_document and not self.trace.steps and not self.is_frame


class UnitTrace(TraceView):
    """The runs of a unit as one trace.

    The status, the times, the metadata and the id are those of the first run, input and output too;
    where it has neither and exactly one run is inside it, input and output are that run's. Of a
    session the output is that of the last outermost run, the duration is the sum over the outermost
    runs, and the status is the first one that is no success.
    """

    def __init__(self, unit: Unit):
        """Join the runs of a unit."""
        super().__init__(unit.runs[0], unit.is_session)
        self.note = _note(unit)
        """Parts of the unit that were left out, for the reason of a check that depends on them."""
        self.looked_for_more = False
        """Whether a check needed calls or figures that the trace may lack."""
        self._unit = unit
        self._members = _members(unit)
        self._tops = [member for member in self._members if not member.is_inside] or self._members[
            :1
        ]
        self._own: dict[str, tuple[_Member, str]] = {}
        self._first = self._members[0]
        self._input_of = _speaker(self._first)
        last = max(self._tops, key=_start) if unit.is_session else self._first
        self._output_of = _speaker(last)
        self.trace = self._join(last)

    def _join(self, last: _Member) -> ReasoningTrace:
        first = self._first.trace
        steps = [self._step(member, n, at) for member, n, at in _in_order(self._members)]
        return replace(
            first,
            finished_at=last.trace.finished_at,
            input=self._input_of.trace.input,
            output=self._output_of.trace.output,
            status=self._status(),
            steps=steps,
            metrics=self._totals(len(steps)),
            metadata=self._metadata(),
        )

    def _step(self, member: _Member, step_id: str, step: Step) -> Step:
        qualified = member.step_id(step_id)
        while qualified in self._own:
            qualified += "'"
        self._own[qualified] = member, step_id
        call, result = or_none(step.tool_call), or_none(step.tool_result)
        if call is not None and isinstance(call.id, str):
            step = replace(step, tool_call=replace(call, id=member.step_id(call.id)))
        if result is not None and isinstance(result.call_id, str):
            result = replace(result, call_id=member.step_id(result.call_id))
            step = replace(step, tool_result=result)
        return replace(step, step_id=qualified)

    def _status(self) -> Any:
        if not self._unit.is_session:
            return self._first.trace.status
        statuses = [top.trace.status for top in self._tops]
        return next((status for status in statuses if status != _SUCCESS), self._first.trace.status)

    def _totals(self, steps: int) -> TraceMetrics:
        timed = self._tops if self._unit.is_session else [self._first]
        calls = [or_none(member.judged.metrics.tool_call_count) for member in self._members]
        return TraceMetrics(
            total_tokens=_sum(member.judged.metrics.total_tokens for member in self._members),
            total_cost_usd=_sum(member.judged.metrics.total_cost_usd for member in self._members),
            total_duration_ms=_whole_sum(item.judged.metrics.total_duration_ms for item in timed),
            step_count=steps,
            tool_call_count=UNSET
            if None in calls
            else sum(call for call in calls if call is not None),
        )

    def _metadata(self) -> Any:
        if isinstance(self._first.judged.metadata.get("case_id"), str):
            return self._first.trace.metadata
        case_id = self._input_of.judged.metadata.get("case_id")
        if not isinstance(case_id, str):
            return self._first.trace.metadata
        return {**self._first.judged.metadata, "case_id": case_id}

    # ------------------------------------------------------------------------ what is not seen

    @cached_property
    def models(self) -> list[str]:
        """The models that were called in any of the runs."""
        return list(
            dict.fromkeys(name for member in self._members for name in member.judged.models)
        )

    @property
    def answer_ends(self) -> list[dict[str, Any]]:
        """The answers of all runs that did not come to their end."""
        return [
            end if member is self._output_of else {**end, "is_output": False}
            for member in self._members
            for end in member.judged.answer_ends
        ]

    @property
    def output_end(self) -> str | None:
        """How the answer that is the output ended, in the run that it is of."""
        return self._output_of.judged.output_end

    @property
    def shows_answers(self) -> bool:
        """Whether a model call shows in any of the runs."""
        return any(member.judged.shows_answers for member in self._members)

    @property
    def unknown_end(self) -> str | None:
        """Why an answer of any of the runs may have ended in another way than it shows."""
        self.looked_for_more = True
        reasons = (item.reason_with_name(item.judged.unknown_end) for item in self._members)
        return self._absent or next((why for why in reasons if why), None)

    def gap(self, field: str, step_id: str | None = None) -> str | None:
        """Return why a member may differ from the original, as the run that it is of has it."""
        member, own_id = self._owner(field, step_id)
        return member.judged.gap(field, own_id)

    def why_missing(self, field: str, step_id: str | None = None) -> str:
        """Return why a member is absent, as the run that it is of has it."""
        member, own_id = self._owner(field, step_id)
        return member.judged.why_missing(field, own_id)

    def _owner(self, field: str, step_id: str | None) -> tuple[_Member, str | None]:
        if step_id is None:
            return self._input_of if field == "input" else self._output_of, None
        return self._own.get(step_id, (self._first, step_id))

    @property  # not cached: it notes each use
    def unseen_calls(  # pyright: ignore[reportIncompatibleVariableOverride] - read in the same way
        self,
    ) -> str | None:
        """Why there may be tool calls that the runs do not show; None if they show all."""
        self.looked_for_more = True
        return self._absent or next(
            (why for member in self._members if (why := member.unseen_calls)), None
        )

    @property
    def turns(self) -> int:
        """Number of the outermost runs. Runs inside the same run, which is missing, count once."""
        return len({parent_of(top.trace) or top.trace.trace_id for top in self._tops})

    @property
    def uncounted_turns(self) -> str | None:
        """Why there may be more outermost runs, by any of those that are there."""
        self.looked_for_more = True
        reasons = (top.reason_with_name(top.judged.unfinished) for top in self._tops)
        return next((why for why in reasons if why), None)

    def unmatched_call(self, tool_name: str | None) -> str | None:
        """Return why a tool may have ended in another way than its result shows, in any of the
        runs."""
        reasons = (member.judged.unmatched_call(tool_name) for member in self._members)
        return next((why for why in reasons if why), None)

    def uncounted(self, member: str) -> str | None:
        """Return why the runs may have used more than their metrics have."""
        self.looked_for_more = True
        reasons = (item.uncounted(member) for item in self._members)
        return self._absent or next((why for why in reasons if why), None)

    @cached_property
    def _absent(self) -> str | None:
        missing = self._unit.missing
        if not missing:
            return None
        more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
        return f"runs inside it were not found: {', '.join(missing[:_LISTED])}{more}"

    def with_note(self, check: Callable[[], Any]) -> Any:
        """Return the result of a check. A verdict that depends on parts left out has them in its
        reason.
        """
        self.looked_for_more = False
        verdict = check()
        if self.note is None or not self.looked_for_more or not isinstance(verdict, Verdict):
            return verdict
        return verdict._replace(reason=f"{verdict.reason} ({self.note})")


def _note(unit: Unit) -> str | None:
    words: list[str] = []
    if unit.left_out:
        runs = "1 run" if unit.left_out == 1 else f"{unit.left_out} runs"
        words.append(f"{runs} inside it left out by the scope run")
    if unit.parent is not None:
        words.append(f"the run around it, {unit.parent}, is missing")
    return "; ".join(words) or None


def _members(unit: Unit) -> list[_Member]:
    pairs = list(zip(unit.runs, unit.above, strict=True))
    members = [_Member(run, above is not None) for run, above in pairs]
    for member, (_, above) in zip(members, pairs, strict=True):
        if above is not None:
            members[above].inside.append(member)
    names = [_name(member.trace) for member in members]
    several = {name for name, count in Counter(names).items() if count > 1}
    counts: Counter[str] = Counter()
    for number, (member, name) in enumerate(zip(members, names, strict=True)):
        counts[name] += 1
        if number:
            member.name = f"{name}#{counts[name]}" if name in several else name
    return members


def _name(trace: ReasoningTrace) -> str:
    return trace.agent_id if isinstance(trace.agent_id, str) and trace.agent_id else "run"


def _speaker(member: _Member) -> _Member:
    """Return the run whose input and output count: the run itself, or the only run inside a run
    that has neither."""
    passed: set[_Member] = set()
    while (
        len(member.inside) == 1
        and member not in passed
        and member.trace.input is UNSET
        and member.trace.output is UNSET
    ):
        passed.add(member)
        member = member.inside[0]
    return member


class _Timed(NamedTuple):
    time_ns: float
    rank: int
    member: _Member
    step_id: str
    step: Step


def _in_order(members: Sequence[_Member]) -> Iterator[tuple[_Member, str, Step]]:
    """Yield the steps in the order of time, each with its run and its id there."""
    for item in merge(
        *(_timed_steps(rank, of) for rank, of in enumerate(members)), key=lambda item: item[:2]
    ):
        yield item.member, item.step_id, item.step


def _timed_steps(rank: int, member: _Member) -> Iterator[_Timed]:
    """Yield the steps of a run; one without a time has that of the step before it."""
    time_ns = _start(member)
    for step_id, step in member.judged.steps:
        at = to_ns(step.timestamp) if isinstance(step.timestamp, str) else None
        time_ns = at if at is not None and time_ns == inf else max(time_ns, at or time_ns)
        yield _Timed(time_ns, rank, member, step_id, step)


def _start(member: _Member) -> float:
    started = started_ns(member.trace)
    return inf if started is None else started


def _sum(values: Iterable[Any]) -> Any:
    """Return the sum of the values that are known and possible; UNSET where none is."""
    figures = [item for item in map(or_none, values) if item is not None and is_possible(item)]
    return sum(figures) if figures else UNSET


def _whole_sum(values: Iterable[Any]) -> Any:
    """Return the sum; UNSET where one of the values is not known."""
    figures = [or_none(value) for value in values]
    return UNSET if None in figures else sum(figures)
