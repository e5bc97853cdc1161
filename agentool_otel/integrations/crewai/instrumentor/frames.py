"""The frames of CrewAI's public methods: inside one, the step under way is current.

The bus has events for the start and end of a step, but none for the end of a step that is cancelled
or stopped by a hook. So an event makes its step current inside a frame only, and the frame restores
the previous context, and ends what is still open, whichever way the method is left.

Streams need no frame of their own: CrewAI runs the whole method in a thread or a task then, and
the user reads a queue.

Source: crewai crew.py, agent/core.py, flow/runtime, llms/retry.py at 1.14 and 1.15.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from opentelemetry.context import Context, attach, create_key, get_current, set_value

from agentool_otel.model.operations import AgentInvocation, MemoryOperation, WorkflowInvocation
from agentool_otel.semconv import agentool
from agentool_otel.tracing.spans.exceptions import failed_status
from agentool_otel.tracing.spans.finalizers import when_safe
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan
from agentool_otel.tracing.spans.suppression import detached

__all__ = ["Frame", "OpenStep", "awaited", "called", "innermost"]

_current: ContextVar[Frame | None] = ContextVar("agentool-otel-crewai-frame", default=None)

_RUNS = (AgentInvocation, WorkflowInvocation)
_STEPS_KEY = create_key("agentool-otel-crewai-steps")


class OpenStep:
    """A step that an event has started, and where it is current."""

    __slots__ = ("_around", "_forget", "_frame", "family", "span")

    def __init__(self, family: str, span: StepSpan, forget: Callable[[], object]):
        self.family = family
        """The event that has started it, which decides what events end it."""
        self.span = span
        self._forget = forget
        self._around = get_current()
        self._frame = _current.get()
        if self._frame is not None:
            context = set_value(_STEPS_KEY, (*_steps(self._around), self), span.context)
            # A write to the memory may go on in the background when the method has returned.
            if not isinstance(span.operation, MemoryOperation):
                self._frame.steps.append(self)
            attach(detached(context))

    def leave(self) -> None:
        """Restore the previous context if this step is still current."""
        if self._frame is not None and self in self._frame.steps:
            self._frame.steps.remove(self)
        if self in _steps(get_current()):
            attach(self._around)

    def end(
        self,
        error: BaseException | None = None,
        *,
        failed: bool = False,
        interrupted: str | None = None,
    ) -> None:
        """End the span.

        Args:
            error: the exception that ended it.
            failed: whether it failed, where nobody knows the exception.
            interrupted: why it ended early without having failed.
        """
        self._forget()
        extra: dict[str, Any] = {}
        if isinstance(self.span.operation, _RUNS):
            done = "success" if interrupted is None else "in_progress"
            is_failure = failed or error is not None
            extra[agentool.STATUS] = failed_status(error) if is_failure else done
        self.span.end(error, interrupted=interrupted, extra=extra)


def _steps(context: Context) -> tuple[OpenStep, ...]:
    """Return the steps that a context is inside, outermost first."""
    frames: Any = context.get(_STEPS_KEY)
    return frames or ()


def innermost() -> OpenStep | None:
    """Return the step that is current."""
    steps = _steps(get_current())
    return steps[-1] if steps else None


class Frame:
    """One call of a public method."""

    __slots__ = ("_before", "_outer", "steps")

    def __init__(self) -> None:
        self.steps: list[OpenStep] = []
        """Open steps inside it."""

    def __enter__(self) -> None:
        self._outer, self._before = _current.get(), get_current()
        _current.set(self)

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        if isinstance(error, GeneratorExit):  # perhaps of the garbage collector, who knows where
            when_safe(self._end, None, "closed")
            return
        _current.set(self._outer)
        if get_current() is not self._before:
            attach(self._before)
        self._end(error)

    def _end(self, error: BaseException | None, interrupted: str | None = None) -> None:
        with guarded("finishing a step of CrewAI"):
            for step in reversed(self.steps):
                step.end(error, interrupted=interrupted)


def called(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap a plain function; a coroutine that it returns has a frame of its own."""
    with Frame():
        return wrapped(*args, **kwargs)


async def awaited(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Wrap a coroutine function."""
    with Frame():
        return await wrapped(*args, **kwargs)
