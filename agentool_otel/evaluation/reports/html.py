"""Results as one HTML page that needs neither a network nor JavaScript.

The page is a Jinja template with every value escaped; nothing of a result stands in a script, a
style, an address or an attribute. Its Content-Security-Policy allows its own style and script, by
their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, BinaryIO, NamedTuple

from agentool_otel.evaluation.reports.entries import NAME, ORDER, Entry, entry_of
from agentool_otel.evaluation.reports.page_texts import pieces
from agentool_otel.evaluation.reports.result_texts import count_text, line, rate_of, score_of
from agentool_otel.evaluation.reports.slices import (
    ASSERTION,
    BY,
    CASE,
    MARKS,
    Row,
    Slices,
    Subject,
    Tally,
)
from agentool_otel.ground.optional import library
from agentool_otel.model.documents import EvalResult
from agentool_otel.model.times import in_calendar, to_ns

__all__ = ["Page"]

_FULL = 1000
"""Results of one outcome that are on the page; the others are counted."""
_RUNS = 100
"""Results of one outcome that are on the page with their run."""
_ROWS = 100
_LISTED = 100
"""Results that are in the list at the top."""
_MARKS = {**MARKS, None: "○"}
_KINDS = {True: "passed", False: "failed", None: "unknown"}
_WORDS = {True: "passed", False: "failed", None: "not evaluated"}
_EPOCH = datetime(1970, 1, 1)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


class _Kept(NamedTuple):
    entry: Entry
    case_id: str
    names: list[str]
    """The rows of the first table that it belongs to."""


class _Group(NamedTuple):
    passed: bool | None
    word: str
    results: int
    note: str
    entries: list[Entry]
    more: str


class _Table(NamedTuple):
    by: str
    columns: list[str]
    rows: list[tuple[str, list[str]]]
    more: str


class Page:
    """A report in the making.

    Args:
        stream: the output, written at the end.
        by: the field that its first table is grouped by.

    Raises:
        MissingDependencyError: Jinja is not installed.
    """

    def __init__(self, stream: BinaryIO, by: str):
        self._template = template()
        self._stream = stream
        self._all = Tally()
        self._slices = {name: Slices(name) for name in (by, *BY)}
        self._by = by
        self._kept: dict[bool | None, list[_Kept]] = {outcome: [] for outcome in ORDER}
        self._number = 0
        self._evaluated_at = ""

    def add(self, result: EvalResult, subject: Subject) -> None:
        """Add a result."""
        self._all.add(result)
        for slices in self._slices.values():
            slices.add(result, subject)
        if isinstance(result.evaluated_at, str):
            self._evaluated_at = max(self._evaluated_at, line(result.evaluated_at, NAME))
        entries = self._kept[result.passed]
        if len(entries) < _FULL:
            self._number += 1
            entry = entry_of(result, subject, self._number, len(entries) < _RUNS)
            entries.append(_Kept(entry, result.case_id, self._names(result, subject)))

    def _names(self, result: EvalResult, subject: Subject) -> list[str]:
        if self._by == CASE:
            return [result.case_id]
        if self._by == ASSERTION:
            return [
                assertion_result.assertion_type
                for assertion_result in result.assertion_results
                if assertion_result.passed is not True
            ]
        return subject.names(self._by)

    def finish(self) -> None:
        """Write the page."""
        for text in self._template.generate(**self._values()):
            self._stream.write(text.encode())

    def _values(self) -> dict[str, Any]:
        row = self._all.row()
        of = count_text(row.results, "result")
        if row.failed:
            outcome, headline = False, f"{row.failed:,} of {of} failed"
        elif row.not_evaluated or not row.results:
            outcome, headline = None, f"{row.not_evaluated:,} of {of} not evaluated"
        else:
            outcome, headline = True, f"{of}, all passed"
        style, script = _part("page.css"), _part("page.js")
        groups = self._groups()
        listed = [entry for group in groups if group.passed is not True for entry in group.entries]
        number = row.failed + row.not_evaluated
        return {
            "policy": _policy(style, script),
            "style": style,
            "script": script,
            "pieces": pieces,
            "marks": _MARKS,
            "kinds": _KINDS,
            "words": _WORDS,
            "outcome": outcome,
            "headline": headline,
            "pass_rate": "" if row.pass_rate is None else rate_of(row.pass_rate),
            "facts": self._facts(row),
            "listed": listed[:_LISTED],
            "unlisted": f"{number - _LISTED:,} more" if number > _LISTED else "",
            "groups": groups,
            "tables": list(self._tables()),
        }

    def _facts(self, row: Row) -> list[str]:
        counts = (
            (row.passed, "passed"),
            (row.failed, "failed"),
            (row.not_evaluated, "not evaluated"),
        )
        total = count_text(self._all.total, "assertion")
        return [
            *(f"{count:,} {word}" for count, word in counts if count),
            f"mean score {score_of(row.score)}",
            f"{self._all.evaluated:,} of {total} evaluated",
            *([f"evaluated on {_date(self._evaluated_at)}"] if self._evaluated_at else []),
        ]

    def _groups(self) -> list[_Group]:
        by_case, by_first = (self._ranks(name) for name in (CASE, self._by))

        def rank(entry: _Kept) -> tuple[int, int]:
            first = min((by_first.get(name, 0) for name in entry.names), default=0)
            return by_case[entry.case_id], first

        groups = [self._group(item, sorted(self._kept[item], key=rank)) for item in ORDER]
        return [group for group in groups if group.entries]

    def _ranks(self, by: str) -> dict[str, int]:
        return {row.name: n for n, row in enumerate(self._slices[by].rows())}

    def _group(self, passed: bool | None, entries: list[_Kept]) -> _Group:
        many = self._all.outcomes[passed]
        more = count_text(many - len(entries), "more result") if many > len(entries) else ""
        note = f" ({_RUNS} with their steps)" if len(entries) > _RUNS else ""
        word = f"{_WORDS[passed][0].upper()}{_WORDS[passed][1:]}"
        return _Group(passed, word, many, note, [item.entry for item in entries], more)

    def _tables(self) -> Iterator[_Table]:
        for by, slices in self._slices.items():
            if by != self._by and slices.tell_nothing:
                continue
            rows = slices.rows()
            if rows:
                yield _table(by, rows)


def _table(by: str, rows: list[Row]) -> _Table:
    columns: list[tuple[str, Callable[[Row], str]]] = [
        ("checks" if by == ASSERTION else "results", lambda row: f"{row.results:,}"),
        (f"{_MARKS[True]} passed", lambda row: f"{row.passed:,}"),
        (f"{_MARKS[False]} failed", lambda row: f"{row.failed:,}"),
    ]
    if any(row.not_evaluated for row in rows):
        columns.append((f"{_MARKS[None]} not evaluated", lambda row: f"{row.not_evaluated:,}"))
    columns.append(("pass rate", lambda row: rate_of(row.pass_rate)))
    if any(row.score not in (None, row.pass_rate) for row in rows):
        columns.append(("mean score", lambda row: score_of(row.score)))
    shown = [(line(row.name, NAME), [cell(row) for _, cell in columns]) for row in rows[:_ROWS]]
    more = f"{len(rows) - _ROWS:,} more" if len(rows) > _ROWS else ""
    return _Table(by, [name for name, _ in columns], shown, more)


def _date(text: str) -> str:
    """Return a time as `24 November 2026, 12:40:19 UTC`; text that is no time as it is."""
    ns = to_ns(text)
    if ns is None or not in_calendar(ns):
        return text
    time = _EPOCH + timedelta(seconds=ns // 1_000_000_000)
    return f"{time.day} {_MONTHS[time.month - 1]} {time.year}, {time:%H:%M:%S} UTC"


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _part(name: str) -> str:
    return (
        files("agentool_otel.evaluation.reports")
        .joinpath("page")
        .joinpath(name)
        .read_text(encoding="utf-8")
    )


@cache
def template() -> Any:
    """Return the page's template.

    Raises:
        MissingDependencyError: Jinja is not installed.
    """
    jinja = library("jinja2", "an HTML report", "eval")
    environment = jinja.Environment(autoescape=True, undefined=jinja.StrictUndefined)
    return environment.from_string(_part("page.html"))
