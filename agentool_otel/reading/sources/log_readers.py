"""Readers of the logs of agents: events, one after another, of which they make spans.

Ours and third parties' are entry points of the group `agentool_otel.log_readers`, each a class:

    class TinyLog:
        name = "logs of Tiny"                   # as it is listed
        members = ("tiny.version",)             # one is near the beginning, in quotes

        @staticmethod
        def recognises(event): ...              # whether an object is an event of such a log

        def spans(self, event): ...             # yields the spans that it completes
        def rest(self): ...                     # yields those still open at the end of the file

A reader of logs with a second file beside them also has `read_beside(file)`, which is called with
the path of a file on this machine before its first event.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import ClassVar, Protocol

from agentool_otel.ground.plugins import load_plugins
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.stores.store_format import Object

__all__ = ["LogReader", "PairedLogReader", "log_reader_of", "log_readers"]


class LogReader(Protocol):
    """Turns the events of one file into spans, in their order."""

    name: ClassVar[str]
    members: ClassVar[tuple[str, ...]]

    @staticmethod
    def recognises(event: Object) -> bool:
        """Return whether an object is an event of such a log."""
        ...

    def spans(self, event: Object) -> Iterator[SpanRecord]:
        """Yield the spans that an event completes."""
        ...

    def rest(self) -> Iterator[SpanRecord]:
        """Yield the spans that were still open at the end of the file."""
        ...


class PairedLogReader(LogReader, Protocol):
    """A reader of logs that have a second file beside them."""

    def read_beside(self, file: Path) -> None:
        """Read the file beside a log; called before the first event of the log."""
        ...


@cache
def log_readers() -> tuple[type[LogReader], ...]:
    """Return every installed reader, sorted by the name of its entry point."""
    return tuple(load_plugins("agentool_otel.log_readers").values())


def log_reader_of(event: Object) -> type[LogReader] | None:
    """Return the reader of the log that an object is an event of; None if it is of none."""
    return next((reader for reader in log_readers() if reader.recognises(event)), None)
