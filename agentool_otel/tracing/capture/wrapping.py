"""Wrapping a callable of any kind so that nobody notices.

What a call is (plain, coroutine, generator, async generator) stays what it is, and a span covers
the whole of it. Wrong arguments are refused when and how the callable itself would refuse them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from opentelemetry.context import attach

from agentool_otel.tracing.capture._futures import follow, is_future
from agentool_otel.tracing.capture._lookalike import Lookalike
from agentool_otel.tracing.capture.generators import (
    SUSPENDING_TYPES,
    Begin,
    Call,
    Collected,
    async_generator,
    coroutine,
    generator,
    goes_on,
)
from agentool_otel.tracing.spans.attaching import restore, restore_from

__all__ = ["Begin", "Call", "Collected", "wrap"]

Driver = Callable[..., Any]


def wrap(fn: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    """Return a wrapper of the same kind, with the same signature and attributes as `fn`."""
    if type(fn) is FunctionType and _driver(fn) is None:
        return functools.update_wrapper(_plain(fn, begin), fn)
    return Lookalike(fn, functools.partial(_calling, begin=begin))


def _calling(fn: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    driver = _driver(fn)
    return _plain(fn, begin) if driver is None else _wrap_deferred(fn, begin, driver)


def _driver(fn: Callable[..., Any]) -> Driver | None:
    """Return what drives the results of a function that is suspended as soon as it is called."""
    call: Any = getattr(fn, "__call__", None)  # noqa: B004 - of a callable object
    for item in (fn, call):
        if inspect.iscoroutinefunction(item):
            return coroutine
        if inspect.isasyncgenfunction(item):
            return async_generator
        if inspect.isgeneratorfunction(item):
            code = getattr(inspect.unwrap(item), "__code__", None)
            awaitable = code is not None and code.co_flags & inspect.CO_ITERABLE_COROUTINE
            return None if awaitable else generator
    return None


def _plain(fn: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = begin(args, kwargs)
        if call is None:
            return fn(*args, **kwargs)
        token = None
        try:
            token = attach(call.context)
            value = fn(*args, **kwargs)
            restore(token)
            kind = id(type(value))
            if kind not in _COMPLETE and not _handed_in(value, args, kwargs):
                if kind in SUSPENDING_TYPES:
                    return goes_on(value, call)
                if is_future(value):
                    follow(value, call)
                    return value
            call.returned(value)
        except BaseException as error:
            restore_from(token, call.context, call.outer)
            call.raised(error)
            raise
        return value

    return wrapper


_COMPLETE = frozenset(map(id, (type(None), str, bytes, int, float, bool, dict, list, tuple, set)))
"""By `id`, the types of most results: nothing of them is still to come."""


def _handed_in(value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """True for what is the caller's own: the callable only gives it back."""
    return any(value is arg for arg in args) or any(value is kwarg for kwarg in kwargs.values())


def _wrap_deferred(fn: Callable[..., Any], begin: Begin, driver: Driver) -> Callable[..., Any]:
    """Wrap what runs when it is first resumed: then its span begins, and it is called itself."""
    check = _same_parameters(fn)
    name = getattr(fn, "__name__", type(fn).__name__)
    qualname = getattr(fn, "__qualname__", name)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            check(*args, **kwargs)
            fits = True
        except TypeError:
            fits = False
        if not fits:
            _let_refuse(fn, args, kwargs)
        result = driver(fn, begin, args, kwargs)
        result.__name__, result.__qualname__ = name, qualname  # `repr` and warnings show them
        return result

    return wrapper


def _same_parameters(fn: Callable[..., Any]) -> Callable[..., None]:
    """Return a function with the parameters of `fn` that does nothing.

    Calling it is the quickest way to see whether arguments fit: 0.1 µs, against 3 of `inspect`.
    """
    try:
        signature = inspect.signature(fn, follow_wrapped=False)
        parameters = [
            parameter.replace(
                annotation=parameter.empty,
                default=parameter.empty if parameter.default is parameter.empty else None,
            )
            for parameter in signature.parameters.values()
        ]
        bare = signature.replace(parameters=parameters, return_annotation=signature.empty)
        members: dict[str, Any] = {}
        exec(f"def check{bare}: pass", members)
    except (TypeError, ValueError, SyntaxError):  # builtins and the like: their own affair
        return lambda *_, **__: None
    check: Callable[..., None] = members["check"]
    return check


def _let_refuse(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Call with arguments that seem wrong, so that the callable itself raises the error."""
    result = fn(*args, **kwargs)
    close = getattr(result, "close", None)  # they were right; it is called again when it is resumed
    if close is not None:
        close()
