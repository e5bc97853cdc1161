"""What every place that spans are read from offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.sources.files.trace_counts import Census

__all__ = ["Source"]


class Source(Protocol):
    """A place that holds spans. It knows transport and framing, nothing about attributes."""

    name: str
    """What to call the place in messages."""
    problems: list[Problem]
    """What could not be read so far."""

    document: Callable[[ReasoningTrace], None] | None
    """Takes traces that `spans` meets as such, not as spans; with None they are problems."""

    @property
    def loses(self) -> tuple[str, ...]:
        """What the store does not bring back of a span, one line each; complete when all is
        read."""
        ...

    @property
    def skipped(self) -> int:
        """How many documents of metrics and ordinary log lines were passed over so far."""
        ...

    bytes_total: int | None
    """Size of the input where it is known beforehand, for a progress bar."""
    bytes_read: int
    """How much of `bytes_total` has been read; grows while `spans` is iterated."""

    def census(self) -> Census | None:
        """Return how many spans each trace has, None where that is not known beforehand."""
        ...

    def spans(self) -> Iterator[SpanRecord]:
        """Yield every span once per copy found, in the order of the place; start over on each call.

        Raises:
            SourceError: the place cannot be read at all.
            DecodeError: nothing in it is recognisable.
        """
        ...
