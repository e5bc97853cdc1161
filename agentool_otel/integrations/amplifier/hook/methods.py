"""Methods of one object, wrapped for it alone.

The wrapper stands where the method is defined, mostly on a class, because a copy of an object that
held it would run the method of the original. For all other objects it is as good as absent.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import ref

__all__ = ["Around", "wrap"]

Around = Callable[[Callable[..., Any], "tuple[Any, ...]", "dict[str, Any]"], Any]
"""Called in place of a method, with it and its arguments."""


class _Wrapped(NamedTuple):
    owner: ref[Any]
    place: type | None
    """The class that the wrapper stands on; None if that is the object itself."""
    around: Around


_wrapped: dict[tuple[int, str], _Wrapped] = {}
"""By the id of the object and the name of its method."""


def wrap(owner: Any, name: str, wrapping: Around) -> Callable[[], None] | None:
    """Call `wrapping` in place of a method of one object.

    Returns:
        What undoes it; None if the object has no such method or takes no wrapper, or where the
        method is wrapped already.
    """
    key = id(owner), name
    place = _place(owner, name)
    cls = place if inspect.isclass(place) else None
    before = _wrapped.get(key)
    if place is None or (
        before is not None and before.place is cls and _is_ours(vars(place)[name])
    ):
        return None
    try:
        reference = ref(owner, lambda _: _wrapped.pop(key, None))
        if not _is_ours(vars(place)[name]):
            setattr(place, name, _wrapper(place, name))
    except (AttributeError, TypeError, ValueError):  # made in another language, or frozen
        return None
    wrapped = _wrapped[key] = _Wrapped(reference, cls, wrapping)

    def undo() -> None:
        if _wrapped.get(key) is wrapped:
            del _wrapped[key]
        wrapper: Any = vars(place).get(name)
        others = list(_wrapped.values()) if cls is not None else []
        if _is_ours(wrapper) and all(item.place is not cls for item in others):
            setattr(place, name, wrapper.__wrapped__)

    return undo


def _place(owner: Any, name: str) -> Any:
    """Return the definer of an object's method: the object itself, or one of its classes."""
    if name in getattr(owner, "__dict__", ()):
        return owner
    return next((item for item in type(owner).__mro__ if name in vars(item)), None)


def _wrapper(place: Any, name: str) -> Any:
    from wrapt import FunctionWrapper

    cls = place if inspect.isclass(place) else None

    def call(
        method: Callable[..., Any], bound_to: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        owner = place if cls is None else bound_to
        entry = _wrapped.get((id(owner), name))
        if entry is None or entry.place is not cls or entry.owner() is not owner:
            return method(*args, **kwargs)
        return entry.around(method, args, kwargs)

    call.agentool_place = place  # type: ignore[attr-defined]
    return FunctionWrapper(inspect.getattr_static(place, name), call)


def _is_ours(value: Any) -> bool:
    return hasattr(getattr(value, "_self_wrapper", None), "agentool_place")
