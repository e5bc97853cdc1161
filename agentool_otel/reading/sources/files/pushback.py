"""A stream that takes read bytes back."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import BinaryIO

__all__ = ["Pushback"]


class Pushback:
    """Reads a stream; costs nothing until something is pushed back."""

    def __init__(self, stream: BinaryIO):
        self._stream = stream
        self._ahead = io.BytesIO()
        self.read: Callable[[int], bytes] = stream.read
        """As `io.BufferedReader.read` of so many bytes."""
        self.readline: Callable[[int], bytes] = stream.readline
        """As `io.BufferedReader.readline` of at most so many bytes."""

    def lines(self, size: int) -> Iterator[bytes]:
        """Yield lines of at most so many bytes."""
        while line := self.readline(size):
            yield line

    def push(self, data: bytes) -> None:
        """Put bytes back before the next read."""
        self._ahead = io.BytesIO(data + self._ahead.read())
        self.read, self.readline = self._read, self._readline

    def _read(self, size: int) -> bytes:
        data = self._ahead.read(size)
        return data if len(data) == size else data + self._spent().read(size - len(data))

    def _readline(self, size: int) -> bytes:
        line = self._ahead.readline(size)
        if len(line) == size or line.endswith(b"\n"):
            return line
        return line + self._spent().readline(size - len(line))

    def _spent(self) -> BinaryIO:
        """Return the stream, from which alone is read from now on."""
        self.read, self.readline = self._stream.read, self._stream.readline
        return self._stream
