"""The interface of a place that spans are read from.

Somebody who adds a source writes a `SpanReader`, which has one method; what else a `Source` offers
is optional for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files.streams import SpanFile

__all__ = ["DatabaseReader", "Source", "SpanReader", "complete_source", "files_of"]


class SpanReader(Protocol):
    """Reads a place with spans. It knows transport and framing, nothing about attributes."""

    def spans(self) -> Iterator[SpanRecord]:
        """Yield every span once per copy found, in the order of the place; start over on each call.

        Raises:
            SourceError: the place cannot be read at all.
            DecodeError: nothing in it is recognisable.
        """
        ...


class DatabaseReader(SpanReader, Protocol):
    """A reader of the entry points that also reads SQLite files of any name."""

    @classmethod
    def of_database(cls, file: Path) -> SpanReader | None:
        """Return a reader of an SQLite file; None if the file is another program's."""
        ...


class Source(SpanReader, Protocol):
    """A reader with further data for commands."""

    name: str
    """The name of the place in messages."""
    problems: list[Problem]
    """Problems so far, each with its place."""

    document: Callable[[ReasoningTrace], None] | None
    """Takes traces that `spans` meets as such, not as spans; with None they are problems."""
    other: Callable[[Any], None] | None
    """Takes the JSON of documents of the spec that are no traces; with None they are not read."""

    @property
    def loses(self) -> tuple[str, ...]:
        """Return the data of a span that the store loses, one line each; complete after the last
        span.
        """
        ...

    @property
    def skipped(self) -> int:
        """Return the number of metric documents and ordinary log lines skipped so far."""
        ...

    bytes_total: int | None
    """Size of the input where it is known beforehand, for a progress bar."""
    bytes_read: int
    """Number of bytes read, of `bytes_total`; grows while `spans` is iterated."""


def complete_source(reader: SpanReader, name: str) -> Source:
    """Return a reader as a source, with defaults for the members that it lacks.

    Args:
        reader: what has `spans`.
        name: what to call the place if the reader has no name for it.
    """
    defaults: dict[str, Any] = {
        "name": name,
        "problems": [],
        "document": None,
        "other": None,
        "loses": (),
        "skipped": 0,
        "bytes_total": None,
        "bytes_read": 0,
    }
    for member, default in defaults.items():
        if not hasattr(reader, member):
            setattr(reader, member, default)
    return cast("Source", reader)


def inputs_of(source: Source) -> Sequence[SpanFile]:
    """Return the files and streams that a source reads, and the folders that it reads them from."""
    folders: Sequence[Path] = getattr(source, "folders", ())
    return [*files_of(source), *folders]


def files_of(source: Source) -> Sequence[SpanFile]:
    """Return the files and streams that a source reads; none where it reads a server."""
    files: Sequence[SpanFile] = getattr(source, "files", ())
    return files
