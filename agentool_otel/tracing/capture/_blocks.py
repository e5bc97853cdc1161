"""A call of the user's own code, reported by hand: a span from the start of a block to its end.

What the call is about is the subclass's. That the block runs once and unharmed, whatever happens to
its span, is seen to here.
"""

from __future__ import annotations

from abc import abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Any

from opentelemetry.context import attach

from agentool_otel.model.operations import Operation
from agentool_otel.semconv import agentool
from agentool_otel.tracing.capture._sync_async import BothWays
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.finalizers import when_safe
from agentool_otel.tracing.spans.live import LiveSpan
from agentool_otel.tracing.spans.settings import guarded

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Block"]

_CLOSED = "closed"
"""Value of `agentool.interrupted` for a block that was left before its call ended, such as that of
a user's generator whose consumer stopped early.
"""


class Block(BothWays):
    """One call in progress. Use it as a context manager, `with` or `async with`."""

    _what = "a call"
    """In words, for the log."""
    _live: LiveSpan | None = None
    _token: Any = None

    # ---- of the subclass
    @abstractmethod
    def _begin(self) -> LiveSpan | None:
        """Start the span; None if it is recorded elsewhere, or not at all."""

    @abstractmethod
    def _operation(self, failed: bool, complete: bool) -> Operation:
        """Return the call as far as it is known: whether an exception ended it, and whether its
        block was run to its end."""

    @property
    def _complete(self) -> bool:
        """Return whether the answer is marked as complete."""
        return True

    # ---- the block
    @property
    def _recording(self) -> bool:
        return self._live is not None and self._live.recording

    def __enter__(self) -> Self:
        with guarded(f"starting {self._what}"):
            self._live = live = self._begin()
            if live is not None:
                self._token = attach(live.context)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        token, self._token = self._token, None
        if token is not None:
            restore(token)
        live, self._live = self._live, None
        if live is None:
            return
        if isinstance(error, GeneratorExit):  # perhaps of the garbage collector
            when_safe(self._end, live, None, _CLOSED)
        else:
            self._end(live, error)

    def _end(
        self, live: LiveSpan, error: BaseException | None, interrupted: str | None = None
    ) -> None:
        with guarded(f"finishing {self._what}"):
            operation = self._operation(error is not None, interrupted is None)
            extra = None
            if interrupted is not None and not self._complete:
                extra = {agentool.INTERRUPTED: interrupted}
            live.end(operation, error, extra=extra)
