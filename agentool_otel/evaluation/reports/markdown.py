"""Results as Markdown for a comment on a pull request: the figures, and the failures folded away.

Text of a result stands in code spans alone, where GitHub and GitLab make no link, no mention, no
tag and no emoji of it. Spec: GitHub Flavored Markdown 0.29, 6.3 and 4.10.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from agentool_otel.evaluation.reports.result_texts import (
    count_text,
    figures,
    line,
    reason_of,
    score_of,
    step_ids_of,
)
from agentool_otel.evaluation.reports.slices import MARKS, Slices, Subject, Tally
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.documents import AssertionResult, EvalResult

__all__ = ["Markdown"]

_MOST_BYTES = 65_000
"""A comment on GitHub has 65,536 characters; counted in bytes it fits whoever counts."""
_LEFT_FOR_WORDS = 400
_LEFT_FOR_REASONS = 8_000
"""Bytes of a comment that failures leave to what was not evaluated."""
_ROWS = 50
_REASONS = 1000
"""Different reasons of what was not evaluated that are counted apart."""
_LONGEST = 500
_BACKTICKS = re.compile("`+")


class Markdown:
    """A report in the making.

    Args:
        stream: the output, written at the end.
        by: the field that the table is grouped by.
    """

    def __init__(self, stream: BinaryIO, by: str):
        self._stream = stream
        self._all = Tally()
        self._slices = Slices(by)
        self._failures: list[str] = []
        self._room = _MOST_BYTES
        """For failures; what is beyond is counted only."""
        self._unknown: Counter[tuple[str, str]] = Counter()
        self._other_unknown = 0

    def add(self, result: EvalResult, subject: Subject) -> None:
        """Add a result."""
        self._all.add(result)
        self._slices.add(result, subject)
        if result.passed is False and self._room > 0:
            entry = "\n".join(_failure(result))
            self._room -= len(entry.encode())
            self._failures.append(entry)
        for assertion_result in result.assertion_results:
            if assertion_result.passed is None:
                self._count_unknown((assertion_result.assertion_type, reason_of(assertion_result)))

    def _count_unknown(self, key: tuple[str, str]) -> None:
        if key in self._unknown or len(self._unknown) < _REASONS:
            self._unknown[key] += 1
        else:
            self._other_unknown += 1

    def finish(self) -> None:
        """Write the report."""
        page = _Page()
        for block in (self._summary(), "\n".join(self._table())):
            page.add(block + "\n\n")
        failed = self._all.outcomes[False]
        if failed:
            keep = _LEFT_FOR_REASONS if self._unknown else 0
            heading = count_text(failed, "failed result")
            page.fold(heading, self._failures, failed, "failed result", keep)
        if self._unknown:
            reasons = [
                f"- {times:,} × {code(kind)}: {code(reason)}"
                for (kind, reason), times in self._unknown.most_common()
            ]
            most = len(reasons) + (1 if self._other_unknown else 0)
            heading = count_text(self._unknown.total() + self._other_unknown, "assertion")
            page.fold(f"{heading} not evaluated", reasons, most, "reason")
        self._stream.write(page.text.encode())

    def _summary(self) -> str:
        row = self._all.row()
        worst = False if row.failed else None if row.not_evaluated or not row.results else True
        words = f"{row.passed:,} passed, {row.failed:,} failed, {row.not_evaluated:,} not evaluated"
        share = f"{self._all.evaluated:,} of {count_text(self._all.total, 'assertion')} evaluated"
        heading = f"### {MARKS[worst]} agentool-otel eval: {words}"
        return f"{heading}\n\nScore {score_of(row.score)}, {share}."

    def _table(self) -> Iterator[str]:
        rows = self._slices.rows()
        if not rows:
            return
        columns = "results", "passed", "failed", "not evaluated", "pass rate", "score"
        yield f"| {self._slices.by} | {' | '.join(columns)} |"
        yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
        for row in rows[:_ROWS]:
            name = code(row.name, 100).replace("|", "¦")  # in a table even a code span ends there
            yield f"| {name} | {' | '.join(figures(row))} |"
        if len(rows) > _ROWS:
            yield f"\n… and {len(rows) - _ROWS:,} more, which came out better."


class _Page:
    """Markdown that never grows too long for a comment."""

    def __init__(self) -> None:
        self.text = ""
        self._room = _MOST_BYTES

    def add(self, text: str) -> None:
        self.text += text
        self._room -= len(text.encode())

    def fold(self, heading: str, entries: Iterable[str], of: int, noun: str, keep: int = 0) -> None:
        """Add a collapsed section with as many of its entries as fit.

        Args:
            heading: what is seen of it.
            entries: the first of its entries.
            of: how many there are in all.
            noun: what one of them is called.
            keep: room, in bytes, that is left to what comes after it.
        """
        self.add(f"<details>\n<summary>{heading}</summary>\n\n")
        shown = 0
        for entry in entries:
            if len(entry.encode()) + _LEFT_FOR_WORDS + keep > self._room:
                break
            self.add(entry + "\n")
            shown += 1
        if of > shown:
            self.add(
                f"\n… and {count_text(of - shown, f'more {noun}')}, for which there is no room.\n"
            )
        self.add("\n</details>\n\n")


def code(text: str, most: int = _LONGEST) -> str:
    """Return text as a code span on one line, so that Markdown interprets nothing in it."""
    shown = line(text, most) or " "
    longest = max(map(len, _BACKTICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown[0] == "`" or shown[-1] == "`" else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _failure(result: EvalResult) -> Iterator[str]:
    words = [f"**{MARKS[False]}**", code(result.case_id)]
    if isinstance(result.trace_id, str):
        words.append(code(result.trace_id))
    assertion_results = result.assertion_results
    evaluated = sum(1 for item in assertion_results if item.passed is not None)
    score = score_of(result.composite_score)
    yield f"- {' '.join(words)} score {score}, {evaluated} of {len(assertion_results)} evaluated"
    yield from (f"  - {_assertion(item)}" for item in assertion_results if item.passed is False)


def _assertion(assertion_result: AssertionResult) -> str:
    ids = step_ids_of(assertion_result)
    steps = f" ({code(', '.join(ids))})" if ids else ""
    return f"{code(assertion_result.assertion_type)}: {code(reason_of(assertion_result))}{steps}"
