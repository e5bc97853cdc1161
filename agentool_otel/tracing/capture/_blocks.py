"""A call of the user's own code, reported by hand: a span from the start of a block to its end.

What the call is about is the subclass's. That the block runs once and unharmed, whatever happens to
its span, is seen to here.
"""

from __future__ import annotations

from abc import abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING

from agentool_otel.model.operations import Operation
from agentool_otel.tracing.capture._sync_async import BothWays
from agentool_otel.tracing.spans.finalizers import when_safe
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan

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
    _step: StepSpan | None = None

    # ---- of the subclass
    @abstractmethod
    def _begin(self) -> StepSpan | None:
        """Start the step; None if it is recorded elsewhere."""

    @abstractmethod
    def _operation(self) -> Operation:
        """Return the call as far as it is known."""

    def _ended(
        self, operation: Operation, error: BaseException | None, interrupted: str | None
    ) -> None:
        """Handle the end of the call, whose span has ended."""

    @property
    def _is_followed(self) -> bool:
        """Return whether later calls go by its result, even if it is not recorded."""
        return False

    @property
    def _complete(self) -> bool:
        """Return whether the answer is marked as complete."""
        return True

    # ---- the block
    @property
    def _recording(self) -> bool:
        return self._step is not None and self._step.recording

    def __enter__(self) -> Self:
        with guarded(f"starting {self._what}"):
            self._step = self._begin()
        if self._step is not None:
            self._step.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        step, self._step = self._step, None
        if step is None:
            return
        step.leave()
        if isinstance(error, GeneratorExit):  # perhaps of the garbage collector
            when_safe(self._end, step, None, _CLOSED)
        else:
            self._end(step, error)

    def _end(
        self, step: StepSpan, error: BaseException | None, interrupted: str | None = None
    ) -> None:
        operation = step.operation
        with guarded(f"finishing {self._what}"):
            if step.recording:
                step.operation = operation = self._operation()
                step.fields.clear()
            elif self._is_followed:
                operation = self._operation()
            if self._complete:
                interrupted = None
        step.end(error, interrupted=interrupted)
        with guarded(f"finishing {self._what}"):
            self._ended(operation, error, interrupted)
