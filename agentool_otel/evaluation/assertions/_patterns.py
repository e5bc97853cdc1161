"""Compiles and searches the regular expressions that assertions have."""

from __future__ import annotations

from agentool_otel.evaluation.time_limit import TimeLimit, compiles

__all__ = ["check_pattern"]


def check_pattern(pattern: str, name: str) -> None:
    """Refuse an invalid regular expression. One that cannot be compiled in time passes here: its
    check is not evaluated, with the reason.

    Raises:
        ValueError: it is none.
    """
    try:
        why = compiles(pattern)
    except TimeLimit:
        return
    if why is not None:
        raise ValueError(f"{name} is no regular expression: {why}")
