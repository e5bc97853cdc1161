"""Results as reports: for people, for a pull request, for CI servers.

slices         results grouped by agent, model, tag, day, case or assertion, and their counts
runs           a run with its steps, and the marks of assertions at them
entries        a result as the page shows it
page_texts     where a text of the page may break, and which words are links
result_texts   the texts of a result, sanitised before a format escapes them
junit          JUnit XML, written as the results come
html           one page, from page/ that needs no network
markdown       a comment on a pull request, which has a size it may not exceed

Texts of a result are untrusted: they repeat models, tools and users. None of them becomes a tag, a
link, a mention or a control character of any report.
"""

from __future__ import annotations

from typing import Protocol

from agentool_otel.evaluation.reports.slices import Subject
from agentool_otel.model.documents import EvalResult

__all__ = ["Report", "Subject"]


class Report(Protocol):
    """A report that is written to a stream as results come in."""

    def add(self, result: EvalResult, subject: Subject) -> None:
        """Add a result. Memory stays bounded however many there are."""
        ...

    def finish(self) -> None:
        """Write the rest of the report. The stream stays open."""
        ...
