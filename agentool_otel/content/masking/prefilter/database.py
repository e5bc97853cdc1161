"""The compiled patterns in the user's cache folder, so that each machine compiles them once.

A database steers a program in C, so a file counts only if it is ours: in a folder that nobody else
may write to, made by this user, under a name that has all it depends on, with our checksum.
Anything else there is ignored.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from agentool_otel.content.masking.prefilter import engine
from agentool_otel.ground.environment import cache_folder
from agentool_otel.ground.ownership import NotOurs, create_own, open_own, why_untrusted
from agentool_otel.ground.private_folders import make_private_folder
from agentool_otel.ground.read_locks import LocksUnsupported, exclusive_lock

__all__ = ["Busy", "make", "path", "read"]

_BEGINS = b"agentool-otel prefilter 1\n"
_LARGEST = 1 << 26
"""Bytes of a file that is read."""
_ABANDONED_S = 120
"""Age of an unfinished file whose process must have ended, where a lock does not tell."""
_UNUSED_S = 86_400
"""Seconds after which a database counts as one of an old version: several versions of this package,
of Python and of the engine share the folder."""
_NAME = re.compile(r"prefilter-[0-9a-f]{32}\.(?:hs|part)")


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
    """Return the database in a file, and mark it as used; None if there is none, or the file is not
    ours or damaged."""
    if why_untrusted(file.parent):
        return None
    try:
        with os.fdopen(open_own(file, os.O_RDONLY), "rb") as stream:
            content = stream.read(_LARGEST)
            begins = len(_BEGINS) + hashlib.sha256().digest_size
            data = content[begins:]
            if content[:begins] != _header(data):
                return None
            if os.utime in os.supports_fd:
                with suppress(OSError):  # a file system that is read-only
                    os.utime(stream.fileno())
    except OSError:
        return None
    return data


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
    stream = os.fdopen(_begin(unfinished), "wb")
    try:
        with stream, _locked(stream.fileno(), unfinished):
            from agentool_otel.content.masking.prefilter.patterns import looks

            data = engine.compiled(looks())
            stream.write(_header(data) + data)
        os.replace(unfinished, file)
    except FileNotFoundError as error:
        raise Busy(f"another process has taken over {unfinished}") from error
    except Busy:
        raise
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
    _remove_unused(file)
    return data


def _begin(unfinished: Path) -> int:
    """Create the unfinished file, which keeps other processes from compiling as well.

    Raises:
        Busy: if another process has it.
        OSError: if it cannot be created.
    """
    try:
        if _is_being_written(unfinished):
            raise Busy(f"another process is compiling {unfinished}")
        with suppress(FileNotFoundError):
            unfinished.unlink()
        return create_own(unfinished, os.O_WRONLY)
    except (FileExistsError, PermissionError) as error:
        # Another process was first; Windows removes no file that is open.
        if os.path.lexists(unfinished):
            raise Busy(f"another process is compiling {unfinished}") from error
        raise


@contextmanager
def _locked(descriptor: int, unfinished: Path) -> Generator[None]:
    """Lock the unfinished file, so that others know that its writer is alive.

    Raises:
        Busy: if another process has taken the file over before.
    """
    with ExitStack() as stack:
        with suppress(LocksUnsupported):
            if not stack.enter_context(exclusive_lock(descriptor)):
                raise Busy(f"another process is compiling {unfinished}")
        yield


def _is_being_written(unfinished: Path) -> bool:
    """Return whether the process that writes a file may be alive: a lock ends with its process."""
    try:
        if time.time() - os.lstat(unfinished).st_mtime >= _ABANDONED_S:
            return False
        descriptor = open_own(unfinished, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        with exclusive_lock(descriptor) as free:
            return not free
    except LocksUnsupported:
        return True
    finally:
        os.close(descriptor)


def _remove_unused(stored: Path) -> None:
    """Remove the databases of other versions that no process has used for a day, and what killed
    processes have left of theirs."""
    for file in stored.parent.glob("prefilter-*"):
        if file != stored and _NAME.fullmatch(file.name) is not None:
            with suppress(OSError):
                if _is_unused(file):
                    file.unlink()


def _is_unused(file: Path) -> bool:
    if file.suffix == ".part":
        return not _is_being_written(file)
    with os.fdopen(open_own(file, os.O_RDONLY), "rb") as stream:
        ours = stream.read(len(_BEGINS)) == _BEGINS
        return ours and time.time() - os.fstat(stream.fileno()).st_mtime > _UNUSED_S
