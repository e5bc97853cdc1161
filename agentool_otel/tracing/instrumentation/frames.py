"""The frames of LangChain's public methods: where a context may be made current, and is put back.

LangChain's callbacks say when a run starts, but an `attach` in a callback has no place that is sure
to undo it: the end callbacks of async runs are shielded, so they happen in a task with a context of
its own, and a cancelled tool gets none at all. So the public methods that fire the callbacks are
wrapped: a start callback makes its span current inside the frame, and the frame restores what was
current before, after every step of a stream and whichever way the call ends. Nothing of ours stays
attached across a `yield` or a return.

Source: langchain-core callbacks/manager.py (`shielded`), tools/base.py, language_models at 1.0-1.7.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextvars import ContextVar
from functools import partial
from typing import Any, Literal, Protocol

from opentelemetry.context import Context, attach, get_current

from agentool_otel.tracing.capture.generators import first_step
from agentool_otel.tracing.instrumentation.instrumentor import Wrapper

__all__ = [
    "Frame",
    "Kind",
    "awaited",
    "called",
    "current_frame",
    "inside_of",
    "resumed",
    "streamed",
    "streamed_async",
]

Kind = Literal["graph", "model", "tool", "retriever"]

_current: ContextVar[Frame | None] = ContextVar("agentool-otel-frame", default=None)


class Claim(Protocol):
    """A run that was started inside a frame."""

    context: Context

    def failed(self, error: BaseException, /) -> None:
        """The frame was left by an exception: end the run, unless a callback has."""


def current_frame(kind: Kind) -> Frame | None:
    """Return the innermost frame if it is of this kind and still waits for its run to start."""
    frame = _current.get()
    return frame if frame is not None and frame.kind == kind and frame.open else None


def inside_of(kind: Kind) -> bool:
    """Return whether the innermost frame is of this kind and so records its call."""
    frame = _current.get()
    return frame is not None and frame.kind == kind


class Frame:
    """One call of a public method. Enter it for each step; steps may be in different tasks."""

    __slots__ = ("_before", "_claims", "_inside", "_outer", "call_id", "kind", "open", "subject")

    def __init__(self, kind: Kind, subject: Any, call_id: str | None = None):
        self.kind = kind
        self.subject = subject
        """The graph, model, tool or retriever that is called."""
        self.call_id = call_id
        """The id of a model's request for this tool call."""
        self.open = True
        self._claims: list[Claim] = []
        self._inside: Context | None = None
        self._before: Context | None = None
        self._outer: Frame | None = None

    def claim(self, run: Claim) -> None:
        """Take the run that starts here, and make its span the current one until the step ends."""
        self._claims.append(run)
        self.open = self.kind == "model"  # `generate` starts one run per list of messages
        attach(run.context)

    def pass_by(self) -> None:
        """Leave the run that starts here without a span."""
        self.open = False

    def __enter__(self) -> None:
        self._outer, self._before = _current.get(), get_current()
        _current.set(self)
        if self._inside is not None:
            attach(self._inside)

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        before, self._before = self._before, None
        context = get_current()
        if before is not None and context is not before:
            self._inside = context
            attach(before)
        _current.set(self._outer)
        self._outer = None
        if error is not None and not isinstance(error, (StopIteration, StopAsyncIteration)):
            for run in self._claims:
                run.failed(error)


def called(kind: Kind) -> Wrapper:
    """Wrap a plain method."""

    def wrapper(
        wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        with _frame(kind, instance, kwargs):
            return wrapped(*args, **kwargs)

    return wrapper


def awaited(kind: Kind) -> Wrapper:
    """Wrap a coroutine method."""

    async def wrapper(
        wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        with _frame(kind, instance, kwargs):
            return await wrapped(*args, **kwargs)

    return wrapper


def streamed(kind: Kind) -> Wrapper:
    """Wrap a generator method."""

    def wrapper(
        wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Generator[Any, None, None]:
        return steps(wrapped(*args, **kwargs), _frame(kind, instance, kwargs))

    return wrapper


def streamed_async(kind: Kind) -> Wrapper:
    """Wrap an async generator method."""

    def wrapper(
        wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        return steps_async(wrapped(*args, **kwargs), _frame(kind, instance, kwargs))

    return wrapper


def steps(iterator: Any, frame: Frame) -> Generator[Any, None, None]:
    """Run each step of an iterator inside a frame."""
    try:
        while True:
            with frame:
                try:
                    value = next(iterator)
                except StopIteration:
                    return
            yield value
    finally:
        close = getattr(iterator, "close", None)
        if close is not None:
            with frame:
                close()


async def steps_async(iterator: Any, frame: Frame) -> AsyncGenerator[Any, None]:
    """Run each step of an async iterator inside a frame."""
    next_value: Callable[[], Awaitable[Any]] = partial(first_step, iterator)
    try:
        while True:
            with frame:
                try:
                    value = await next_value()
                except StopAsyncIteration:
                    return
            next_value = iterator.__anext__
            yield value
    finally:
        close = getattr(iterator, "aclose", None)
        if close is not None:
            with frame:
                await close()


def inside(context: Context, iterator: Any) -> Generator[Any, None, None]:
    """Run each step of an iterator with a context made current."""
    return steps(iterator, resumed(context, "model"))


def inside_async(context: Context, iterator: Any) -> AsyncGenerator[Any, None]:
    """Run each step of an async iterator with a context made current."""
    return steps_async(iterator, resumed(context, "model"))


def resumed(context: Context, kind: Kind) -> Frame:
    """Return a frame for no run, each step of which goes on in the context where the last ended.

    Args:
        context: what is current in the first step.
        kind: what it passes for.
    """
    frame = Frame(kind, None)
    frame.open, frame._inside = False, context
    return frame


def _frame(kind: Kind, instance: Any, kwargs: dict[str, Any]) -> Frame:
    call_id = kwargs.get("tool_call_id") if kind == "tool" else None
    return Frame(kind, instance, call_id if isinstance(call_id, str) else None)
