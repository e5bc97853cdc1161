"""gzip and zstd, as streams whose damage ends them instead of raising.

Two megabytes can unpack to terabytes. So there is a limit to what comes out of an input, which
recordings stay far below, and beyond it the stream ends as a damaged one does.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, BinaryIO, cast

from agentool_otel.errors import MissingDependencyError
from agentool_otel.ground import environment

__all__ = [
    "BUFFER",
    "HEAD",
    "ZSTD",
    "Feed",
    "TooLarge",
    "limit_of",
    "limited_to",
    "repeated_limit_of",
    "too_large",
    "unpacked",
    "unzstd",
]

BUFFER = 1 << 21  # more than a line: piecing one together costs as much as reading it
HEAD = 64
_GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
_LAYERS = 4  # of compression inside each other; nobody writes more
_SMALL = 64 << 20
"""Bytes that may come out of any input, however little goes in."""
_RATIO = 200
"""Bytes that may come out per byte that goes in: spans stay far below it, gzip reaches 1,032."""


_REPEATED = 100
"""How often the rows of a table may repeat what is in it, on average."""


class TooLarge(OSError):
    """More comes out of a compressed input than is taken for spans."""


_asked: list[int] = []
"""The limit of the command line, if there is one."""


@contextmanager
def limited_to(size: int) -> Generator[None]:
    """Limit the size of unpacked input, in bytes, in place of the environment."""
    _asked.append(size)
    try:
        yield
    finally:
        _asked.pop()


def limit_of(packed: int) -> int:
    """Return how many bytes a compressed input may unpack to: the limit of `limited_to` or
    `AGENTOOL_UNPACK_LIMIT`, else 64 MiB or two hundred times its size, whichever is more.
    """
    limit = _asked[-1] if _asked else environment.unpack_limit()
    return max(_SMALL, _RATIO * packed) if limit is None else limit


def repeated_limit_of(packed: int) -> int:
    """Return the same for the rows of a table: a prompt that every row repeats is in the file once.

    Without a limit of the user's it is a hundred times as much.
    """
    is_given = bool(_asked) or environment.unpack_limit() is not None
    return limit_of(packed) * (1 if is_given else _REPEATED)


def too_large(limit: int, packed: str = "it") -> str:
    """Return what is wrong with an input that unpacks to more than a limit, and the remedy."""
    return (
        f"more than {limit:,} bytes come out of {packed}; "
        f"hint: --unpack-limit 20GB, or {environment.UNPACK_LIMIT}, lets more be read"
    )


class Feed(io.RawIOBase):
    """Counts the bytes that pass and takes a read error for the end, so that earlier bytes are
    used.

    Args:
        read: gives the bytes.
        packed: gives how many bytes they have been unpacked from; None if they are as they came.
    """

    def __init__(self, read: Callable[[int], bytes], packed: Callable[[], int] | None = None):
        self.count = 0
        self.error: Exception | None = None
        self._most: int | None = None
        self._reason = ""
        self._read = read
        self._packed = packed

    def stop_at(self, count: int | None, reason: str = "") -> None:
        """End the stream after a number of bytes, as damage does, for a reason; None for no end."""
        self._most, self._reason = count, reason

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
            if self._most is not None and self.count >= self._most:
                raise TooLarge(self._reason)
            data = self._read(size)
            if self._packed is not None:
                _check(self.count + len(data), self._packed())
            return data
        except _read_errors() as error:
            self.error = error
            return b""


def _check(count: int, packed: int) -> None:
    if count > (limit := limit_of(packed)):
        raise TooLarge(too_large(limit, f"{packed:,}"))


def unpacked(packed: Feed) -> tuple[list[Feed], io.BufferedReader[Feed]]:
    """Return a stream of the bytes inside, and every feed that may have met an error.

    Raises:
        MissingDependencyError: they are zstd, which this Python cannot read by itself.
    """
    feeds = [packed]
    stream = io.BufferedReader(packed, BUFFER)

    def count() -> int:
        return packed.count

    for _ in range(_LAYERS):
        head = stream.peek(4)
        if head.startswith(_GZIP):
            feed = Feed(gzip.GzipFile(fileobj=stream).read1, count)
        elif head.startswith(ZSTD):
            feed = Feed(unzstd(stream).read1, count)
        else:
            break
        feeds.append(feed)
        stream = io.BufferedReader(feed, BUFFER)
    return feeds, stream


def unzstd(stream: BinaryIO) -> io.BufferedReader[Any]:
    """Return a stream of the contents of consecutive zstd frames.

    Raises:
        MissingDependencyError: no library for it is installed.
    """
    module = _zstd()
    if module is None:
        from agentool_otel.ground.installing import install_command

        raise MissingDependencyError(
            "this is zstd, which Python reads since 3.14 only; hint: "
            f"{install_command('zstd', 'backports.zstd')}, or unpack it first: zstd -d FILE"
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
