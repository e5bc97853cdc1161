"""Results for people: failures with reasons, unevaluated assertions, and a table, worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agentool_otel.cli import _text
from agentool_otel.evaluation.reports import Subject
from agentool_otel.evaluation.reports.assertion_names import AssertionNames
from agentool_otel.evaluation.reports.result_texts import figures
from agentool_otel.evaluation.reports.slices import MARKS, Slices
from agentool_otel.evaluation.running import EVERY_TRACE
from agentool_otel.model.documents import UNSET, EvalResult

__all__ = ["STYLES", "Summary", "print_line"]

_SHOWN = 20
_REASONS = 10
STYLES = {True: "green", False: "red", None: "yellow"}


def print_line(console: Console, line: Text) -> None:
    """Print a line of the summary; on a terminal, a long line is wrapped and indented."""
    if not console.is_terminal:
        console.print(line, soft_wrap=True)
        return
    indent = len(line.plain) - len(line.plain.lstrip()) + 2
    for n, part in enumerate(line.wrap(console, max(console.width - indent, indent))):
        part.rstrip()
        console.print(Text(" " * indent if n else "").append_text(part), soft_wrap=True)


class Summary:
    """Counts results as they arrive; keeps counts, and the first failures."""

    def __init__(self, by: str, names: AssertionNames | None = None):
        self._slices = Slices(by, names)
        self._shown: list[EvalResult] = []
        self._reasons: Counter[tuple[str, str]] = Counter()
        self.outcomes: Counter[bool | None] = Counter()

    def add(self, result: EvalResult, subject: Subject) -> None:
        """Add a result."""
        self.outcomes[result.passed] += 1
        self._slices.add(result, subject)
        if result.passed is False and len(self._shown) < _SHOWN:
            self._shown.append(result)
        for assertion_result in result.assertion_results:
            if assertion_result.passed is None:
                reason = assertion_result.reason if isinstance(assertion_result.reason, str) else ""
                if (
                    len(self._reasons) < 1000
                    or (assertion_result.assertion_type, reason) in self._reasons
                ):
                    self._reasons[assertion_result.assertion_type, reason] += 1

    def lines(self) -> Iterator[Text]:
        """Yield failures with their steps, and unevaluated assertions with their reasons."""
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
        """Return the table, the worst first."""
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column(self._slices.by)
        headings = "results", "✓ passed", "✗ failed", "- not evaluated", "pass rate", "score"
        for heading in headings:
            table.add_column(heading, justify="right")
        for row in self._slices.rows():
            table.add_row(_text.line(row.name), *figures(row))
        return table


def _failure(result: EvalResult) -> Iterator[Text]:
    mark, style = MARKS[result.passed], STYLES[result.passed]
    words = [] if result.case_id == EVERY_TRACE else [result.case_id]
    if isinstance(result.trace_id, str):
        words.append(f"trace {result.trace_id}" if not words else result.trace_id)
    evaluated = f"{result.extra.get('evaluated')} of {result.extra.get('total')} evaluated"
    score = "" if result.composite_score is UNSET else f"  score {result.composite_score}"
    yield Text.assemble(
        (mark, style), " ", ("  ".join(map(_text.line, words)), "bold"), f"{score}  {evaluated}"
    )
    for assertion_result in result.assertion_results:
        if assertion_result.passed is False:
            reason = assertion_result.reason if isinstance(assertion_result.reason, str) else ""
            yield Text.assemble(
                "    ",
                (mark, style),
                f" {_text.line(assertion_result.assertion_type)}: {_text.line(reason)}",
            )
