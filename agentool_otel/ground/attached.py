"""How it turned out to stand around a function of others."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Attached"]


class Attached(NamedTuple):
    """How one patch turned out, for `status()` and `doctor`."""

    target: str
    state: str
    """`attached`, `waiting` (its module is not imported yet), `missing`, `failed`, or `detached`
    (put back by `uninstrument`)."""
    detail: str = ""
