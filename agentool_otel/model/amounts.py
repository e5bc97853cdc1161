"""Amounts that a run can take: tokens, cost, milliseconds."""

from __future__ import annotations

import math
from typing import Any, cast

__all__ = ["is_possible", "possible"]


def is_possible(amount: Any) -> bool:
    """Return whether a run can take so much: a finite number that is not negative."""
    is_number = isinstance(amount, (int, float)) and not isinstance(amount, bool)
    return is_number and 0 <= amount < math.inf


def possible(amount: Any) -> float | None:
    """Return an amount; None for one that no run can take, and for what is no number."""
    return cast("float", amount) if is_possible(amount) else None
