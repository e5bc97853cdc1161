"""The reports that `eval` can write, each an option that names its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import click

from agentool_otel.evaluation.reports import Report, Subject
from agentool_otel.model.documents import EvalResult

__all__ = ["Reports", "report_options"]

_FILE = click.Path(path_type=Path, dir_okay=False)
_HELP = {
    "junit": "File for a JUnit XML report.",
    "html": "File for an HTML page (needs the extra `eval`).",
    "markdown": "File for a comment on a pull request.",
}


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each report; the command receives the files under those names."""
    for name in reversed(_HELP):
        command = click.option(f"--{name}", type=_FILE, help=_HELP[name])(command)
    return command


class Reports:
    """All requested reports.

    Args:
        streams: the output of each report, by the option that names it; other options are ignored.
        by: the field that their tables are grouped by.

    Raises:
        MissingDependencyError: what a report needs is not installed.
    """

    def __init__(self, streams: Mapping[str, BinaryIO], by: str):
        self._reports = [
            _report(name, streams[f"--{name}"], by) for name in _HELP if f"--{name}" in streams
        ]

    def add(self, result: EvalResult, subject: Subject) -> None:
        """Add a result to each."""
        for report in self._reports:
            report.add(result, subject)

    def finish(self) -> None:
        """Write the rest of the reports."""
        for report in self._reports:
            report.finish()


def _report(name: str, stream: BinaryIO, by: str) -> Report:
    if name == "junit":
        from agentool_otel.evaluation.reports.junit import JUnit

        return JUnit(stream)
    if name == "html":
        from agentool_otel.evaluation.reports.html import Page

        return Page(stream, by)
    from agentool_otel.evaluation.reports.markdown import Markdown

    return Markdown(stream, by)
