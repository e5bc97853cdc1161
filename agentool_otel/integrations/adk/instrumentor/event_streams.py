"""Streams of events, driven from outside: each step runs in the context of what it belongs to."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any, Protocol

from opentelemetry.context import Context

from agentool_otel.tracing.capture.generators import (
    Inside,
    as_async_generator,
    closes,
    first_step,
)
from agentool_otel.tracing.spans.finalizers import when_safe

__all__ = ["Work", "events_of"]


class Work(Protocol):
    """Work whose events pass."""

    @property
    def context(self) -> Context:
        """Return the context that it begins in."""
        ...

    def saw(self, event: Any, /) -> None:
        """Take an event, before its consumer does."""

    def leaves(self) -> None:
        """Note that the consumer reads no further: the work inside is about to be closed."""

    def returned(self) -> None: ...

    def raised(self, error: BaseException, /) -> None: ...

    def closed(self) -> None: ...


async def events_of(
    stream: Callable[[], AsyncGenerator[Any, Any]], begin: Callable[[], Work | None]
) -> AsyncGenerator[Any, Any]:
    """Drive a stream of events; `asend`, `athrow` and `aclose` pass through.

    Args:
        stream: makes the stream.
        begin: starts the span of it when the first event is asked for; None leaves it alone.
    """
    work = begin()
    block = None if work is None else Inside(work.context)
    inner: AsyncGenerator[Any, Any] | None = None
    is_closed = False
    try:
        if block is None:
            inner = as_async_generator(stream())
        else:
            with block:
                inner = as_async_generator(stream())
        step: Any = first_step(inner)
        while True:
            if block is None:
                event = await step
            else:
                with block:
                    event = await step
            if work is not None:
                work.saw(event)
            try:
                step = inner.asend((yield event))
            except BaseException as error:
                is_closed = closes(error)
                if is_closed and work is not None:
                    work.leaves()
                step = inner.athrow(error)
    except StopAsyncIteration:
        if work is not None:
            if is_closed:
                when_safe(work.closed)
            else:
                work.returned()
    except BaseException as error:
        if work is not None:
            if is_closed and closes(error):
                when_safe(work.closed)
            else:
                work.raised(error)
        raise
    finally:
        step = None  # it holds what was thrown, and by its traceback this frame
