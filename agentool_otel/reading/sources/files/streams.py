"""Streams of bytes: files on disk, files elsewhere, standard input, any other stream."""

from __future__ import annotations

import io
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from agentool_otel.errors import SourceDenied, SourceUnreachable
from agentool_otel.ground.near_names import instead_of
from agentool_otel.ground.urls import printable_place
from agentool_otel.reading.sources.files.compression import Feed, unpacked
from agentool_otel.reading.sources.files.file_slices import is_dense
from agentool_otel.reading.sources.files.remote_files import RemoteFile

__all__ = ["STDIN", "SpanFile", "head", "name_of", "open_stream", "stdin", "unpacked_bytes"]

SpanFile: TypeAlias = Path | RemoteFile | BinaryIO
STDIN = "standard input"
_ENDLESS = 256 << 20
"""Most bytes of documents from an input that may have no end, such as a pipe or a device."""


@contextmanager
def open_stream(file: SpanFile) -> Generator[BinaryIO | io.FileIO]:
    """Open a path unbuffered. A stream that was handed in stays open.

    Raises:
        SourceDenied: it may not be read.
        SourceUnreachable: it cannot be opened.
    """
    if isinstance(file, RemoteFile):
        try:
            yield cast("BinaryIO", file)
        finally:
            file.release()
        return
    if not isinstance(file, Path):
        yield file
        return
    try:
        raw = io.FileIO(file)
    except PermissionError as error:
        place = printable_place(file)
        raise SourceDenied(
            f"{place} may not be read: {error.strerror}; hint: ls -l {place}"
        ) from None
    except FileNotFoundError:
        meant = instead_of(file, folders=False)
        end = f"; hint: {meant}" if meant else ""
        raise SourceUnreachable(f"{printable_place(file)} does not exist{end}") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SourceUnreachable(f"{printable_place(file)} cannot be opened: {reason}") from None
    with raw:
        yield raw


@contextmanager
def unpacked_bytes(file: SpanFile) -> Generator[io.BufferedReader[Any]]:
    """Open a file and read it without its compression.

    Raises:
        SourceDenied: it may not be read.
        SourceUnreachable: it cannot be opened.
        MissingDependencyError: it is zstd, which this Python cannot read by itself.
        EOFError: it breaks off, is damaged or has no end; raised when all that came was read.
    """
    with open_stream(file) as raw:
        packed = Feed(getattr(raw, "read1", raw.read))
        if not (isinstance(file, RemoteFile) or is_dense(raw)):
            packed.stop_at(_ENDLESS, f"it has more than {_ENDLESS >> 20} MiB, and may have no end")
        feeds, stream = unpacked(packed)
        yield stream
        for feed in feeds:
            if feed.error is not None:
                raise EOFError(str(feed.error)) from feed.error


def head(file: SpanFile, size: int) -> bytes:
    """Return the beginning of a file, without its compression, in at most `size` bytes. Bytes of
    standard input can still be read afterwards.

    Raises: as `unpacked_bytes`, except for damage.
    """
    if isinstance(file, io.BufferedReader):
        file = io.BytesIO(file.peek(size))
    with open_stream(file) as raw:
        return unpacked(Feed(getattr(raw, "read1", raw.read)))[1].read(size)


def name_of(file: SpanFile) -> str:
    """Return the name of a file for messages."""
    if isinstance(file, Path):
        return printable_place(file)
    return STDIN if file is _standard_input() else str(getattr(file, "name", "input"))


_buffers: dict[int, tuple[object, io.BufferedReader[Any]]] = {}


def stdin() -> io.BufferedReader[Any]:
    """Return standard input, buffered so that its beginning can be looked at; always the same."""
    raw: Any = sys.stdin.buffer
    if isinstance(raw, io.BufferedReader):
        return raw  # pyright: ignore[reportUnknownVariableType] # of bytes
    buffer = _buffers.get(0)
    if buffer is None or buffer[0] is not raw:
        buffer = _buffers[0] = (raw, io.BufferedReader(raw))
    return buffer[1]


def _standard_input() -> object:
    """Return the last result of `stdin`, if any."""
    raw = getattr(sys.stdin, "buffer", None)
    buffer = _buffers.get(0)
    return buffer[1] if buffer is not None and buffer[0] is raw else raw
