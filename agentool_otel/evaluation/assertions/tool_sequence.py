"""Assertions about the tools of a run and their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from agentool_otel.evaluation.assertions._arguments import ArgumentMode, ExpectedArguments
from agentool_otel.evaluation.assertions._called import called_by_run
from agentool_otel.evaluation.check import Check, Word, be, list_words
from agentool_otel.evaluation.comparing import short
from agentool_otel.evaluation.trace_view import Call, TraceView
from agentool_otel.evaluation.verdicts import Verdict, failed, not_evaluated, passed
from agentool_otel.model.documents import EvalCase

__all__ = ["ExpectedCall", "ToolSequence"]

_Fits = Callable[[int, int], bool]
"""Test of whether an expected call matches a call of the run, both by index."""


class _Wrong(NamedTuple):
    """One way in which the calls of a run differ from the expected ones."""

    words: str
    places: Sequence[int] = ()
    """The places of the calls that are not expected."""


class ExpectedCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call of a tool, with arguments where they matter."""

    tool_name: Word
    """The tool."""
    tool_args: dict[str, Any] = msgspec.field(default_factory=dict)
    """Arguments and their values. A value that is an object must be equal as a whole."""
    args_mode: ArgumentMode = "subset"
    """Comparison of the arguments, as `mode` of `args_match`."""

    def holds(self, call: Call) -> bool | None:
        """Return whether a call of the run matches; None if its arguments are unknown."""
        if call.name_gap is None and call.name != self.tool_name:
            return False
        holds = ExpectedArguments(self.tool_args, {}, {}, self.args_mode).match(call).holds
        return None if holds and call.name_gap is not None else holds

    def __str__(self) -> str:
        return f"{self.tool_name}({short(self.tool_args)})" if self.tool_args else self.tool_name


class ToolSequence(Check, frozen=True, kw_only=True):
    """The trajectory, as tool names or calls with arguments; a tool named twice must be called
    twice.

    Modes: `exact`, these calls in this order and no others; `in_order`, these in this order, others
    may lie between; `any_order`, these in any order beside any others (all as ADK has them);
    `superset`, the run's calls are a superset of these, which is the same as `any_order`; `subset`,
    the run's calls are a subset of these (both as agentevals has them).
    """

    tools: list[Word | ExpectedCall]
    """Each a tool's name, or an object of `tool_name`, `tool_args` and `args_mode`. Empty only with
    mode `exact` or `subset`: no tool is called."""
    mode: Literal["exact", "in_order", "any_order", "subset", "superset"] = "in_order"
    """Comparison of these calls with the run's: `exact`, in this order and no others; `in_order`,
    in this order, with others between; `any_order` and `superset`, in any order besides others;
    `subset`, the run has no calls besides these.
    """

    def __post_init__(self) -> None:
        if not self.tools and self.mode not in ("exact", "subset"):
            raise ValueError(
                f"tools is empty, which every run fits in mode {self.mode!r}"
                "; for no call at all: mode 'exact'"
            )

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        calls = trace.calls
        ids = [call.step_id for call in calls]
        reason = called_by_run(calls)
        expected = [
            ExpectedCall(tool_name=tool) if isinstance(tool, str) else tool for tool in self.tools
        ]
        holds = [[item.holds(call) for call in calls] for item in expected]
        wrong = self._wrong(expected, calls, lambda i, j: holds[i][j] is True)
        if wrong and not self._wrong(expected, calls, lambda i, j: holds[i][j] is not False):
            unclear = [calls[j] for j in range(len(calls)) if any(row[j] is None for row in holds)]
            gaps = list_words(f"{call.name} at {call.step_id}" for call in unclear)
            return not_evaluated(f"{reason}, but not all of {gaps} can be seen", ids)
        if trace.unseen_calls and self._open(wrong, holds):
            return not_evaluated(f"{reason}, but {trace.unseen_calls}", ids)
        if wrong is None:
            return passed(reason, ids)
        failing = [calls[at].step_id for at in wrong.places]
        return failed(f"{reason}; {wrong.words}", ids, failing=failing)

    def _wrong(
        self, expected: Sequence[ExpectedCall], calls: Sequence[Call], fits: _Fits
    ) -> _Wrong | None:
        """Return the first difference from the expected calls; None without any."""
        number, of = len(expected), len(calls)
        words = (
            f"{'exactly ' * (self.mode == 'exact')}{list_words(map(str, expected)) or 'no tool'}"
        )
        if self.mode == "exact":
            same = number == of and all(fits(n, n) for n in range(number))
            if same:
                return None
            first = next((n for n in range(of) if n >= number or not fits(n, n)), None)
            places = [] if first is None else [first]
            return _Wrong(f"expected {words}", places)
        if self.mode == "in_order":
            indexes = iter(range(of))
            in_order = all(any(fits(n, at) for at in indexes) for n in range(number))
            return None if in_order else _Wrong(f"expected {words} in this order")
        if self.mode == "subset":
            more = _without_partner(of, number, lambda j, i: fits(i, j))
            names = list_words(calls[j].name for j in more)
            return _Wrong(f"{names} {be(len(more))} not expected", more) if more else None
        missing = _without_partner(number, of, fits)
        names = list_words(str(expected[i]) for i in missing)
        return _Wrong(f"{names} {be(len(missing))} missing") if missing else None

    def _open(self, wrong: _Wrong | None, holds: Sequence[Sequence[bool | None]]) -> bool:
        """Return whether calls that cannot be seen could change the verdict."""
        if self.mode == "subset":
            return wrong is None
        if self.mode == "exact":  # calls that are seen have to be some of the expected, in order
            rows = iter(holds)
            number = len(holds[0]) if holds else 0
            return all(any(row[at] is not False for row in rows) for at in range(number))
        return wrong is not None


def _without_partner(number: int, others: int, fits: _Fits) -> list[int]:
    """Return which of `number` things cannot be matched with a partner of their own.

    As many as possible have one: the augmenting paths of Kuhn's algorithm, breadth first.
    """
    partner: dict[int, int] = {}
    return [thing for thing in range(number) if not _pair(thing, others, fits, partner)]


def _pair(thing: int, others: int, fits: _Fits, partner: dict[int, int]) -> bool:
    reached_from: dict[int, int] = {}
    waiting = [thing]
    for asking in waiting:
        for other in range(others):
            if other in reached_from or not fits(asking, other):
                continue
            reached_from[other] = asking
            if other not in partner:
                _shift(other, thing, reached_from, partner)
                return True
            waiting.append(partner[other])
    return False


def _shift(other: int, thing: int, reached_from: dict[int, int], partner: dict[int, int]) -> None:
    """Flip the path: each takes the partner it reached, leaving its old one to the one before."""
    owned = {owner: thing for thing, owner in partner.items()}
    while True:
        asking = reached_from[other]
        owner = owned.get(asking)
        partner[other] = asking
        if asking == thing or owner is None:
            return
        other = owner
