"""Results for people: what failed and why, what was not evaluated, and a table, worst first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table
from rich.text import Text

from agentool_otel.cli import _text
from agentool_otel.evaluation.facets import FACETS
from agentool_otel.model.documents import UNSET, EvalResult, ReasoningTrace
from agentool_otel.rebuild import Rebuilt

__all__ = ["MARKS", "Summary"]

_SHOWN = 20
_REASONS = 10
_NONE = "(unknown)"
MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("-", "yellow")}


@dataclass
class _Slice:
    outcomes: Counter[bool | None] = field(default_factory=Counter)
    scores: list[float] = field(default_factory=lambda: [0.0, 0])
    """Their sum, and how many they are."""

    def add(self, result: EvalResult) -> None:
        self.outcomes[result.passed] += 1
        if isinstance(result.composite_score, (int, float)):
            self.scores[0] += result.composite_score
            self.scores[1] += 1

    @property
    def badness(self) -> tuple[float, float, int]:
        total = self.outcomes.total()
        failed, unknown = self.outcomes[False], self.outcomes[None]
        return -failed / total, -unknown / total, -total


class Summary:
    """Counts results as they come; holds counts, and the first of those that did not pass."""

    def __init__(self, by: str):
        self._by = by
        self._slices: defaultdict[str, _Slice] = defaultdict(_Slice)
        self._shown: list[EvalResult] = []
        self._reasons: Counter[tuple[str, str]] = Counter()
        self.outcomes: Counter[bool | None] = Counter()

    def add(
        self, result: EvalResult, trace: ReasoningTrace | None, rebuilt: Rebuilt | None
    ) -> None:
        """Add the result of a trace; None where the case has none."""
        self.outcomes[result.passed] += 1
        names = ["(no trace)"] if trace is None else FACETS[self._by](trace, rebuilt)
        for name in dict.fromkeys(map(_name, names or [None])):
            self._slices[name].add(result)
        if result.passed is False and len(self._shown) < _SHOWN:
            self._shown.append(result)
        for held in result.assertion_results:
            if held.passed is None:
                reason = held.reason if isinstance(held.reason, str) else ""
                if len(self._reasons) < 1000 or (held.assertion_type, reason) in self._reasons:
                    self._reasons[held.assertion_type, reason] += 1

    def lines(self) -> Iterator[Text]:
        """Yield what failed, with its steps, and what was not evaluated, with the reasons."""
        for result in self._shown:
            yield from _failure(result)
        more = self.outcomes[False] - len(self._shown)
        if more > 0:
            yield Text(f"... and {_text.count(more, 'more result')} with a failure", "dim")
        if self._reasons:
            yield Text("not evaluated", "bold")
        for (kind, reason), times in self._reasons.most_common(_REASONS):
            yield Text(f"  {times:,} × {_text.line(kind)}: {_text.line(reason)}")
        if len(self._reasons) > _REASONS:
            yield Text(f"  ... and {len(self._reasons) - _REASONS} more reasons", "dim")

    def table(self) -> Table:
        """Return the table: a line for each agent, model, tag or day, the worst first."""
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column(self._by)
        for heading in ("results", "✓ passed", "✗ failed", "- not evaluated", "score"):
            table.add_column(heading, justify="right")
        for name, found in sorted(self._slices.items(), key=lambda it: (it[1].badness, it[0])):
            counts = [found.outcomes[outcome] for outcome in (True, False, None)]
            total, many = found.scores
            score = f"{total / many:.3f}" if many else "-"
            table.add_row(_text.line(name), *(f"{n:,}" for n in (sum(counts), *counts)), score)
        return table


def _failure(result: EvalResult) -> Iterator[Text]:
    mark, style = MARKS[result.passed]
    words = [result.case_id] + ([result.trace_id] if isinstance(result.trace_id, str) else [])
    evaluated = f"{result.extra.get('evaluated')} of {result.extra.get('total')} evaluated"
    score = "" if result.composite_score is UNSET else f"  score {result.composite_score}"
    yield Text.assemble(
        (mark, style), " ", ("  ".join(map(_text.line, words)), "bold"), f"{score}  {evaluated}"
    )
    for held in result.assertion_results:
        if held.passed is False:
            reason = held.reason if isinstance(held.reason, str) else ""
            yield Text.assemble(
                "    ", (mark, style), f" {_text.line(held.assertion_type)}: {_text.line(reason)}"
            )


def _name(value: Any) -> str:
    return value if isinstance(value, str) and value else _NONE
