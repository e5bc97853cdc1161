"""The two streams: data and views on stdout, words and progress on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click
from rich.console import Console

from agentool_otel.cli import _text
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.sources import Source

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["Reading", "data_file", "report", "say", "view"]

_PLAIN_WIDTH = 120
"""Columns where nobody told how many there are."""
_SHOWN = 20
_EVERY = 500


class _View(Console):
    """A console that leaves a closed pipe to `_main`."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def view() -> Console:
    """Return the console for what people look at: coloured on a terminal, plain elsewhere."""
    width = None
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
        width = _PLAIN_WIDTH
    return _View(highlight=False, markup=False, emoji=False, width=width)


def say(text: str, **style: bool | str) -> None:
    """Print words on stderr."""
    click.secho(text, err=True, **style)


def report(problems: Sequence[Problem]) -> None:
    """Print what could not be read on stderr."""
    for problem in problems[:_SHOWN]:
        label = click.style("problem:", fg="yellow", bold=True)
        say(f"{label} {_text.clean(problem.where)}: {_text.clean(problem.message)}")
    if len(problems) > _SHOWN:
        say(f"... and {_text.count(len(problems) - _SHOWN, 'more problem')}")


@contextmanager
def data_file(path: Path | None) -> Generator[BinaryIO]:
    """Open the file that data goes to, stdout where none is named."""
    if path is None or str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        yield file


class Reading:
    """Reads a source's spans, counting them, with a progress bar where a person is watching.

    The bar is drawn only if stderr is a terminal and stdout does not write to the same one.
    """

    def __init__(self, source: Source, *, bar: bool = True):
        self.source = source
        self.spans = 0
        self._bar: Progress | None = None
        self._wanted = bar and sys.stderr.isatty()

    def records(self) -> Iterator[SpanRecord]:
        """Yield the spans of the source."""
        if not self._wanted:
            for span in self.source.spans():
                self.spans += 1
                yield span
            return
        with _progress() as bar:
            task = bar.add_task("reading", total=self.source.bytes_total)
            for span in self.source.spans():
                self.spans += 1
                if self.spans % _EVERY == 0:
                    what = f"reading {_text.count(self.spans, 'span')}"
                    bar.update(task, completed=self.source.bytes_read, description=what)
                yield span

    def traces(self, made: Iterable[_T]) -> Iterator[_T]:
        """Pass on what is made of the spans, counting it on stderr while a person is watching."""
        if not self._wanted:
            yield from made
            return
        with _counter() as bar:
            task = bar.add_task("", total=None)
            for n, item in enumerate(made, 1):
                if n % 50 == 0:
                    bar.update(task, description=f"rebuilt {_text.count(n, 'trace')}")
                yield item
