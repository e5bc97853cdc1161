"""The file that a misspelt path may mean."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path

__all__ = ["instead_of"]

_MOST = 5_000
"""Names of a folder that are compared."""
_ALIKE = 0.75
_OTHER_END = 0.1
_NO_END = 0.01
"""By how much two names are less alike, of which one has another ending or none."""


def instead_of(path: Path, *, folders: bool = True, files: bool = True) -> str:
    """Return a question with the entry of the path's folder that has the nearest name; "" if none
    is near.

    Args:
        path: leads nowhere.
        folders: whether it may mean a folder.
        files: whether it may mean a file.
    """
    wanted = path.name.lower()
    nearest, likeness = "", _ALIKE
    try:
        with os.scandir(path.parent) as entries:
            for entry in islice(entries, _MOST):
                if (score := _likeness(wanted, entry.name.lower())) < likeness:
                    continue
                if folders if entry.is_dir() else files:
                    nearest, likeness = entry.name, score
    except (OSError, ValueError):
        return ""
    return f"did you mean {str(path.with_name(nearest))!r}?" if nearest else ""


def _likeness(one: str, other: str) -> float:
    """Return how alike two names are, from 0 to 1. What files of one kind end in makes no two names
    alike; another ending counts, and one that is left out counts little.
    """
    if not one:
        return 0.0
    from difflib import SequenceMatcher

    (stem, end), (other_stem, other_end) = _split(one), _split(other)
    matcher = SequenceMatcher(None, stem, other_stem)
    bounds: tuple[Callable[[], float], ...] = (matcher.real_quick_ratio, matcher.quick_ratio)
    if any(bound() < _ALIKE for bound in bounds):
        return 0.0
    return matcher.ratio() - (_OTHER_END if end else _NO_END) * (end != other_end)


def _split(name: str) -> tuple[str, str]:
    """Return a name without its ending, and the ending; a dot in front begins none."""
    at = name.find(".", 1)
    return (name, "") if at < 0 else (name[:at], name[at:])
