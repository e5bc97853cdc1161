"""The two streams: data and views on stdout, words and progress on stderr."""

from __future__ import annotations

import codecs
import io
import logging
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from agentool_otel.cli._messages import single_line
from agentool_otel.ground import environment
from agentool_otel.ground.untrusted_text import count_text, in_json, line

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from rich.console import Console

    from agentool_otel.model.problems import Problem

__all__ = ["COST_HELP", "collect_warnings", "data_stream", "report", "say", "view"]

COST_HELP = "Compute the cost of model calls whose spans lack it (needs the extra `cost`)."
_PLAIN_WIDTH = 120
"""Columns if their number is not known."""
_SHOWN = 20


def view() -> Console:
    """Return the console for output to people: coloured on a terminal, plain elsewhere."""
    from agentool_otel.cli._view import View

    width = None
    if not sys.stdout.isatty() and not environment.is_set(environment.COLUMNS):
        width = _PLAIN_WIDTH
    return View(highlight=False, markup=False, emoji=False, width=width)


class _ToTerminal(io.RawIOBase):
    """Data on a terminal: JSON with invisible characters escaped."""

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
    click.secho(single_line(text), err=True, fg=fg, bold=bold or None, dim=dim or None)


def report(problems: Sequence[Problem]) -> None:
    """Print problems of reading on stderr."""
    for problem in problems[:_SHOWN]:
        say(f"{line(problem.where)}: {line(problem.message)}", label="problem:")
    if len(problems) > _SHOWN:
        say(f"... and {count_text(len(problems) - _SHOWN, 'more problem')}")


@contextmanager
def collect_warnings(logger_name: str) -> Generator[list[str]]:
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
