"""Lengths of time as people write them."""

from __future__ import annotations

from agentool_otel.ground import lazy_re as re

__all__ = ["parse_duration"]

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|[smhdw])", re.ASCII)
_SECOND_NS = 1_000_000_000
_UNITS_NS = {
    "ms": _SECOND_NS // 1000,
    "s": _SECOND_NS,
    "m": 60 * _SECOND_NS,
    "h": 3600 * _SECOND_NS,
    "d": 86_400 * _SECOND_NS,
    "w": 7 * 86_400 * _SECOND_NS,
}


def parse_duration(text: str) -> int | None:
    """Return the nanoseconds of a number and a unit, as `90s` or `1.5h`; None for anything else.

    Units: `ms`, `s`, `m`, `h`, `d`, `w`.
    """
    match = _DURATION.fullmatch(text)
    return int(float(match[1]) * _UNITS_NS[match[2]]) if match else None
