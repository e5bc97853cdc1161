"""The compiled patterns in the user's cache folder, so that each machine compiles them once.

A database steers a program in C, so a file counts only if it is ours: in a folder that nobody else
may write to, made by this user, under a name that has all it depends on, with our checksum.
Anything else there is ignored.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from agentool_otel.content.masking.prefilter import engine
from agentool_otel.ground.environment import cache_folder
from agentool_otel.ground.ownership import NotOurs, create_own, open_own, why_untrusted
from agentool_otel.ground.private_folders import make_private_folder

__all__ = ["Busy", "make", "path", "read"]

_BEGINS = b"agentool-otel prefilter 1\n"
_LARGEST = 1 << 26
"""Bytes of a file that is read."""
_ABANDONED_S = 120
"""Age of an unfinished file whose process must have ended."""


class Busy(OSError):
    """Another process is compiling."""


def path() -> Path:
    """Return where the database for this version, engine and processor is or will be.

    Raises:
        ImportError: if the engine is missing or does not load.
        OSError: if there is no cache folder, or the sources of the rules cannot be read.
    """
    folder = cache_folder()
    if folder is None:
        raise OSError("the user has no home folder")
    rules = Path(__file__).parents[1]
    sources = (*sorted(rules.glob("*.py")), *sorted(rules.glob("prefilter/*.py")))
    if not sources:
        raise OSError("the rules are installed without their sources")
    digest = hashlib.sha256(f"{sys.version_info[:2]} {engine.build()}".encode())
    for file in sources:
        digest.update(file.read_bytes())
    return folder / f"prefilter-{digest.hexdigest()[:32]}.hs"


def read(file: Path) -> bytes | None:
    """Return the database in a file; None if there is none, or the file is not ours or damaged."""
    if why_untrusted(file.parent):
        return None
    try:
        with os.fdopen(open_own(file, os.O_RDONLY), "rb") as stream:
            content = stream.read(_LARGEST)
    except OSError:
        return None
    begins = len(_BEGINS) + hashlib.sha256().digest_size
    data = content[begins:]
    return data if content[:begins] == _header(data) else None


def _header(data: bytes) -> bytes:
    return _BEGINS + hashlib.sha256(data).digest()


def make(file: Path) -> bytes:
    """Compile the patterns, write them to a file and return them.

    Raises:
        Busy: if another process does the same.
        OSError: if the folder cannot be written to, or others can.
        ImportError: if the engine is missing.
        hyperscan.error: if the engine does not accept the patterns.
    """
    make_private_folder(file.parent)
    if why := why_untrusted(file.parent):
        raise NotOurs(file.parent, why)
    unfinished = file.with_suffix(".part")
    descriptor = _begin(unfinished)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            from agentool_otel.content.masking.prefilter.patterns import looks

            data = engine.compiled(looks())
            stream.write(_header(data) + data)
        os.replace(unfinished, file)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
    return data


def _begin(unfinished: Path) -> int:
    """Create the unfinished file, which keeps other processes from compiling as well."""
    try:
        return create_own(unfinished, os.O_WRONLY)
    except FileExistsError:
        if time.time() - os.lstat(unfinished).st_mtime < _ABANDONED_S:
            raise Busy(f"another process is compiling {unfinished}") from None
    unfinished.unlink()
    return create_own(unfinished, os.O_WRONLY)
