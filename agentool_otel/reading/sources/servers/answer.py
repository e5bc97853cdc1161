"""A complete response of a server: decompressed, counted, in the temporary folder if large."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, cast

from agentool_otel.errors import SourceError
from agentool_otel.ground import json_codec
from agentool_otel.ground.json_codec import Json
from agentool_otel.ground.temporary import room

__all__ = ["Answer", "AnswerTooLarge", "Cut", "whole_answer"]

_LARGEST = 1 << 30
"""Bytes of an answer, unpacked."""
_LARGEST_JSON = 64 << 20
_IN_MEMORY = 8 << 20
"""Bytes of an answer above which it waits in the temporary folder."""
_CHUNK = 1 << 20
_HEAD = 64 << 10
_EMPTY_MESSAGES = (b"", b"\n\x00")
_MEASURED = b"\x12"
"""Begins what Tempo measured; behind it there is no trace."""
_AROUND_TRACES = ("trace", "result", "resourceSpans", "batches", "data")


class AnswerTooLarge(SourceError):
    """An answer exceeds the limit."""


class Cut(Exception):
    """An answer is incomplete."""


class Answer:
    """A complete response of a server.

    Attributes:
        name: where it comes from, for messages.
        status: of HTTP.
        size: bytes of the body, unpacked.
    """

    def __init__(self, name: str, status: int, file: BinaryIO, size: int):
        self.name = name
        self.status = status
        self.size = size
        self._file = file

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def head(self, size: int = _HEAD) -> bytes:
        """Return the beginning of the body, which is still to be read."""
        self._file.seek(0)
        data = self._file.read(size)
        self._file.seek(0)
        return data

    def json(self) -> Json:
        """Return the body as JSON; None if it is not JSON, or too large to be read at once."""
        if self.size > _LARGEST_JSON:
            return None
        try:
            return json_codec.loads(self.head(-1))
        except ValueError:
            return None

    def is_page(self) -> bool:
        """Return whether the body is a page for people, such as a login form."""
        return self.head(256).lstrip().startswith(b"<")

    def may_hold_spans(self) -> bool:
        """Return whether the body begins as JSON or protobuf: a page does neither, and a body that
        is compressed twice might never end.
        """
        head = self.head(_HEAD)
        return not head or head[:1] == b"\n" or head.lstrip()[:1] in (b"{", b"[")

    def holds_nothing(self) -> bool:
        """Return whether the server reports that there is no trace, rather than a trace without
        spans.
        """
        head = self.head(2)
        if head in _EMPTY_MESSAGES or head.startswith(_MEASURED):
            return True
        if self.size > _HEAD or head[:1] != b"{":
            return False
        value = self.json()
        return isinstance(value, dict) and not any(value.get(key) for key in _AROUND_TRACES)

    def close(self) -> None:
        self._file.close()


def whole_answer(name: str, status: int, chunks: Iterable[bytes], gzipped: bool) -> Answer:
    """Return all of an answer.

    Raises:
        AnswerTooLarge: it exceeds the limit.
        Cut: it ends in the middle.
        SourceError: the temporary folder is full.
    """
    size = 0
    file = cast("BinaryIO", tempfile.SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115
    try:
        for data in _unpack(chunks) if gzipped else chunks:
            size += len(data)
            if size > _LARGEST:
                raise AnswerTooLarge(
                    f"{name} answers with more than {_LARGEST >> 20} MiB; hint: ask for less"
                )
            with room:
                file.write(data)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return Answer(name, status, file, size)


def _unpack(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the decompressed content of chunks, in parts of bounded size.

    Raises:
        Cut: they are damaged, or incomplete.
    """
    unpack = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        for data in chunks:
            while data and not unpack.eof:
                yield unpack.decompress(data, _CHUNK)
                data = unpack.unconsumed_tail
        yield unpack.flush()
    except zlib.error as error:
        raise Cut(f"its gzip is damaged: {error}") from None
    if not unpack.eof:
        raise Cut("its gzip ends in the middle")
