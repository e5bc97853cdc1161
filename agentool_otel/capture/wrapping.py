"""Wrapping a callable of any kind so that nobody notices.

What a call is (plain, coroutine, generator, async generator) stays what it is, a span covers the
whole of it, and the current context is restored before control goes back to the caller: nothing is
held across a `yield`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, Protocol

from opentelemetry.context import Context, attach, detach, get_current

__all__ = ["Call", "Yielded", "wrap"]


class Call(Protocol):
    """One call in progress, as a decorator sees it."""

    context: Context

    def returned(self, value: Any) -> None: ...

    def raised(self, error: BaseException) -> None: ...


Begin = Callable[[tuple[Any, ...], dict[str, Any]], "Call | None"]
"""Called before the user's function with its arguments; None leaves the call alone."""


class Yielded:
    """What a generator has yielded: the values are encoded as they pass, never kept."""

    __slots__ = ("count", "returned", "size", "texts")

    LIMIT = 64 * 1024
    """Characters of encoded values that are kept."""

    def __init__(self) -> None:
        self.count = 0
        self.size = 0
        self.texts: list[str] = []
        self.returned: Any = None

    def add(self, value: Any) -> None:
        from agentool_otel.emit.content import encode
        from agentool_otel.emit.session import guarded, session

        self.count += 1
        if self.size < self.LIMIT and session.policy.capture:
            with guarded("recording a yielded value"):
                text = encode(value)
                self.texts.append(text)
                self.size += len(text)


def wrap(fn: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    """Return a wrapper of the same kind and with the same signature as `fn`."""
    call: Any = getattr(fn, "__call__", None)  # noqa: B004 - of a callable object
    if inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(call):
        return _like(fn, _coroutine(fn, begin))
    if inspect.isasyncgenfunction(fn):
        return _like(fn, _async_generator(fn, begin))
    if inspect.isgeneratorfunction(fn):
        return _like(fn, _generator(fn, begin))
    return _like(fn, _function(fn, begin))


def _like(fn: Callable[..., Any], wrapper: Callable[..., Any]) -> Callable[..., Any]:
    functools.update_wrapper(wrapper, fn)
    if not hasattr(fn, "__name__"):  # a partial or a callable object
        wrapper.__name__ = getattr(getattr(fn, "func", None), "__name__", type(fn).__name__)
    return wrapper


def _function(fn: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = begin(args, kwargs)
        if call is None:
            return fn(*args, **kwargs)
        token = attach(call.context)
        try:
            value = fn(*args, **kwargs)
        except BaseException as error:
            detach(token)
            call.raised(error)
            raise
        detach(token)
        call.returned(value)
        return value

    return wrapper


def _coroutine(fn: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = begin(args, kwargs)
        if call is None:
            return await fn(*args, **kwargs)
        token = attach(call.context)
        try:
            value = await fn(*args, **kwargs)
        except BaseException as error:
            detach(token)
            call.raised(error)
            raise
        detach(token)
        call.returned(value)
        return value

    return wrapper


class _Inside:
    """Runs one step of a suspended function in its own context, which it may change."""

    __slots__ = ("_token", "context")

    def __init__(self, context: Context):
        self.context = context
        self._token: Any = None

    def __enter__(self) -> None:
        self._token = attach(self.context)

    def __exit__(self, *_: object) -> None:
        self.context = get_current()
        detach(self._token)


def _generator(fn: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        call = begin(args, kwargs)
        if call is None:
            return (yield from fn(*args, **kwargs))
        yielded = Yielded()
        inside = _Inside(call.context)
        try:
            with inside:
                generator = fn(*args, **kwargs)
                value = next(generator)
            while True:
                yielded.add(value)
                try:
                    sent = yield value
                except GeneratorExit:
                    with inside:
                        generator.close()
                    raise
                except BaseException as thrown:
                    with inside:
                        value = generator.throw(thrown)
                else:
                    with inside:
                        value = next(generator) if sent is None else generator.send(sent)
        except StopIteration as stop:
            yielded.returned = stop.value
            call.returned(yielded)
            return stop.value
        except GeneratorExit:  # the consumer stopped early: an end, not a failure
            call.returned(yielded)
            raise
        except BaseException as error:
            call.raised(error)
            raise

    return wrapper


def _async_generator(fn: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        call = begin(args, kwargs)
        generator = fn(*args, **kwargs)
        inside = _Inside(get_current() if call is None else call.context)
        yielded = Yielded()
        try:
            with inside:
                value = await generator.__anext__()
            while True:
                yielded.add(value)
                try:
                    sent = yield value
                except GeneratorExit:
                    with inside:
                        await generator.aclose()
                    raise
                except BaseException as thrown:
                    with inside:
                        value = await generator.athrow(thrown)
                else:
                    with inside:
                        value = await generator.asend(sent)
        except StopAsyncIteration:
            if call is not None:
                call.returned(yielded)
        except GeneratorExit:
            if call is not None:
                call.returned(yielded)
            raise
        except BaseException as error:
            if call is not None:
                call.raised(error)
            raise

    return wrapper
