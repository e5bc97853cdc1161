"""The reader of an answer to one call, in the shape of one API."""

from __future__ import annotations

from typing import Any, Protocol

from agentool_otel.model.operations import Operation

__all__ = ["Reading"]


class Reading(Protocol):
    """Reads the answer to one call and returns the call."""

    @property
    def complete(self) -> bool:
        """True once the answer is known to be complete."""
        ...

    @property
    def has_last_event(self) -> bool:
        """Whether a stream that ends without a last event, which makes it complete, has broken
        off."""
        ...

    def add(self, chunk: Any, /) -> None:
        """Add one chunk of a stream."""

    def whole(self, response: Any, /) -> None:
        """Set a complete answer: the library's object, or its JSON as a dict."""

    def operation(self) -> Operation:
        """Return the call as far as it is known. It has the finish reasons that were reported, and
        no others."""
        ...
