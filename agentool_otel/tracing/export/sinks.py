"""Interfaces of the stores behind a pipeline.

A store keeps what has ended until it is where it belongs, and counts what became of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from opentelemetry.sdk.trace import ReadableSpan

if TYPE_CHECKING:
    from agentool_otel.otlp.json_encoder import Line
    from agentool_otel.otlp.log_record import LogRecord
    from agentool_otel.otlp.span_parts import Parts
    from agentool_otel.tracing.export.disk.gate import OpenFile

__all__ = [
    "CLOSING_S",
    "NO_COUNTS",
    "Counts",
    "DirectStore",
    "LogStore",
    "Store",
    "Threaded",
    "add_counts",
    "counts_of",
]

CLOSING_S = 3.0
"""Seconds that the end of the program waits for an endpoint; five with its last metrics."""


class _Keeping(Protocol):
    @property
    def delivered(self) -> int: ...
    @property
    def spooled(self) -> int: ...
    @property
    def dropped(self) -> int: ...
    @property
    def refused(self) -> int: ...
    def flush(self, timeout_s: float) -> bool: ...
    def close(self, timeout_s: float) -> None: ...


class Store(_Keeping, Protocol):
    """Keeps ended spans."""

    def put(self, item: ReadableSpan, /) -> None: ...


@runtime_checkable
class DirectStore(Store, Protocol):
    """Keeps ended spans, also those that were encoded elsewhere."""

    @property
    def parts(self) -> type[Parts]:
        """Their encoding."""
        ...

    @property
    def open(self) -> OpenFile:
        """The file that the pipeline appends a span to by itself, where it can."""
        ...

    def put_encoded(self, document: Line, now_ns: int, /) -> None: ...

    def encoded(self, item: ReadableSpan, /) -> Line:
        """Return a span as `put` encodes it."""
        ...

    def encoded_document(self, document: bytes, /) -> Line:
        """Return an OTLP/JSON document of one span as `put` encodes the span."""
        ...

    def put_again(self, document: Line, now_ns: int, start: int, /) -> bool:
        """Finish a put that was interrupted; return whether the span had not been taken.

        Args:
            document: the encoded span.
            now_ns: when it ended.
            start: the size of the open file before the put, at most.
        """
        ...


class LogStore(_Keeping, Protocol):
    """Keeps log records."""

    def put(self, item: LogRecord, /) -> None: ...


@runtime_checkable
class Threaded(Protocol):
    """A store with a thread, which may end while nothing new is taken."""

    def rest(self, resting: bool) -> None: ...


Counts = dict[str, int]
NO_COUNTS: Counts = {"exported": 0, "spooled": 0, "refused": 0, "dropped": 0}


def counts_of(store: _Keeping | None) -> Counts:
    """Return how many items given to a store had each outcome."""
    if store is None:
        return NO_COUNTS
    return {
        "exported": store.delivered,
        "spooled": store.spooled,
        "refused": store.refused,
        "dropped": store.dropped,
    }


def reason_of(store: _Keeping | None) -> str:
    """Return why a receiver did not take everything; "" where it did, or there is none."""
    reason: str = getattr(store, "reason", "")
    return reason


def add_counts(first: Counts, second: Counts) -> Counts:
    """Return the sums of two counts."""
    return {key: first[key] + second[key] for key in first}
