"""Plug-ins from entry points, ours and third parties' alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentool_otel.ground.words import logger

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["plugins"]

_log = logger(__name__)


def plugins(group: str, prefix: str = "") -> dict[str, EntryPoint]:
    """Return the entry points of a group whose names begin with `prefix`, by name, unloaded.

    A name that two distributions claim goes to the first one found; the other is logged once.
    """
    from importlib.metadata import entry_points  # a fifth of the time all of us takes to import

    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        if not point.name.startswith(prefix):
            continue
        if point.name in points and points[point.name].value != point.value:
            _log.warning(
                "two plug-ins of group %s are called %r: using %s, ignoring %s",
                group, point.name, points[point.name].value, point.value,
            )  # fmt: skip
            continue
        points[point.name] = point
    return points
