"""Differences in one member of a trace or step, and members that cannot be compared."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from agentool_otel.evaluation.trace_diff.actions import Action, Member, Part, members_of
from agentool_otel.evaluation.trace_diff.ignored import Ignoring
from agentool_otel.evaluation.trace_diff.pieces import pieces
from agentool_otel.evaluation.trace_diff.records import Change, Unknown
from agentool_otel.evaluation.trace_view import TraceView
from agentool_otel.model.documents import UNSET

__all__ = ["MemberComparison", "Outcome"]


class Outcome(NamedTuple):
    """The outcome of a comparison."""

    changes: tuple[Change, ...] = ()
    unknown: tuple[Unknown, ...] = ()


class MemberComparison:
    """Two traces, to be compared member by member."""

    def __init__(self, a: TraceView, b: TraceView, ignoring: Ignoring, skip: Collection[Part] = ()):
        self.a = a
        self.b = b
        self.ignoring = ignoring
        self.skip = skip

    def compare_inside(self, a: Action, b: Action) -> Outcome:
        """Return the differences inside a step that both traces have."""
        outcomes = [
            self.differences(one, other, a, b)
            if one is not None and other is not None
            else self._one_sided(one, other, a, b)
            for one, other in _by_path(a, b)
        ]
        return Outcome(
            tuple(change for outcome in outcomes for change in outcome.changes),
            tuple(unknown for outcome in outcomes for unknown in outcome.unknown),
        )

    def differences(
        self, one: Member, other: Member, a: Action | None = None, b: Action | None = None
    ) -> Outcome:
        """Return the differences in a member that both have, even if absent in one."""
        if one.part in self.skip or (one.value is UNSET and other.value is UNSET):
            return Outcome()
        if one.value is UNSET:
            return _unknown_member(one.path, _why_missing(self.a, one), a, b)
        if other.value is UNSET:
            return _unknown_member(one.path, _why_missing(self.b, other), a, b)
        gap = _gap(self.a, one) or _gap(self.b, other)
        if a is None and one.value != other.value:
            gap = gap or _unsure(self.a, one) or _unsure(self.b, other)
        if gap is not None:
            return _unknown_member(one.path, gap, a, b)
        differing = [*pieces(one.value, other.value, one.path, self.ignoring)]
        return Outcome(
            tuple(
                Change(path=item.path, a=item.a, b=item.b)
                for item in differing
                if item.why_unknown is None
            ),
            tuple(
                Unknown(path=item.path, why=item.why_unknown, a=a, b=b)
                for item in differing
                if item.why_unknown is not None
            ),
        )

    def _one_sided(self, one: Member | None, other: Member | None, a: Action, b: Action) -> Outcome:
        """Return the outcome for a member that only one of two steps has."""
        member = one or other
        assert member is not None
        if member.part in self.skip:
            return Outcome()
        lacking, trace = (b, self.b) if other is None else (a, self.a)
        why = trace.unfinished or ("was not recorded" if member.value is UNSET else None)
        if member.path == "error":
            why = _gap(trace, member._replace(step_id=lacking.result_step_id))
            differs = member.value is not None
        elif member.path == "result":  # one that failed gave nothing back
            differs = lacking.result is None
        else:
            why, differs = _why_missing(trace, member._replace(step_id=lacking.step_id)), True
        if not differs:
            return Outcome()
        if why is not None:
            return _unknown_member(member.path, why, a, b)
        values = (member.value, UNSET) if other is None else (UNSET, member.value)
        return Outcome((Change(path=member.path, a=values[0], b=values[1]),))


def _by_path(a: Action, b: Action) -> list[tuple[Member | None, Member | None]]:
    mine = {member.path: member for member in members_of(a)}
    theirs = {member.path: member for member in members_of(b)}
    return [(mine.get(path), theirs.get(path)) for path in {**mine, **theirs}]


def _gap(trace: TraceView, member: Member) -> str | None:
    gaps = (trace.gap(field, member.step_id) for field in member.fields)
    return next((gap for gap in gaps if gap is not None), None)


def _unsure(trace: TraceView, member: Member) -> str | None:
    """Return why a member of a trace, not of a step, may be another one than the run had."""
    if member.part == "status":
        return trace.status_gap
    if member.path == "output":
        return trace.output_gap if trace.metadata.get("incomplete") else None
    return trace.unfinished if trace.metadata.get("incomplete") else None


def _why_missing(trace: TraceView, member: Member) -> str:
    return _gap(trace, member) or trace.why_missing(member.fields[0], member.step_id)


def _unknown_member(path: str, why: str, a: Action | None, b: Action | None) -> Outcome:
    return Outcome(unknown=(Unknown(path=path, why=why, a=a, b=b),))
