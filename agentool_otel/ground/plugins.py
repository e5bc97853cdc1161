"""Plug-ins from entry points, ours and third parties' alike.

They are code, and so come from where packages are installed: never from a folder that is on the
path because the program was started in it, unless this package itself comes from there.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentool_otel.ground import environment
from agentool_otel.ground.entry_points import EntryPoint, entry_points
from agentool_otel.ground.untrusted_text import logger

__all__ = ["load_plugins", "plugins"]

_log = logger(__name__)


def _started_in() -> frozenset[str]:
    """Return the folders that are on the path by where the program was started."""
    named = environment.value(environment.PYTHON_PATH)
    relative = (
        [part for part in named.split(os.pathsep) if not os.path.isabs(part)] if named else []
    )
    with suppress(OSError):  # the folder was deleted
        first = sys.path[0] if sys.path else "."
        started_in = [first] if os.path.realpath(first) == os.path.realpath("") else []
        ours = os.path.realpath(Path(__file__).parents[2])
        return frozenset(map(os.path.realpath, (*relative, *started_in))) - {ours}
    return frozenset()


_STARTED_IN = _started_in()


def plugins(group: str, prefix: str = "") -> dict[str, EntryPoint]:
    """Return the entry points of a group whose names begin with `prefix`, by name, unloaded.

    A name that two distributions claim goes to the first one found; the other is logged once.
    """
    points: dict[str, EntryPoint] = {}
    path = [item for item in sys.path if _real(item) not in _STARTED_IN]
    for point in entry_points(group, path):
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


def load_plugins(group: str) -> dict[str, Any]:
    """Return the objects of a group by name, sorted. One that cannot be imported is logged and left
    out."""
    by_name: dict[str, Any] = {}
    for name, point in sorted(plugins(group).items()):
        try:
            by_name[name] = point.load()
        except Exception as error:  # somebody else's code
            _log.warning("plug-in %r of group %s cannot be loaded: %s", name, group, error)
    return by_name


def _real(folder: str) -> str:
    with suppress(OSError):  # the one we are in was deleted
        return os.path.realpath(folder)
    return folder
