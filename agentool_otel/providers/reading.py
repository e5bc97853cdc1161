"""What takes in the answer to one call, in the shape of one API."""

from __future__ import annotations

from typing import Any, Protocol

from agentool_otel.model.operations import Operation

__all__ = ["Reading"]


class Reading(Protocol):
    """Takes in the answer to one call and says what the call was."""

    @property
    def complete(self) -> bool:
        """True once the answer has said that nothing more will come."""
        ...

    def add(self, chunk: Any, /) -> None:
        """Take in one chunk of a stream."""

    def whole(self, response: Any, /) -> None:
        """Take in an answer that came at once: the library's object, or its JSON as a dict."""

    def operation(self, failed: bool, /) -> Operation:
        """Return the call as far as it is known; `failed` if an exception ended it."""
        ...
