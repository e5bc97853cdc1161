"""Names of a callable and its arguments, computed at decoration."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["Arguments", "name_of", "pick", "summary_of"]

_OWN = ("self", "cls", "mcs")


class Arguments:
    """Binds positional arguments to names, without `inspect` at call time."""

    __slots__ = ("_names", "_rest", "_skip")

    def __init__(self, target: Callable[..., Any]):
        self._names: tuple[str, ...] = ()
        self._rest: str | None = None
        self._skip = 0
        try:
            parameters = list(inspect.signature(target).parameters.values())
        except (TypeError, ValueError):  # builtins without a signature
            self._rest = "args"
            return
        names: list[str] = []
        for parameter in parameters:
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                names.append(parameter.name)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                self._rest = parameter.name
        if names and names[0] in _OWN:
            self._skip = 1
        self._names = tuple(names)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by name, `self` left out."""
        if not args:
            return dict(kwargs)
        names = self._names
        bound = dict(zip(names, args, strict=False))
        if self._skip:
            bound.pop(names[0], None)
        if self._rest is not None and len(args) > len(names):
            bound[self._rest] = list(args[len(names) :])
        bound.update(kwargs)
        return bound


def name_of(target: Any) -> str:
    """Return the name of a callable; a `__call__` goes by the name of its class."""
    target = _underlying(target)
    name = getattr(target, "__name__", None) or type(target).__name__
    if name == "__call__":
        name = target.__qualname__.split(".")[-2]
    return str(name)


def summary_of(target: Any) -> str | None:
    """Return the first line of a callable's docstring."""
    lines = (inspect.getdoc(_underlying(target)) or "").strip().splitlines()
    return lines[0] if lines else None


def pick(bound: dict[str, Any], name: str, position: int | None, *others: str) -> Any:
    """Return one argument by one of its names, else by its position, else the last one."""
    for key in (name, *others):
        if key in bound:
            return bound[key]
    values = list(bound.values())
    if position is None:
        return values[-1] if values else None
    return values[position] if len(values) > position else None


def _underlying(target: Any) -> Any:
    return getattr(target, "func", target)
