"""Decorating a class: it stays the class it is, and something of it is recorded.

    it has a __call__       calls of its instances: that is what a tool or agent class is for
    otherwise               making an instance, as long as that takes

Metaclass and bases stay as they are, so that subclassing, `isinstance` and `super()` do.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from agentool_otel.errors import ConfigurationError

__all__ = ["decorate_class"]

Decorate = Callable[[Callable[..., Any]], Callable[..., Any]]


def decorate_class(cls: type, decorate: Decorate) -> type:
    """Record the calls of a class' instances, or where it has none, its instantiations.

    Raises:
        ConfigurationError: the class cannot be changed, or what makes its instances is not there
            yet, because another decorator will write it.
    """
    call: Any = next(
        (vars(item)["__call__"] for item in cls.__mro__ if "__call__" in vars(item)), None
    )
    if call is None:
        method, recorded = "__init__", _recording_init(cls, decorate)
    else:
        method, recorded = "__call__", decorate(_of_class(cls, call))
    try:
        setattr(cls, method, recorded)
    except TypeError as error:
        raise ConfigurationError(
            f"cannot decorate class {cls.__qualname__}: {error}; decorate a function that uses it"
        ) from error
    return cls


def _of_class(cls: type, call: Any) -> Any:
    """Return a `__call__` by which its class can be named, also if it is inherited."""
    if "__call__" in vars(cls) or not isinstance(call, FunctionType):
        return call
    function = FunctionType(
        call.__code__, call.__globals__, "__call__", call.__defaults__, call.__closure__
    )
    functools.update_wrapper(function, call)
    function.__kwdefaults__ = call.__kwdefaults__
    function.__qualname__ = f"{cls.__qualname__}.__call__"
    return function


def _recording_init(cls: type, decorate: Decorate) -> Callable[..., None]:
    """Return an `__init__` that records the making of an instance.

    A subclass with an `__init__` of its own is another callable, recorded if it is decorated.
    """
    has_own = "__init__" in vars(cls)
    if not has_own and inspect.get_annotations(cls):
        raise ConfigurationError(
            f"cannot decorate class {cls.__qualname__}: it has fields, no __call__ and no "
            "__init__ yet; put the decorator above @dataclass, or decorate its methods"
        )
    original: Any = cls.__init__  # type: ignore[misc]
    init: Any = original if has_own else functools.partial(_init_of_bases, cls)

    @functools.wraps(original)
    def create(self: Any, *args: Any, **kwargs: Any) -> Any:
        init(self, *args, **kwargs)
        return self

    create.__name__, create.__doc__ = cls.__name__, cls.__doc__
    recorded = decorate(create)

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if type(self).__init__ is __init__:
            recorded(self, *args, **kwargs)
        else:  # on behalf of a subclass
            init(self, *args, **kwargs)

    if not has_own:
        __init__.__qualname__ = f"{cls.__qualname__}.__init__"
        _sign(__init__, cls)
    return __init__


def _init_of_bases(cls: Any, self: Any, /, *args: Any, **kwargs: Any) -> None:
    """Run the inherited initialization of a class without an `__init__` of its own."""
    init: Any = super(cls, self).__init__
    if getattr(init, "__objclass__", None) is not object:
        init(*args, **kwargs)
    elif (args or kwargs) and type(self).__new__ is _plain_new:
        # As object.__new__ says it; it looks the other way for a class with an __init__.
        raise TypeError(f"{type(self).__name__}() takes no arguments")


_plain_new: Any = object.__new__


def _sign(init: Any, cls: type) -> None:
    """Keep the signature that the class has without an `__init__` of its own."""
    try:
        signature = inspect.signature(cls)
    except (TypeError, ValueError):  # a built-in base without one
        return
    self_parameter = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    init.__signature__ = signature.replace(
        parameters=[self_parameter, *signature.parameters.values()]
    )
