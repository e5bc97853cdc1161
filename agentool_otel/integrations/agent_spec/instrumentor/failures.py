"""Failure of a step: an exception from an event, or the one that is being raised."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from agentool_otel.content.encoding.introspection import class_name
from agentool_otel.integrations.agent_spec.instrumentor.values import class_names
from agentool_otel.tracing.spans.exceptions import error_type_of, str_of

__all__ = [
    "CLOSED",
    "HANDED_OVER",
    "Failure",
    "handled_exception",
    "raised_by_tool",
    "set_tool_exception",
]

CLOSED = "closed"
"""Value of `agentool.interrupted` for a step whose stream was left."""
HANDED_OVER = "ParentCommand"
_INTERRUPTS = {
    "GeneratorExit": CLOSED,
    "GraphInterrupt": "GraphInterrupt",
    HANDED_OVER: HANDED_OVER,
}
"""Exceptions that are control flow rather than failures, and their words for
`agentool.interrupted`.

Source: langgraph errors.py at 1.2.
"""


class Failure:
    """An exception of which an event tells: its type and its text, and seldom itself."""

    __slots__ = ("error", "kind", "text")

    def __init__(self, kind: str, text: str, error: BaseException | None = None):
        self.kind = kind
        self.text = text
        self.error = error

    @classmethod
    def from_event(cls, kind: str, text: str) -> Failure:
        """Return the failure in an event, most often while the exception is handled."""
        error = handled_exception()
        same = error is not None and class_name(type(error)) == kind and str_of(error) == text
        return cls(kind, text, error if same else None)

    @classmethod
    def from_exception(cls, error: BaseException) -> Failure:
        return cls(class_name(type(error)), str_of(error), error)

    @property
    def interrupted(self) -> str | None:
        """Return the message if the exception, or one it derives from, is control flow;
        else None.
        """
        names = [self.kind] if self.error is None else class_names(self.error)
        return next((_INTERRUPTS[name] for name in names if name in _INTERRUPTS), None)

    @property
    def error_type(self) -> str:
        return self.kind if self.error is None else error_type_of(self.error)


def handled_exception() -> BaseException | None:
    """Return the exception that is handled here."""
    return sys.exc_info()[1]


_raised: ContextVar[BaseException | None] = ContextVar("agentool-otel-raised", default=None)


@contextmanager
def set_tool_exception(error: BaseException | None) -> Generator[None]:
    """Set the exception of a tool whose end is reported inside the block."""
    before = _raised.set(error)
    try:
        yield
    finally:
        _raised.reset(before)


def raised_by_tool() -> BaseException | None:
    """Return the exception that `set_tool_exception` has set here."""
    return _raised.get()
