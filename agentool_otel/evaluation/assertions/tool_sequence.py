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
    args_mode: ArgumentMode = "at_least"
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
    `subset`, the run has no calls besides these, so that a run without any call passes.
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
            more = _unmatched(of, number, lambda j, i: fits(i, j))
            names = list_words(calls[j].name for j in more)
            return _Wrong(f"{names} {be(len(more))} not expected", more) if more else None
        missing = _unmatched(number, of, fits)
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


def _unmatched(left_count: int, right_count: int, fits: _Fits) -> list[int]:
    """Return the left items without a partner in a maximum matching of left and right items.

    Items are numbered from 0; `fits` takes a left and a right one. The algorithm is Kuhn's, with
    its augmenting paths searched breadth first.
    """
    partner: dict[int, int] = {}  # of right items
    return [left for left in range(left_count) if not _match(left, right_count, fits, partner)]


def _match(start: int, right_count: int, fits: _Fits, partner: dict[int, int]) -> bool:
    """Find a partner for a left item, where matched items may get another one."""
    reached_from: dict[int, int] = {}
    waiting = [start]
    for left in waiting:  # grows
        for right in range(right_count):
            if right in reached_from or not fits(left, right):
                continue
            reached_from[right] = left
            if right not in partner:
                _flip(right, start, reached_from, partner)
                return True
            waiting.append(partner[right])
    return False


def _flip(right: int, start: int, reached_from: dict[int, int], partner: dict[int, int]) -> None:
    """Flip an augmenting path: each left item takes the right item that it reached."""
    previous = {left: right for right, left in partner.items()}
    while True:
        left = reached_from[right]
        partner[right] = left
        if left == start or left not in previous:
            return
        right = previous[left]
