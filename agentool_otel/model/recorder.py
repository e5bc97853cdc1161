"""Interface between translators of events and the recorder of steps.

Content (messages, arguments, results) is handed over by functions, which are not called where it
is not wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from agentool_otel.model.operations import Operation

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Content", "Recorder", "Step"]

Content = Callable[[], Mapping[str, Any]]
"""Returns fields of an operation that are messages, arguments or results."""


class Step(Protocol):
    """A step under way. Nothing happens to one that has ended."""

    @property
    def ids(self) -> tuple[str, str] | None:
        """Trace id and span id in lower-case hex; None if nothing of it is kept."""
        ...

    def set(self, **fields: Any) -> None:
        """Set fields that are no content: models, usage, finish reasons, error types."""

    def add(self, content: Content) -> None:
        """Add fields that are content."""

    def mark(self, attributes: Mapping[str, Any]) -> None:
        """Set attributes without a field in the operation."""

    def note(self, name: str, attributes: Mapping[str, Any], at_ns: int) -> None:
        """Add a span event."""

    def link(self, trace_id: str, span_id: str) -> None:
        """Refer to another span by its ids in lower-case hex."""

    def end(self, at_ns: int) -> None:
        """End it, once."""

    def as_parent(self) -> Self:
        """Return a parent for later steps after this one has ended, without the data of
        this one.
        """
        ...


S = TypeVar("S", bound=Step)


class Recorder(Protocol[S]):
    """Keeps steps."""

    def start(
        self, operation: Operation, parent: S | None, at_ns: int, content: Content | None = None
    ) -> S:
        """Start a step.

        Args:
            operation: what is known of it, without content.
            parent: the parent step; None if no step of this recorder is.
            at_ns: when it began, nanoseconds since the epoch.
            content: what is known of its content.
        """
        ...

    def wants_content(self, step: S) -> bool:
        """Return whether text without a field in the operation is kept."""
        ...

    def current_foreign(self) -> S | None:
        """Return the current step if it is foreign. Do not end it."""
        ...

    def events_left(self) -> int | None:
        """Return how many span events a step has room for; None for any number."""
        ...
