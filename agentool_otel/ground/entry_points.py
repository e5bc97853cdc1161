"""Entry points, read from where packages are installed.

What `importlib.metadata` returns, for a third of its time: that module loads the standard
library's parsers of e-mail, ZIP and CSV, which commands that read a file have no other use for.
Where packages may be found in another way than in folders, it is asked all the same.
Source: CPython 3.10 to 3.14, `Lib/importlib/metadata/__init__.py`, `entry_points`, `FastPath`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any, NamedTuple

__all__ = ["EntryPoint", "entry_points"]

_ABSENT = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)


class EntryPoint(NamedTuple):
    """An object that a package offers under a name."""

    name: str
    value: str
    """Module and path in it: `package.module:Class`."""
    group: str

    def load(self) -> Any:
        """Import the object."""
        module, _, path = self.value.partition("[")[0].partition(":")
        target: Any = import_module(module.strip())
        for attribute in filter(None, path.strip().split(".")):
            target = getattr(target, attribute)
        return target


def entry_points(group: str, path: Sequence[str]) -> Iterator[EntryPoint]:
    """Yield the entry points of a group, of each package once: of the first that has its name.

    Args:
        group: the group.
        path: where packages are looked for, as in `sys.path`.

    Raises:
        OSError: the list of packages cannot be read, as when no descriptor is left.
    """
    if not all(map(_is_folder, path)) or any(map(_finds_otherwise, sys.meta_path)):
        yield from _by_metadata(group, path)
        return
    visited: set[str] = set()
    for folder in path:
        try:
            names = os.listdir(folder or ".")
        except _ABSENT:
            continue
        for name in names:
            stem, ending = os.path.splitext(name)
            package = stem.partition("-")[0].lower().replace(".", "_")
            if ending.lower() not in (".dist-info", ".egg-info") or package in visited:
                continue
            visited.add(package)
            yield from _read(os.path.join(folder, name, "entry_points.txt"), group)


def _is_folder(entry: str) -> bool:
    """Return whether an entry of the path is a folder. A missing entry counts as none."""
    return not entry.endswith(".egg") and not os.path.isfile(entry)


def _finds_otherwise(finder: Any) -> bool:
    return finder is not PathFinder and hasattr(finder, "find_distributions")


def _read(file: str, group: str) -> Iterator[EntryPoint]:
    try:
        with open(file, encoding="utf-8") as lines:
            text = lines.read()
    except _ABSENT:
        return
    if group not in text:
        return
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif section == group and line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield EntryPoint(name.strip(), value.strip(), group)


def _by_metadata(group: str, path: Sequence[str]) -> Iterator[EntryPoint]:
    from importlib.metadata import distributions

    visited: set[str] = set()
    for distribution in distributions(path=list(path)):
        points = [
            entry_point for entry_point in distribution.entry_points if entry_point.group == group
        ]
        if points and distribution.name not in visited:
            visited.add(distribution.name)
            yield from (EntryPoint(point.name, point.value, point.group) for point in points)
