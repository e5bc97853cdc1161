"""Calls that go on after they have returned: coroutines, generators and async generators.

A driver stands around one and is of the same kind. It makes what it drives when it is first
resumed, as the span begins. The span's context is current while the code inside runs, and only
then: nothing is attached while it is suspended, so whoever resumes it, in whatever task or thread,
keeps a context of their own, and so does what is inside.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from inspect import CO_ITERABLE_COROUTINE
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Protocol
from weakref import finalize

from opentelemetry.context import Context, attach, get_current

from agentool_otel.ground.json_codec import loads
from agentool_otel.tracing.spans.attaching import restore, restore_from
from agentool_otel.tracing.spans.finalizers import when_safe

__all__ = [
    "SUSPENDING_TYPES",
    "Begin",
    "Call",
    "Collected",
    "Inside",
    "as_async_generator",
    "as_generator",
    "async_generator",
    "closes",
    "coroutine",
    "first_step",
    "generator",
    "goes_on",
]


class Call(Protocol):
    """One call in progress, as a decorator sees it. The first end that is reported counts."""

    @property
    def context(self) -> Context: ...

    @property
    def outer(self) -> Context:
        """The context around the call."""
        ...

    @property
    def recording(self) -> bool: ...

    def returned(self, value: Any, /) -> None: ...

    def raised(self, error: BaseException, /) -> None: ...

    def abandoned(self, yielded: Collected | None, /) -> None:
        """The caller let go of it before its end."""


Begin = Callable[[tuple[Any, ...], dict[str, Any]], "Call | None"]
"""Called before the user's function with its arguments; None leaves the call alone."""

Function = Callable[..., Any]
Args = tuple[Any, ...]
Kwargs = dict[str, Any]


class Collected:
    """Items that a generator has yielded: the values are encoded as they pass, never kept."""

    __slots__ = ("count", "returned", "size", "texts", "wanted")

    LIMIT = 64 * 1024
    """Characters of encoded values that are kept."""

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted
        self.count = 0
        self.size = 0
        self.texts: list[str] = []
        self.returned: Any = None

    def add(self, value: Any) -> None:
        self.count += 1
        if not self.wanted or self.size >= self.LIMIT:
            return
        from agentool_otel.content.policy import encode
        from agentool_otel.tracing.spans.settings import guarded, settings

        if settings.policy.capture:
            with guarded("recording a yielded value"):
                text = encode(value)
                self.texts.append(text)
                self.size += len(text)

    def all(self) -> Any:
        """Return the values as a list, with the return value at the end if there is one."""
        values = [loads(text) for text in self.texts]
        if self.wanted and self.count > len(values):
            values.append(f"... {self.count - len(values)} more")
        if self.returned is None:
            return values
        return {"yielded": values, "returned": self.returned}

    def joined(self) -> Any:
        """Return one text where they are pieces of one, else the same as `all`."""
        everything = self.all()
        values = everything["yielded"] if isinstance(everything, dict) else everything
        pieces = bool(values) and all(isinstance(value, str) for value in values)
        return "".join(values) if pieces else everything


class Inside:
    """Context manager for each step of a suspended call: its context is current, and may change
    there.
    """

    __slots__ = ("_outer", "_token", "context")

    def __init__(self, context: Context):
        self.context = self._outer = context
        self._token: Any = None

    def __enter__(self) -> None:
        self._outer = outer = get_current()
        try:
            self._token = attach(self.context)
        except BaseException:  # of a signal handler, perhaps when it was attached
            restore_from(None, self.context, outer)
            raise

    def __exit__(self, *_: object) -> None:
        try:
            context = get_current()
            if restore(self._token):
                self.context = context
        except BaseException:
            restore_from(self._token, self.context, self._outer)
            raise


