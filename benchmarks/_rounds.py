"""Interleaved rounds to one figure.

The cases of a comparison take turns, so that what else the machine does meets all of them alike.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Compared", "compared"]


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
    """Return the medians of (ours, reference) per round."""
    ratios = sorted(ours / reference for ours, reference in pairs)
    # A single round has no quartiles: it stands for them.
    low, _, high = statistics.quantiles(ratios if ratios[1:] else ratios * 2, method="inclusive")
    return Compared(
        statistics.median(ours for ours, _ in pairs),
        statistics.median(reference for _, reference in pairs),
        statistics.median(ratios),
        low,
        high,
    )
