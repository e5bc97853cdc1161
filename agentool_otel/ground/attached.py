"""The outcome of wrapping a library function."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Attached"]


class Attached(NamedTuple):
    """Outcome of one patch, for `status()` and `doctor`."""

    target: str
    state: str
    """`attached`, `waiting` (its module is not imported yet), `missing`, `failed`, or `detached`
    (put back by `uninstrument`)."""
    detail: str = ""
