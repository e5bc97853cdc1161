"""A stand-in for a callable: everything but a call goes to the original.

Functions that are suspended (coroutines, generators) need one: a wrapper of the same kind could not
refuse wrong arguments when it is called, only when it is first resumed. So do partials, callable
objects and the like, whose attributes and type a plain function would hide. Plain functions are
wrapped by plain functions, which is faster.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

__all__ = ["Lookalike"]

_OURS = frozenset({"__wrapped__", "__reduce__", "__reduce_ex__"})


class Lookalike:
    # Looks like `wrapped`, also to `isinstance` and `inspect`; a call goes to `make(wrapped)`.
    # Pickled like the original: functions by their name, anything else by value, decorated again
    # where it is loaded. Its docstring is the original's too: `help()` looks past the method below.
    __doc__ = property(  # pyright: ignore[reportAssignmentType] - of the class, it is a text
        lambda self: _wrapped_by(self).__doc__
    )

    __slots__ = ("__weakref__", "__wrapped__", "_call", "_make")

    def __init__(
        self, wrapped: Callable[..., Any], make: Callable[[Callable[..., Any]], Callable[..., Any]]
    ):
        set_own = object.__setattr__
        set_own(self, "__wrapped__", wrapped)
        set_own(self, "_make", make)
        set_own(self, "_call", make(wrapped))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _call_of(self)(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind as the original would: functions do, partials and most objects do not."""
        wrapped = _wrapped_by(self)
        bind = getattr(type(wrapped), "__get__", None)
        if bind is None:
            return self
        bound = bind(wrapped, instance, owner)
        if bound is wrapped:
            return self
        if type(bound) is MethodType and bound.__func__ is wrapped:
            return MethodType(self, bound.__self__)
        return Lookalike(bound, _make_of(self))

    def __getattribute__(self, name: str) -> Any:
        if name in _OURS:
            return object.__getattribute__(self, name)
        value = getattr(_wrapped_by(self), name)
        if name == "__call__":
            return Lookalike(value, _make_of(self))
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_wrapped_by(self), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_wrapped_by(self), name)

    def __dir__(self) -> list[str]:
        return dir(_wrapped_by(self))

    def __repr__(self) -> str:
        return repr(_wrapped_by(self))

    def __reduce_ex__(self, _: Any) -> Any:
        wrapped = _wrapped_by(self)
        if isinstance(wrapped, FunctionType):
            return wrapped.__qualname__
        return Lookalike, (wrapped, _make_of(self))


# Past `__getattribute__`, which looks at the original.
_call_of: Callable[[Lookalike], Callable[..., Any]] = Lookalike.__dict__["_call"].__get__
_make_of: Callable[[Lookalike], Any] = Lookalike.__dict__["_make"].__get__
_wrapped_by: Callable[[Lookalike], Any] = Lookalike.__dict__["__wrapped__"].__get__
