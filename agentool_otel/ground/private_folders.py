"""Folders for recorded content: readable by their owner only, and ignored by git.

Recordings contain prompts, answers and arguments. A folder of ours below a git work tree would be
public after `git add .`, so a folder that is made here gets a `.gitignore` with `*`. A folder that
was there before belongs to the user and is not changed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from agentool_otel.ground.ownership import create_own

__all__ = ["make_private_folder", "remove_private_folder"]

_IGNORE_FILE = ".gitignore"
_IGNORE_ALL = b"*\n"


def make_private_folder(folder: Path, root: Path | None = None) -> bool:
    """Make a folder and the missing folders above; return whether the folder is new.

    Args:
        folder: the folder to make.
        root: a folder above that is ours as well if it is missing. Its `.gitignore` covers both.

    Raises:
        OSError: the folder cannot be made.
    """
    ignored = False
    if root is not None and root in folder.parents:
        if _make(root):
            _ignore(root)
        ignored = os.path.lexists(root / _IGNORE_FILE)
    new = _make(folder)
    if new and not ignored:
        _ignore(folder)
    return new


def remove_private_folder(folder: Path) -> None:
    """Remove a folder that `make_private_folder` has made, if nothing else is left in it."""
    ignore_file = folder / _IGNORE_FILE
    with suppress(OSError):
        left = os.listdir(folder)
        if left == [_IGNORE_FILE] and ignore_file.read_bytes() == _IGNORE_ALL:
            ignore_file.unlink()
            try:
                folder.rmdir()
            except OSError:  # another process has put a file there in this moment
                _ignore(folder)
        elif not left:
            folder.rmdir()


def _make(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        if not folder.is_dir():
            raise
        return False
    return True


def _ignore(folder: Path) -> None:
    with suppress(OSError):  # git is a convenience here; the recording goes on without the file
        file = create_own(folder / _IGNORE_FILE, os.O_WRONLY)
        try:
            os.write(file, _IGNORE_ALL)
        finally:
            os.close(file)
