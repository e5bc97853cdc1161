"""The module `re`, whose `compile` waits: an expression is compiled when it is first used.

    from agentool_otel.ground import lazy_re as re

Compiling takes longer than the rest of an import, and a process uses few of the expressions that
its modules have. After its first use an expression costs what a compiled one costs.
"""

from __future__ import annotations

import re
from re import (
    ASCII,
    DOTALL,
    IGNORECASE,
    MULTILINE,
    Match,
    Pattern,
    escape,
    fullmatch,
    match,
    search,
    split,
    sub,
)
from typing import Any, AnyStr, cast

__all__ = [
    "ASCII",
    "DOTALL",
    "IGNORECASE",
    "MULTILINE",
    "LazyPattern",
    "Match",
    "Pattern",
    "compile",
    "escape",
    "fullmatch",
    "match",
    "search",
    "split",
    "sub",
]


class _Member:
    """A member of the compiled expression, put into the instance at its first use."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, lazy: LazyPattern | None, owner: type) -> Any:
        if lazy is None:
            return self
        value = getattr(lazy.compile(), self._name)
        vars(lazy)[self._name] = value
        return value


class LazyPattern:
    """A regular expression that is compiled when it is first used."""

    def __init__(self, pattern: str | bytes, flags: int = 0):
        self.pattern = pattern
        self._flags = flags

    def compile(self) -> Pattern[Any]:
        return re.compile(self.pattern, self._flags)

    search = _Member()
    match = _Member()
    fullmatch = _Member()
    finditer = _Member()
    findall = _Member()
    split = _Member()
    sub = _Member()
    subn = _Member()
    flags = _Member()
    groups = _Member()
    groupindex = _Member()


def compile(pattern: AnyStr, flags: int = 0) -> Pattern[AnyStr]:
    """Return the expression, which is read when it is first used: a mistake in it shows then."""
    return cast("Pattern[AnyStr]", LazyPattern(pattern, flags))
