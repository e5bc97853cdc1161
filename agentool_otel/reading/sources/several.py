"""Several sources read as one, so that a run that is spread over them comes out whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from agentool_otel.errors import AgentoolError
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.contents import in_order
from agentool_otel.reading.sources.files.streams import SpanFile
from agentool_otel.reading.sources.files.undecoded import UndecodedSpan
from agentool_otel.reading.sources.source import Source, files_of

__all__ = ["SeveralSources"]

_T = TypeVar("_T")


class SeveralSources:
    """Sources in a row.

    Args:
        opened: the name of each place, and its source or why it could not be opened.

    Raises:
        AgentoolError: if none of them could be.
    """

    def __init__(self, opened: Sequence[tuple[str, Source | AgentoolError]]):
        refusals = [(place, item) for place, item in opened if isinstance(item, AgentoolError)]
        if len(refusals) == len(opened):
            raise refusals[0][1]
        self._sources = [
            (place, item) for place, item in opened if not isinstance(item, AgentoolError)
        ]
        self._refusals = [Problem(place, str(error)) for place, error in refusals]
        self.name = ", ".join(place for place, _ in opened)
        self.problems = [*self._refusals]
        self.document: Callable[[ReasoningTrace], None] | None = None
        self.other: Callable[[Any], None] | None = None
        self.bytes_read = 0
        sizes = [source.bytes_total for _, source in self._sources]
        self.bytes_total = None if None in sizes else sum(size or 0 for size in sizes)

    @property
    def files(self) -> list[SpanFile]:
        """Return the files and streams among the sources."""
        return [file for _, source in self._sources for file in files_of(source)]

    @property
    def folders(self) -> list[Path]:
        """The folders that files are read from."""
        return [item for _, source in self._sources for item in getattr(source, "folders", ())]

    @property
    def loses(self) -> tuple[str, ...]:
        """The losses of the places read so far, each listed once."""
        return tuple(dict.fromkeys(loss for _, source in self._sources for loss in source.loses))

    @property
    def skipped(self) -> int:
        """Return the number of documents and log lines skipped in the places read so far."""
        return sum(source.skipped for _, source in self._sources)

    def spans(self) -> Iterator[SpanRecord]:
        """Yield the spans of all sources, in their order.

        Raises:
            AgentoolError: if none of them can be read.
        """

        def spans_of(source: Source) -> Iterator[SpanRecord]:
            source.document = self.document
            return source.spans()

        return self._each(spans_of)

    def in_order(
        self, *, undecoded: bool = False
    ) -> Iterator[SpanRecord | UndecodedSpan | ReasoningTrace]:
        """Yield the spans, decoded in any case, and the documents of all sources.

        Raises: as `spans`.
        """
        return self._each(lambda source: in_order(source, decoded=True))

    def _each(self, items_of: Callable[[Source], Iterator[_T]]) -> Iterator[_T]:
        self.problems = [*self._refusals]
        failures: list[AgentoolError] = []
        before = 0
        for place, source in self._sources:
            source.other = self.other
            try:
                for item in items_of(source):
                    self.bytes_read = before + source.bytes_read
                    yield item
            except AgentoolError as error:
                failures.append(error)
                if not source.problems:
                    self.problems.append(Problem(place, str(error)))
            before += source.bytes_read
            self.problems += source.problems
        if len(failures) == len(self._sources):
            raise failures[0]
