"""How far two totals may be apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from agentool_otel.errors import EvaluationError

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
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?|\.\d+) ?(%|ms|s|)")


class Tolerance(NamedTuple):
    """How much more or less than in A a total may be in B."""

    amount: float
    relative: bool
    """Whether the amount is a share of what it is in A."""

    def allows(self, a: float, b: float) -> bool:
        """Whether two totals are close enough."""
        return abs(b - a) <= (self.amount * abs(a) if self.relative else self.amount)


def tolerances_from(given: Mapping[str, str | float]) -> dict[str, Tolerance]:
    """Return tolerances by the name of the measure.

    Args:
        given: by measure (`cost` and `duration` will do), a share as `"10%"`, or an amount in the
            measure's own unit; of a duration `"2s"` too.

    Raises:
        EvaluationError: a measure or an amount is none.
    """
    made: dict[str, Tolerance] = {}
    for name, amount in given.items():
        measure = _SHORT.get(name, name)
        if measure not in MEASURES:
            known = ", ".join(_SHORTEST.get(it, it) for it in MEASURES)
            raise EvaluationError(f"no total is called {name!r}; known are {known}")
        match = _AMOUNT.fullmatch(str(amount).strip())
        if match is None or (match[2] not in ("", "%") and measure != "duration_ms"):
            raise EvaluationError(
                f"{amount!r} is no tolerance for {name}"
                "; hint: a share as 10%, or a number; for duration also 500ms or 2s"
            )
        relative = match[2] == "%"
        scale = 0.01 if relative else _UNITS[match[2]]
        made[measure] = Tolerance(float(match[1]) * scale, relative)
    return made


_SHORTEST = {measure: name for name, measure in _SHORT.items()}
