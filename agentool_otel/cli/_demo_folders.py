"""Folders that `demo` makes in the folder of the recordings, and that `clean` empties."""

from __future__ import annotations

import os
import time
from pathlib import Path

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.private_folders import make_private_folder

__all__ = ["demo_folders", "is_demo_folder", "new_demo_folder"]

_STAMP = "demo-%Y%m%d-%H%M%S"
_NAME = re.compile(r"demo-\d{8}-\d{6}(-\d+)?")


def new_demo_folder(base: Path) -> Path:
    """Make a folder for one demo and return its path.

    Raises:
        OSError: the folder cannot be made.
    """
    stamp = time.strftime(_STAMP)
    folder, n = base / stamp, 1
    while folder.exists():
        n += 1
        folder = base / f"{stamp}-{n}"
    make_private_folder(folder, root=base)
    return folder


def is_demo_folder(folder: Path) -> bool:
    """Return whether the name of a folder is one that `demo` gives."""
    return _NAME.fullmatch(folder.name) is not None


def demo_folders(base: Path) -> list[Path]:
    """Return the folders of demos in a folder, in the order of their names; links are none.

    Raises:
        OSError: the folder cannot be read.
    """
    with os.scandir(base) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    return [folder for folder in map(base.joinpath, sorted(names)) if is_demo_folder(folder)]
