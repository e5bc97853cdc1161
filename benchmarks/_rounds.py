"""Interleaved rounds to one figure.

The cases of a comparison take turns, so that what else the machine does meets all of them alike.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Compared", "compared", "quartiles"]


class Compared(NamedTuple):
    """Medians over the rounds; survives the way through JSON as `Compared(*values)`."""

    ours: float
    reference: float
    ratio: float
    """Median of the rounds' ratios."""
    low: float
    """Lower quartile of the ratios."""
    high: float
    """Upper quartile of the ratios."""


def compared(pairs: Sequence[tuple[float, float]]) -> Compared:
    """Return the medians over all rounds; each pair is (ours, reference) of one round."""
    ratios = sorted(ours / reference for ours, reference in pairs)
    low, high = quartiles(ratios)
    return Compared(
        statistics.median(ours for ours, _ in pairs),
        statistics.median(reference for _, reference in pairs),
        statistics.median(ratios),
        low,
        high,
    )


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the lower and the upper quartile; a single value stands for both."""
    several = values if values[1:] else [*values, *values]
    low, _, high = statistics.quantiles(several, method="inclusive")
    return low, high
