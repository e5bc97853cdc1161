"""Bytes and numbers that wait for the rest of a file: in memory while they are few, then on disk.

What is on disk has no name, and is gone when it is closed or the process ends.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator
from typing import IO

from agentool_otel._temporary import room

__all__ = ["Bytes", "Rows"]

_IN_MEMORY = 1 << 20
"""Bytes of each that are held in memory."""
_INTEGER = 8


class Bytes:
    """Pieces of bytes, got again by their places. All are put before one is got."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._end = 0

    def put(self, data: bytes) -> int:
        """Keep bytes and return where they begin.

        Raises:
            SourceError: the temporary folder is full.
        """
        start = self._end
        with room:
            if self._file is None:
                self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
            self._file.write(data)
        self._end += len(data)
        return start

    def get(self, start: int, size: int) -> bytes:
        """Return the bytes of a place."""
        if self._file is None:
            return b""
        with room:
            self._file.seek(start)
        return self._file.read(size)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class Rows:
    """Rows of signed 64-bit integers, divided into parts. All are added before a part is read."""

    def __init__(self, width: int, parts: int = 1):
        """Make room for rows of `width` integers in so many parts."""
        self._width = width
        self._waiting = [array("q") for _ in range(parts)]
        self._most = _IN_MEMORY // (_INTEGER * width)
        self._room = self._most
        self._on_disk = Bytes()
        self._blocks: list[list[tuple[int, int]]] = [[] for _ in range(parts)]

    def add(self, part: int, *row: int) -> None:
        """Add a row to a part.

        Raises:
            SourceError: the temporary folder is full.
        """
        self._waiting[part].extend(row)
        self._room -= 1
        if not self._room:
            self._settle()

    def _settle(self) -> None:
        for waiting, blocks in zip(self._waiting, self._blocks, strict=True):
            if waiting:
                blocks.append((self._on_disk.put(waiting.tobytes()), len(waiting) * _INTEGER))
                del waiting[:]
        self._room = self._most

    def of(self, part: int) -> Iterator[tuple[int, ...]]:
        """Yield the rows of a part in the order they were added."""
        for start, size in self._blocks[part]:
            block = array("q")
            block.frombytes(self._on_disk.get(start, size))
            yield from self._cut(block)
        yield from self._cut(self._waiting[part])

    def _cut(self, block: array[int]) -> Iterator[tuple[int, ...]]:
        numbers = iter(block)
        return zip(*[numbers] * self._width, strict=True)

    def close(self) -> None:
        self._on_disk.close()
