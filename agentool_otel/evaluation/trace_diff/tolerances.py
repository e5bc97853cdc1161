"""Tolerances: how far two totals may be apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from agentool_otel.errors import EvaluationError
from agentool_otel.ground import lazy_re as re

__all__ = ["MEASURES", "Tolerance", "tolerances_from"]

MEASURES = (
    "steps",
    "tool_calls",
    "tokens",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "duration_ms",
)
_SHORT = {"cost": "cost_usd", "duration": "duration_ms"}
_UNITS = {"": 1.0, "ms": 1.0, "s": 1000.0}
_AMOUNT = re.compile(r"(?P<more>\+?)(?P<number>\d+(?:\.\d+)?|\.\d+) ?(?P<unit>%|ms|s|)")


class Tolerance(NamedTuple):
    """Largest accepted differences between the totals of traces A and B."""

    amount: float
    relative: bool
    """Whether the amount is a share of the total of A."""
    only_more: bool
    """Whether any decrease is accepted."""

    def allows(self, a: float, b: float) -> bool:
        """Return whether two totals are close enough."""
        distance = b - a if self.only_more else abs(b - a)
        return distance <= (self.amount * abs(a) if self.relative else self.amount)


def tolerances_from(amounts: Mapping[str, str | float]) -> dict[str, Tolerance]:
    """Return tolerances by the name of the measure.

    Args:
        amounts: by measure (`cost` and `duration` will do), a share as `"10%"`, or an amount in the
            measure's own unit; of a duration `"2s"` too. With a plus, `"+10%"`, only more than in A
            counts.

    Raises:
        EvaluationError: a measure or an amount is none.
    """
    tolerances: dict[str, Tolerance] = {}
    for name, amount in amounts.items():
        measure = _SHORT.get(name, name)
        if measure not in MEASURES:
            names = ", ".join(_SHORTEST.get(measure, measure) for measure in MEASURES)
            raise EvaluationError(f"no total is called {name!r}; known are {names}")
        match = _AMOUNT.fullmatch(str(amount).strip())
        if match is None or (match["unit"] not in ("", "%") and measure != "duration_ms"):
            raise EvaluationError(
                f"{amount!r} is no tolerance for {name}"
                "; hint: 10%, +10% where less is no difference, or a number; for duration also 2s"
            )
        relative = match["unit"] == "%"
        scale = 0.01 if relative else _UNITS[match["unit"]]
        tolerances[measure] = Tolerance(
            float(match["number"]) * scale, relative, bool(match["more"])
        )
    return tolerances


_SHORTEST = {measure: name for name, measure in _SHORT.items()}
