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
    """Return how alike two names are, from 0 to 1; an ending that is left out counts little."""
    if not one:
        return 0.0
    from difflib import SequenceMatcher

    stem = other.partition(".")[0] if "." not in one else other
    matcher = SequenceMatcher(None, one, stem)
    bounds: tuple[Callable[[], float], ...] = (matcher.real_quick_ratio, matcher.quick_ratio)
    if any(bound() < _ALIKE for bound in bounds):
        return 0.0
    return matcher.ratio() - 0.01 * (stem != other)
