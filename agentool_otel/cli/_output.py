"""The two streams: data and views on stdout, words and progress on stderr."""

from __future__ import annotations

import codecs
import io
import logging
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from agentool_otel.cli import _text
from agentool_otel.cli._given import without_given_secrets
from agentool_otel.ground import environment
from agentool_otel.ground.words import clean, flat, in_json
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.sources.containers.log_record import is_fragment
from agentool_otel.sources.contents import Contents
from agentool_otel.sources.files.undecoded import UndecodedSpan, undecoded
from agentool_otel.sources.grouping.by_trace import grouped
from agentool_otel.sources.source import Source

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from rich.progress import Progress

__all__ = ["COST_HELP", "Reading", "collected", "data_stream", "report", "say", "view"]

COST_HELP = "Compute the cost of model calls whose spans do not say it (needs the extra `cost`)."
_PLAIN_WIDTH = 120
"""Columns if their number is not known."""
_SHOWN = 20
_EVERY = 500
_Span = TypeVar("_Span")


class _View(Console):
    """A console that leaves a closed pipe to `_main`, and shows no character that is not seen."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for it in super().render(renderable, options):
            if it.control or it.text.isprintable():
                yield it
            else:
                yield Segment(clean(it.text), it.style)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def view() -> Console:
    """Return the console for what people look at: coloured on a terminal, plain elsewhere."""
    width = None
    if not sys.stdout.isatty() and not environment.is_set(environment.COLUMNS):
        width = _PLAIN_WIDTH
    return _View(highlight=False, markup=False, emoji=False, width=width)


class _ToTerminal(io.RawIOBase):
    """Data on a terminal: JSON, in which characters that are not seen stand as its escapes."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        sys.stdout.buffer.write(in_json(self._decode(bytes(data))).encode())
        return len(bytes(data))

    def flush(self) -> None:
        sys.stdout.buffer.flush()


def data_stream() -> BinaryIO:
    """Return the stream for data: standard output as it is, or as a terminal may get it."""
    return cast("BinaryIO", _ToTerminal()) if sys.stdout.isatty() else sys.stdout.buffer


def say(
    text: str, fg: str | None = None, bold: bool = False, dim: bool = False, label: str = ""
) -> None:
    """Print words on stderr, on one line, whatever they quote.

    Args:
        text: the words.
        fg: their colour.
        bold: whether they are.
        dim: whether they are.
        label: stands before them; `error:` is red, others are yellow.
    """
    if label:
        click.secho(
            label, err=True, fg="red" if "error" in label else "yellow", bold=True, nl=False
        )
        text = f" {text}"
    text = flat(without_given_secrets(text))
    click.secho(text, err=True, fg=fg, bold=bold or None, dim=dim or None)


def report(problems: Sequence[Problem]) -> None:
    """Print what could not be read on stderr."""
    for problem in problems[:_SHOWN]:
        say(f"{_text.line(problem.where)}: {_text.line(problem.message)}", label="problem:")
    if len(problems) > _SHOWN:
        say(f"... and {_text.count(len(problems) - _SHOWN, 'more problem')}")


@contextmanager
def collected(logger_name: str) -> Generator[list[str]]:
    """Collect the warnings of a logger instead of letting them be shown."""
    messages: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            cause = record.exc_info[1] if record.exc_info else None
            messages.append(record.getMessage() + (f" ({cause})" if cause is not None else ""))

    logger = logging.getLogger(logger_name)
    handlers, propagate = logger.handlers, logger.propagate
    logger.handlers, logger.propagate = [Collect(logging.WARNING)], False
    try:
        yield messages
    finally:
        logger.handlers, logger.propagate = handlers, propagate


class Reading:
    """Reads a source's spans and counts them, with a progress bar where a person is watching.

    A context manager. The bar stands on stderr and is left out where that is no terminal.

    Args:
        source: what is read.
        bar: False for no bar in any case.
    """

    def __init__(self, source: Source, *, bar: bool = True):
        self.source = source
        self.count = 0
        self._bar: Progress | None = None
        if bar and sys.stderr.isatty():
            self._bar = _bar()
            self._task = self._bar.add_task("reading", total=source.bytes_total)

    def __enter__(self) -> Reading:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def spans(self) -> Iterator[SpanRecord]:
        """Yield the spans of the source. The bar disappears after the last one."""
        return self.counted(self.source.spans())

    def counted(self, spans: Iterable[_Span]) -> Iterator[_Span]:
        """Pass on spans of the source that are read elsewhere. The bar disappears after the last
        one."""
        yield from self._counted(spans)
        self._stop()

    def groups(
        self, contents: Contents | None = None
    ) -> Iterator[list[SpanRecord | UndecodedSpan]]:
        """Yield the spans of one trace after another, for `whole`. The bar stays until the last is
        processed.

        Traces come while the source is read where it can count its spans beforehand. Otherwise all
        is read before the first one comes, and the bar runs twice, by bytes of the input.

        Args:
            contents: of the source, where documents are wanted too.
        """
        done = 0
        total = self.source.bytes_total
        if contents is None:
            census, spans = self.source.census(), undecoded(self.source)
        else:
            census, spans = contents.census, contents.spans()
        for group in grouped(self._counted(spans), census=census):
            if self._bar is not None and census is None:
                if not done:
                    self._bar.reset(self._task, total=total, description="rebuilding")
                what = f"rebuilding {_text.count(self.count, 'span')}"
                share = int(total * done / self.count) if total is not None else 0
                self._bar.update(self._task, completed=share, description=what)
            yield group
            done += len(group)

    def doing(self, what: str) -> None:
        """Show on a terminal what is being waited for, until reading continues. Any thread may call
        this."""
        bar = self._bar
        if bar is not None:
            bar.update(self._task, description=what)

    def _counted(self, spans: Iterable[_Span]) -> Iterator[_Span]:
        without_ids = 0
        for span in spans:
            if isinstance(span, SpanRecord) and span.made_ids:
                without_ids += 1
            if isinstance(span, SpanRecord) and is_fragment(span):
                yield span  # a log record, which becomes an event of its span
                continue
            self.count += 1
            if self._bar is not None and self.count % _EVERY == 0:
                what = f"reading {_text.count(self.count, 'span')}"
                self._bar.update(self._task, completed=self.source.bytes_read, description=what)
            yield span
        if without_ids:
            came = _text.count(without_ids, "span")
            say(f"{came} without ids: each is a trace of its own, under an id made of its content")

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _bar() -> Progress:
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )
