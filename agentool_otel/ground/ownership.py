"""Open files in folders to which other users can write.

A name that ends like ours proves nothing: a link, a pipe or somebody else's file may stand under
it, brought by a clone, an archive or another user of the folder. And a descriptor number proves
nothing later on: a program may close every descriptor it did not open, and open its own under the
same numbers. So files of ours are opened here alone, and identified by what the system reports.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "Identity",
    "NotOurs",
    "create_own",
    "identity",
    "irregular",
    "open_own",
    "open_regular",
    "read_regular",
    "why_untrusted",
]

_SAFE = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe that nobody reads or writes would hold us up for ever
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOINHERIT", 0)
)


class NotOurs(OSError):
    """A path does not lead to a file that this user's processes have made."""

    def __init__(self, path: str | os.PathLike[str], why: str):
        super().__init__(errno.EPERM, why, str(path))


class Identity(NamedTuple):
    """The identity of a file, whatever its name or descriptor."""

    device: int
    inode: int


def identity(file: int) -> Identity | None:
    """Return the identity of the file open under a descriptor number; None if there is none."""
    try:
        status = os.fstat(file)
    except OSError:
        return None
    return Identity(status.st_dev, status.st_ino)


def create_own(path: str | os.PathLike[str], flags: int) -> int:
    """Make a file that is not there yet, readable by its owner only, and return its descriptor.

    Raises:
        FileExistsError: something stands under that name, be it a link to nowhere.
        OSError: it cannot be made.
    """
    return os.open(path, flags | os.O_CREAT | os.O_EXCL | _SAFE, 0o600)


def open_own(path: str | os.PathLike[str], flags: int) -> int:
    """Open a file that is there, if it is ours, and return its descriptor.

    Raises:
        NotOurs: it is a link, a pipe, a device or a folder, belongs to another user, or has a
            second name, under which it may be anything.
        OSError: it is not there or cannot be opened.
    """
    status = os.lstat(path)
    if why := _why_not_ours(status):
        raise NotOurs(path, why)
    file = os.open(path, flags | _SAFE)
    if not os.path.samestat(status, os.fstat(file)):
        os.close(file)
        raise NotOurs(path, "it was replaced while it was opened")
    return file


def open_regular(path: str | os.PathLike[str]) -> int:
    """Open a file of anybody's to read it and return its descriptor, without waiting for anybody.

    Raises:
        NotOurs: it is a link, a pipe, a device or a folder.
        OSError: it is not there or cannot be opened.
    """
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        raise NotOurs(path, f"it is {_kind(status.st_mode)}")
    file = os.open(path, os.O_RDONLY | _SAFE)
    if not os.path.samestat(status, os.fstat(file)):
        os.close(file)
        raise NotOurs(path, "it was replaced while it was opened")
    return file


def read_regular(path: str | os.PathLike[str], size: int) -> bytes:
    """Return the first bytes of a file of anybody's.

    Raises: as `open_regular`.
    """
    with open(open_regular(path), "rb") as file:
        return file.read(size)


def irregular(path: str | os.PathLike[str], *, follow: bool = False) -> str | None:
    """Return what a path leads to where that is no file, such as `a pipe`; None for a file.

    Args:
        path: the path. One that is not there any more, or may not be looked at, counts as a file:
            reading it raises the error.
        follow: whether a symbolic link is what it leads to. One that leads nowhere is a link.
    """
    try:
        mode = os.stat(path, follow_symlinks=follow).st_mode
    except OSError as error:
        return "a broken symbolic link" if follow and _leads_nowhere(path, error) else None
    return None if stat.S_ISREG(mode) else _kind(mode)


def _leads_nowhere(path: str | os.PathLike[str], error: OSError) -> bool:
    return error.errno in (errno.ENOENT, errno.ELOOP) and os.path.islink(path)


def why_untrusted(folder: Path) -> str | None:
    """Return why files in a folder may be from another user; None if they cannot be, or the folder
    is missing.

    In a folder that everybody may write to, files can be exchanged for others, unless it is sticky.
    """
    try:
        status, link_status = os.stat(folder), os.lstat(folder)
    except OSError:
        return None
    if _foreign(status) or _foreign(link_status):  # the folder, or the link to it
        return "the folder belongs to another user"
    if os.name == "posix" and status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        return "everybody may write to the folder"
    return None


def _why_not_ours(status: os.stat_result) -> str | None:
    if not stat.S_ISREG(status.st_mode):
        return f"it is {_kind(status.st_mode)}"
    if _foreign(status):
        return "it belongs to another user"
    if status.st_nlink > 1:
        return "it has a second name (a hard link)"
    return None


def _foreign(status: os.stat_result) -> bool:
    return hasattr(os, "geteuid") and status.st_uid != os.geteuid()


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"
