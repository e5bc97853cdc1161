"""Sizes of the record batches of an Arrow IPC file or stream, from the headers of its messages.

A batch of 500 MB may take 20 kB of a file, and pyarrow unpacks all of it at once. The headers, and
the eight bytes before each packed buffer, have its size. They are read here without unpacking it;
every offset in them is untrusted.

Source: apache/arrow format/File.fbs `Footer`, `Block`; format/Message.fbs `Message`, `RecordBatch`,
`DictionaryBatch`, `BodyCompression`; flatbuffers.dev, "FlatBuffers Binary Format".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import SEEK_END
from typing import BinaryIO, NamedTuple

__all__ = ["BatchSize", "Headers", "is_stream"]

_MAGIC = b"ARROW1"
_CONTINUED = b"\xff" * 4
_BLOCK = struct.Struct("<qiiq")
_PAIR = struct.Struct("<qq")
_MARKED = struct.Struct("<4si")
"""The mark and the size of a message."""
_INT, _SHORT, _LONG = struct.Struct("<i"), struct.Struct("<H"), struct.Struct("<q")
_OLD_COMPRESSION = b"ARROW:experimental_compression"
"""Metadata of a packed message of Arrow 0.17."""
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3
"""Kinds of messages."""
_PREFIX = 12
"""Bytes of the mark, the size of a message, and the place of its table."""
_CHUNK = 1 << 20
_POINTER = 8
"""Bytes that a cell takes at least, once it is read: a column of nulls has none in its file."""


def is_stream(head: bytes) -> bool:
    """Return whether data begin as an Arrow IPC stream: a mark, and the size of a message, whose
    table is near its start."""
    if not head.startswith(_CONTINUED) or len(head) < _PREFIX:
        return False
    size, table = _INT.unpack_from(head, 4)[0], _INT.unpack_from(head, 8)[0]
    return size % 8 == 0 and bool(0 < table < size)


class BatchSize(NamedTuple):
    """Size of a record batch."""

    rows: int
    unpacked: int
    """Bytes in memory."""


class _Table:
    """Table of a flatbuffer.

    Raises:
        ValueError: an offset leads out of the buffer.
    """

    def __init__(self, data: bytes, at: int):
        self.data, self.at = data, at
        self._vtable = at - self.number(_INT, at)
        self._size = self.number(_SHORT, self._vtable)

    def number(self, form: struct.Struct, at: int) -> int:
        if not 0 <= at <= len(self.data) - form.size:
            raise ValueError("a header leads out of its file")
        number: int = form.unpack_from(self.data, at)[0]
        return number

    def place(self, field: int) -> int | None:
        """Return where a field is; None if the table has none."""
        entry = 4 + 2 * field
        offset = self.number(_SHORT, self._vtable + entry) if entry < self._size else 0
        return self.at + offset if offset else None

    def long(self, field: int) -> int:
        return 0 if (at := self.place(field)) is None else self.number(_LONG, at)

    def byte(self, field: int) -> int:
        at = self.place(field)
        return 0 if at is None or not 0 <= at < len(self.data) else self.data[at]

    def table(self, field: int) -> _Table | None:
        at = self.place(field)
        return None if at is None else _Table(self.data, at + self.number(_INT, at))

    def items(self, field: int, form: struct.Struct) -> Iterator[tuple[int, ...]]:
        """Yield the structs of a vector."""
        at = self.place(field)
        if at is None:
            return
        at += self.number(_INT, at)
        count = self.number(_INT, at)
        if not 0 <= count * form.size <= len(self.data) - at - 4:
            raise ValueError("a header leads out of its file")
        for number in range(count):
            yield form.unpack_from(self.data, at + 4 + number * form.size)


class Headers:
    """Headers of a file, or of a stream.

    Raises:
        ValueError: they are damaged.
    """

    def __init__(self, file: BinaryIO, *, stream_at: int | None = None):
        """
        Args:
            file: the file.
            stream_at: where a stream begins in it; None for a file with a footer.
        """
        self._file = file
        self.end = self._end = file.seek(0, SEEK_END)
        """Where a stream ends: behind its end marker, or where another one begins."""
        self.is_cut = False
        """Whether a stream ends in the middle of a message."""
        self.others: list[tuple[int, int]] = []
        """Where the messages of a stream that are of no known kind begin and end."""
        if stream_at is not None:
            self._dictionaries, self._batches = self._scan(stream_at)
            return
        tail = self._read(self._end - 10, 10)
        size = _INT.unpack(tail[:4])[0]
        if tail[4:] != _MAGIC:
            raise ValueError("it has no footer")
        footer = _root(self._read(self._end - 10 - size, size))
        self._dictionaries = list(footer.items(2, _BLOCK))
        self._batches = list(footer.items(3, _BLOCK))

    def _scan(self, start: int) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """Return the blocks of the messages of a stream, as the footer of a file lists them."""
        blocks: dict[int, list[tuple[int, ...]]] = {_DICTIONARY: [], _BATCH: []}
        at = start
        while at < self._end:
            try:
                mark, size = _MARKED.unpack(self._read(at, _MARKED.size))
                if size == 0 and mark in (_CONTINUED, bytes(4)):
                    self.end = at + _MARKED.size
                    break
                message = _root(self._read(at + 8, size))
                kind, body = message.byte(1), message.long(3)
            except ValueError:
                self.is_cut = True
                break
            after = at + 8 + size + body
            if mark != _CONTINUED or body < 0 or after > self._end:
                self.is_cut = True
                break
            if kind == _SCHEMA and at > start:
                self.end = at
                break
            if kind in blocks:
                blocks[kind].append((at, size + 8, 0, body))
            elif at > start:
                self.others.append((at, after))
            at = after
        return blocks[_DICTIONARY], blocks[_BATCH]

    def following(self) -> int:
        """Return how many bytes are behind a stream, without zeros that fill it up."""
        at, count, found = self.end, 0, 0
        self._file.seek(at)
        while data := self._file.read(_CHUNK):
            if size := len(data.rstrip(b"\0")):
                found = count + size
            count += len(data)
        return found

    def is_followed(self) -> bool:
        """Return whether another stream begins where a stream ends."""
        self._file.seek(self.end)
        return is_stream(self._file.read(_PREFIX))

    @property
    def batches(self) -> int:
        """The number of record batches."""
        return len(self._batches)

    def dictionaries(self, limit: int) -> int:
        """Return how many bytes all dictionaries unpack to, or more than `limit`."""
        total = 0
        for block in self._dictionaries:
            total += self._size(block, _DICTIONARY).unpacked
            if total > limit:
                break
        return total

    def batch(self, number: int) -> BatchSize:
        """Return the size of a record batch."""
        if not 0 <= number < len(self._batches):
            raise ValueError("its footer does not name it")
        return self._size(self._batches[number], _BATCH)

    def place(self, number: int) -> tuple[int, int]:
        """Return where the message of a record batch begins, and where it ends."""
        offset, metadata_size, _, body = self._batches[number]
        return offset, offset + metadata_size + body

    def _size(self, block: tuple[int, ...], kind: int) -> BatchSize:
        offset, metadata_size, _, _ = block
        data = self._read(offset, metadata_size)
        start = 8 if data.startswith(_CONTINUED) else 4
        message = _root(data[start:])
        header = message.table(2)
        if message.byte(1) != kind or header is None:
            raise ValueError("its header is of another kind")
        batch = header if kind == _BATCH else header.table(1)
        if batch is None:
            raise ValueError("its header has no data")
        is_packed = batch.place(3) is not None or _OLD_COMPRESSION in data
        cells = sum(max(0, length) for length, _ in batch.items(1, _PAIR))
        unpacked = sum(
            self._unpacked(offset + metadata_size + at, size) if is_packed else size
            for at, size in batch.items(2, _PAIR)
            if size > 0
        )
        rows = batch.long(0)
        return BatchSize(rows, unpacked + metadata_size + _POINTER * max(rows, cells))

    def _unpacked(self, at: int, size: int) -> int:
        """Return the size of a packed buffer in memory: its first eight bytes, or -1 where it is
        stored as it is."""
        claimed = int(_LONG.unpack(self._read(at, 8))[0])
        return size if claimed == -1 else max(size, claimed)

    def _read(self, at: int, size: int) -> bytes:
        if size < 0 or not 0 <= at <= self._end - size:
            raise ValueError("a header leads out of its file")
        self._file.seek(at)
        data = self._file.read(size)
        if len(data) != size:
            raise ValueError("a header leads out of its file")
        return data


def _root(data: bytes) -> _Table:
    if len(data) < 4:
        raise ValueError("a header leads out of its file")
    return _Table(data, _INT.unpack_from(data)[0])