class _Outside:
    """A stand-in for `Inside` for calls that are not traced: it changes no context."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


class _Untraced:
    """A call that is not recorded."""

    context = outer = Context()
    recording = False

    def returned(self, value: Any) -> None: ...

    def raised(self, error: BaseException) -> None: ...

    def abandoned(self, yielded: Collected | None) -> None: ...


_untraced = _Untraced()


async def coroutine(fn: Function, begin: Begin, args: Args, kwargs: Kwargs) -> Any:
    """Await a coroutine inside its span."""
    call = begin(args, kwargs)
    if call is None:
        return await fn(*args, **kwargs)
    token = None
    try:
        token = attach(call.context)
        value = await fn(*args, **kwargs)
        restore(token)
        call.returned(value)
    except GeneratorExit:  # closed from outside: by the garbage collector, in any context
        restore(token)
        when_safe(call.abandoned, None)
        raise
    except BaseException as error:
        restore_from(token, call.context, call.outer)
        call.raised(error)
        raise
    return value


def generator(fn: Function, begin: Begin, args: Args, kwargs: Kwargs) -> Generator[Any, Any, Any]:
    """Drive a generator; `send`, `throw`, `close` and its return value pass through."""
    is_traced = begin(args, kwargs)
    inner: Generator[Any, Any, Any] = fn(*args, **kwargs)
    call: Call = is_traced or _untraced
    block = Inside(call.context) if is_traced else _Outside()
    yielded = Collected(call.recording)
    sent: Any = None
    thrown: BaseException | None = None
    closed = False
    try:
        while True:
            with block:
                value = inner.send(sent) if thrown is None else inner.throw(thrown)
            yielded.add(value)
            try:
                sent, thrown = (yield value), None
            except BaseException as error:  # for what is inside to handle
                thrown, closed = error, isinstance(error, GeneratorExit)
    except StopIteration as stop:
        yielded.returned = stop.value
        if closed:
            when_safe(call.abandoned, yielded)
        else:
            call.returned(yielded)
        return stop.value
    except GeneratorExit:  # the consumer stopped early: an end, not a failure
        when_safe(call.abandoned, yielded)
        raise
    except BaseException as error:
        call.raised(error)
        raise
    finally:
        thrown = None  # it holds this frame by its traceback


async def async_generator(
    fn: Function, begin: Begin, args: Args, kwargs: Kwargs
) -> AsyncGenerator[Any, Any]:
    """Drive an async generator; `asend`, `athrow` and `aclose` pass through."""
    is_traced = begin(args, kwargs)
    inner: AsyncGenerator[Any, Any] = fn(*args, **kwargs)
    call: Call = is_traced or _untraced
    block = Inside(call.context) if is_traced else _Outside()
    yielded = Collected(call.recording)
    closed = False
    step = first_step(inner)
    try:
        while True:
            with block:
                value = await step
            yielded.add(value)
            try:
                step = inner.asend((yield value))
            except BaseException as error:
                step, closed = inner.athrow(error), closes(error)
    except StopAsyncIteration:
        if closed:
            when_safe(call.abandoned, yielded)
        else:
            call.returned(yielded)
    except BaseException as error:
        if closed and closes(error):
            when_safe(call.abandoned, yielded)
        else:
            call.raised(error)
        raise
    finally:
        del step  # it holds what was thrown, and by its traceback this frame


def as_generator(stream: Any) -> Generator[Any, Any, Any]:
    """Return a stream as a generator. What another tracer has put around one may watch iteration
    only, and is iterated."""
    return stream if type(stream) is GeneratorType else _iterated(stream)


def _iterated(stream: Any) -> Generator[Any, None, None]:
    yield from stream


def as_async_generator(stream: Any) -> AsyncGenerator[Any, Any]:
    """`as_generator` for an asynchronous stream."""
    return stream if type(stream) is AsyncGeneratorType else _iterated_async(stream)


async def _iterated_async(stream: Any) -> AsyncGenerator[Any, None]:
    try:
        async for item in stream:
            yield item
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()


def closes(error: BaseException) -> bool:
    """Return whether an exception closes a generator that is no longer needed.

    A loop that ends cancels the task in which it closes what a `break` has left.
    """
    if isinstance(error, GeneratorExit):
        return True
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)


def first_step(inner: Any) -> Awaitable[Any]:
    """Ask an async iterator for its first value, unknown to the event loop if it is a generator.

    At its end a loop closes all async generators it knows at the same time; of two that are one
    inside the other, one would fail. Closing the driver closes what is inside.
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        step: Awaitable[Any] = inner.__anext__()
    finally:
        sys.set_asyncgen_hooks(*hooks)
    return step


# --------------------------------------------------------------------- what a plain function gave


@contextmanager
def _manager() -> Generator[None, None, None]:
    yield


@asynccontextmanager
async def _async_manager() -> AsyncGenerator[None, None]:
    yield


_MANAGER, _ASYNC_MANAGER = type(_manager()), type(_async_manager())

_DRIVERS: dict[type, Callable[[Function, Begin, Args, Kwargs], Any]] = {
    CoroutineType: coroutine,
    GeneratorType: generator,
    AsyncGeneratorType: async_generator,
    _MANAGER: generator,
    _ASYNC_MANAGER: async_generator,
}

SUSPENDING_TYPES = frozenset(map(id, _DRIVERS))
"""By `id`, the types of results that mean that the call has only begun.

A type's own hash may be the user's code, if its metaclass has one.
"""


def goes_on(value: Any, call: Call) -> Any:
    """Return a driver for the result of a plain function, or a manager with one.

    The span has begun already, so it also ends if the driver is forgotten before it is resumed.
    """
    kind = type(value)
    if kind is GeneratorType and value.gi_code.co_flags & CO_ITERABLE_COROUTINE:
        call.returned(value)  # awaitable, as no driver would be
        return value
    manages = kind is _MANAGER or kind is _ASYNC_MANAGER
    inner = value.gen if manages else value
    driver = _DRIVERS[kind](lambda: inner, lambda *_: call, (), {})
    driver.__name__, driver.__qualname__ = inner.__name__, inner.__qualname__
    finalize(driver, _forgotten, inner, call).atexit = False
    if not manages:
        return driver
    value.gen = driver
    return value


def _forgotten(inner: Any, call: Call) -> None:
    if isinstance(inner, CoroutineType):
        inner.close()  # or Python says twice that it was never awaited
    when_safe(call.abandoned, None)
