"""Reading a source, with a progress bar where a person is watching."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from agentool_otel.cli._output import say
from agentool_otel.ground.untrusted_text import count_text
from agentool_otel.model.spans import SpanRecord, is_fragment
from agentool_otel.reading.sources.files.undecoded import UndecodedSpan, undecoded_spans
from agentool_otel.reading.sources.grouping.by_trace import group_by_trace

if TYPE_CHECKING:
    from rich.progress import Progress

    from agentool_otel.reading.sources.contents import Contents
    from agentool_otel.reading.sources.source import Source

__all__ = ["Reading"]

_EVERY = 500
_Span = TypeVar("_Span")


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
        self.records = 0
        """Number of log records that name a span."""
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
        return self.count_spans(self.source.spans())

    def count_spans(self, spans: Iterable[_Span]) -> Iterator[_Span]:
        """Pass on spans of the source that are read elsewhere. The bar disappears after the last
        one."""
        yield from self._count_spans(spans)
        self._stop()

    def groups(
        self, contents: Contents | None = None
    ) -> Iterator[list[SpanRecord | UndecodedSpan]]:
        """Yield the spans of one trace after another, for `complete_spans`. The bar stays until the
        last is processed.

        All is read before the first one comes, and the bar runs twice, by bytes of the input.

        Args:
            contents: of the source, where documents are wanted too.
        """
        done = 0
        total = self.source.bytes_total
        spans = undecoded_spans(self.source) if contents is None else contents.spans()
        for group in group_by_trace(self._count_spans(spans)):
            if self._bar is not None:
                if not done:
                    self._bar.reset(self._task, total=total, description="rebuilding")
                activity = f"rebuilding {count_text(self.count, 'span')}"
                share = int(total * done / self.count) if total is not None else 0
                self._bar.update(self._task, completed=share, description=activity)
            yield group
            done += len(group)

    def doing(self, activity: str) -> None:
        """Show the current activity on a terminal, until reading continues. Any thread may call
        this.
        """
        bar = self._bar
        if bar is not None:
            bar.update(self._task, description=activity)

    def _count_spans(self, spans: Iterable[_Span]) -> Iterator[_Span]:
        without_ids = 0
        for span in spans:
            if isinstance(span, SpanRecord) and span.made_ids:
                without_ids += 1
            if isinstance(span, SpanRecord) and is_fragment(span):
                self.records += 1
                yield span  # a log record, which becomes an event of its span
                continue
            self.count += 1
            if self._bar is not None and self.count % _EVERY == 0:
                activity = f"reading {count_text(self.count, 'span')}"
                self._bar.update(self._task, completed=self.source.bytes_read, description=activity)
            yield span
        if without_ids:
            number = count_text(without_ids, "span")
            say(f"{number} without a span id or a trace id: such ids are made of the content")

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _bar() -> Progress:
    from rich.console import Console
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
