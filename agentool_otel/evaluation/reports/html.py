"""Results as one HTML page that needs neither a network nor JavaScript.

The page is a Jinja template with every value escaped; nothing of a result stands in a script, a
style, an address or an attribute. Its Content-Security-Policy allows its own style and script, by
their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, BinaryIO, NamedTuple

from agentool_otel.errors import MissingDependencyError
from agentool_otel.evaluation.reports.result_texts import (
    counted,
    figures,
    line,
    plain,
    reason_of,
    score_of,
    step_ids_of,
)
from agentool_otel.evaluation.reports.runs import Run, run_of
from agentool_otel.evaluation.reports.slices import BY, MARKS, Slices, Subject, Tally
from agentool_otel.model.documents import EvalResult

__all__ = ["Page"]

_FULL = 1000
"""Results of one outcome that are on the page; the others are counted."""
_RUNS = 100
"""Results of one outcome that are on the page with their run."""
_ROWS = 100
_NAME = 300
_KINDS = {True: "passed", False: "failed", None: "unknown"}
_ORDER = (False, None, True)
_WORDS = {True: "passed", False: "failed", None: "not evaluated"}


class _Assertion(NamedTuple):
    passed: bool | None
    kind: str
    reason: str
    steps: str


class _Entry(NamedTuple):
    """A result as the page shows it."""

    passed: bool | None
    case_id: str
    trace_id: str
    agent: str
    score: str
    evaluated: int
    assertions: tuple[_Assertion, ...]
    run: Run | None
    """None for what passed, a case without a run, and where there are more than the page shows."""


class _Group(NamedTuple):
    heading: str
    entries: list[_Entry]
    more: str


class Page:
    """A report in the making.

    Args:
        stream: what it is written to, at the end.
        by: what its first table tells results apart by.

    Raises:
        MissingDependencyError: Jinja is not installed.
    """

    def __init__(self, stream: BinaryIO, by: str):
        self._template = template()
        self._stream = stream
        self._all = Tally()
        self._slices = [Slices(by), *(Slices(other) for other in BY if other != by)]
        self._entries: dict[bool | None, list[_Entry]] = {False: [], None: [], True: []}
        self._evaluated_at = ""

    def add(self, result: EvalResult, subject: Subject) -> None:
        """Add a result."""
        self._all.add(result)
        for slices in self._slices:
            slices.add(result, subject)
        if isinstance(result.evaluated_at, str):
            self._evaluated_at = max(self._evaluated_at, line(result.evaluated_at, _NAME))
        entries = self._entries[result.passed]
        if len(entries) < _FULL:
            entries.append(_entry(result, subject, len(entries) < _RUNS))

    def finish(self) -> None:
        """Write the page."""
        for text in self._template.generate(**self._values()):
            self._stream.write(text.encode())

    def _values(self) -> dict[str, Any]:
        row = self._all.row()
        if row.failed:
            outcome, headline = False, f"{row.failed:,} of {counted(row.results, 'result')} failed"
        elif row.not_evaluated or not row.results:
            of = counted(row.results, "result")
            outcome, headline = None, f"{row.not_evaluated:,} of {of} not evaluated"
        else:
            outcome, headline = True, f"{counted(row.results, 'result')}, all passed"
        style, script = _part("page.css"), _part("page.js")
        return {
            "policy": _policy(style, script),
            "style": style,
            "script": script,
            "marks": MARKS,
            "kinds": _KINDS,
            "words": _WORDS,
            "outcome": outcome,
            "headline": headline,
            "figures": figures(row),
            "share": f"{self._all.evaluated:,} of {self._all.total:,}",
            "evaluated_at": self._evaluated_at,
            "tables": list(self._tables()),
            "groups": [group for it in _ORDER[:2] if (group := self._group(it)).entries],
            "passed": self._group(True),
        }

    def _tables(self) -> Iterator[dict[str, Any]]:
        for n, slices in enumerate(self._slices):
            if n and slices.tell_nothing:
                continue
            rows = slices.rows()
            shown = [(line(row.name, _NAME), figures(row)) for row in rows[:_ROWS]]
            more = f"{len(rows) - _ROWS:,} more" if len(rows) > _ROWS else ""
            if rows:
                yield {"by": slices.by, "rows": shown, "more": more}

    def _group(self, passed: bool | None) -> _Group:
        entries = self._entries[passed]
        many = self._all.outcomes[passed]
        more = counted(many - len(entries), "more result") if many > len(entries) else ""
        words = f"{_WORDS[passed][0].upper()}{_WORDS[passed][1:]}: {many:,}"
        if passed is not True and len(entries) > _RUNS:
            words += f" (the first {_RUNS} with their steps)"
        return _Group(words, entries, more)


def _entry(result: EvalResult, subject: Subject, with_run: bool) -> _Entry:
    held = result.assertion_results
    return _Entry(
        result.passed,
        line(result.case_id, _NAME),
        line(result.trace_id, _NAME) if isinstance(result.trace_id, str) else "",
        line(subject.names("agent")[0], _NAME),
        score_of(result.composite_score),
        sum(1 for it in held if it.passed is not None),
        ()
        if result.passed
        else tuple(
            _Assertion(
                it.passed,
                line(it.assertion_type, _NAME),
                plain(reason_of(it)),
                plain(", ".join(step_ids_of(it))),
            )
            for it in sorted(held, key=lambda it: _ORDER.index(it.passed))
        ),
        run_of(result, subject) if with_run and not result.passed else None,
    )


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
    try:
        jinja = import_module("jinja2")
    except ImportError:
        raise MissingDependencyError(
            "an HTML report needs jinja2, which is not installed"
            "; hint: pip install 'agentool-otel[eval]'"
        ) from None
    environment = jinja.Environment(autoescape=True, undefined=jinja.StrictUndefined)
    return environment.from_string(_part("page.html"))
