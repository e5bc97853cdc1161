"""Destination of a pipeline's log records, with counts of their outcomes."""

from __future__ import annotations

from agentool_otel.tracing.export.disk.files import RecordingDir
from agentool_otel.tracing.export.disk.journal import Journal
from agentool_otel.tracing.export.sinks import (
    CLOSING_S,
    NO_COUNTS,
    Counts,
    LogStore,
    add_counts,
    counts_of,
)

__all__ = ["LogDestination"]


class LogDestination:
    """The store of log records in force, and the journal that shows others that its process lives.

    Attributes:
        store: None if log records go nowhere.
        journal: of the spans, or one of its own where log records are sent elsewhere; None if
            nothing waits on disk.
        created: log records that were emitted in this process.
    """

    def __init__(self) -> None:
        self.store: LogStore | None = None
        self.journal: Journal | None = None
        self.created = 0
        self._place: RecordingDir | None = None
        """Of the journal, unless it is that of the spans."""
        self._before = NO_COUNTS

    @property
    def is_beside_spans(self) -> bool:
        """Return whether log records and spans wait in the same folder, if log records wait on
        disk.
        """
        return self._place is None

    def change(
        self,
        store: LogStore | None,
        journal: Journal | None = None,
        place: RecordingDir | None = None,
        timeout_s: float = CLOSING_S,
    ) -> Counts:
        """Change to another store; return what became of the log records in the last one.

        Args:
            store: the next one.
            journal: the journal that goes with it.
            place: where that journal is, if it is not that of the spans.
            timeout_s: for what is in the last store.
        """
        last, self.store = self.store, None
        if last is not None:
            last.close(timeout_s)
        past = counts_of(last)
        self._before = add_counts(self._before, past)
        if self.journal is not None and self._place is not None:
            self.journal.close(keep=past["spooled"] + past["refused"] > 0)
            self._place.leave()
        self.journal, self._place, self.store = journal, place, store
        return past

    def counts(self) -> Counts:
        """Return how many log records were emitted, and what became of them."""
        return {"created": self.created, **add_counts(counts_of(self.store), self._before)}

    def count_anew(self) -> None:
        """Count from zero, in a forked child."""
        self.created = 0
        self._before = NO_COUNTS
