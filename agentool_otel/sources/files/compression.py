"""gzip and zstd, as streams whose damage ends them instead of raising."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any, BinaryIO, cast

from agentool_otel.errors import MissingDependencyError

__all__ = ["BUFFER", "HEAD", "ZSTD", "Feed", "unpacked", "unzstd"]

BUFFER = 1 << 21  # more than a line: piecing one together costs as much as reading it
HEAD = 64
_GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
_LAYERS = 4  # of compression inside each other; nobody writes more


class Feed(io.RawIOBase):
    """Counts the bytes that pass and takes a read error for the end, so that what came is used."""

    def __init__(self, read: Callable[[int], bytes]):
        self.count = 0
        self.error: Exception | None = None
        self._read = read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        data = self._some(len(buffer))
        while self.count == 0 and 0 < len(data) < HEAD and (more := self._some(HEAD)):
            data += more  # a pipe gives what it has, and telling the format takes a few bytes
        self.count += len(data)
        buffer[: len(data)] = data
        return len(data)

    def _some(self, size: int) -> bytes:
        try:
            return self._read(size)
        except _read_errors() as error:
            self.error = error
            return b""


def unpacked(packed: Feed) -> tuple[list[Feed], io.BufferedReader[Feed]]:
    """Return a stream of the bytes inside, and every feed that may have met an error.

    Raises:
        MissingDependencyError: they are zstd, which this Python cannot read by itself.
    """
    feeds = [packed]
    stream = io.BufferedReader(packed, BUFFER)
    for _ in range(_LAYERS):
        head = stream.peek(4)
        if head.startswith(_GZIP):
            feed = Feed(gzip.GzipFile(fileobj=stream).read1)
        elif head.startswith(ZSTD):
            feed = Feed(unzstd(stream).read1)
        else:
            break
        feeds.append(feed)
        stream = io.BufferedReader(feed, BUFFER)
    return feeds, stream


def unzstd(stream: BinaryIO) -> io.BufferedReader[Any]:
    """Return a stream of what zstd frames, one after the other, hold.

    Raises:
        MissingDependencyError: no library for it is installed.
    """
    module = _zstd()
    if module is None:
        raise MissingDependencyError(
            "this is zstd, which Python reads since 3.14 only; "
            "hint: pip install 'agentool-otel[zstd]', or unpack it first: zstd -d FILE"
        )
    return cast("io.BufferedReader[Any]", module.ZstdFile(stream))


def _zstd() -> Any:
    """Return the standard library's module or its backport, which is the same."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return None


def _read_errors() -> tuple[type[Exception], ...]:
    module = _zstd()
    errors: tuple[type[Exception], ...] = (OSError, EOFError, zlib.error)
    return errors if module is None else (*errors, module.ZstdError)
