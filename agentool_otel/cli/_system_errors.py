"""Hints for errors of the operating system."""

from __future__ import annotations

import errno

__all__ = ["hint_for"]

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


def hint_for(error: OSError, option: str = "") -> str:
    """Return the hint for an error, "" where the error itself is all that is known.

    Args:
        error: the error.
        option: the option that names the file.
    """
    name = f"name a file {{}}{f' with {option}' if option else ''}"
    if error.errno in _FULL:
        return f"make room, or {name.format('on another disk')}"
    if error.errno in _FORBIDDEN or error.errno is None:
        return name.format("in a folder that you may write to")
    return ""
