"""Files of JSON documents: one, a list of them, or one on every line, packed by gzip or not."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from agentool_otel.errors import SourceDenied, SourceUnreachable
from agentool_otel.ground import json_codec

__all__ = ["Item", "expanded", "items", "opened", "stdin"]


class Item(NamedTuple):
    """One JSON value of a file, or what stands in its place."""

    where: str
    value: Any
    error: str | None = None


def items(stream: BinaryIO, label: str) -> Iterator[Item]:
    """Yield the JSON values of a stream: one, a list of them, or one on every line.

    Memory holds one line, or the whole stream where it is not made of lines.
    """
    number, first = 0, b""
    for first in stream:
        number += 1
        if first.strip():
            break
    if not first.strip():
        return
    try:
        value = json_codec.loads(_trimmed(first))
    except ValueError:
        yield from _whole(stream, first, number, label)
        return
    second = next((line for line in stream if line.strip()), None)
    alone = second is None
    yield from expanded(value, label if alone else f"{label} line {number}")
    if second is not None:
        yield from _lines(chain([second], stream), number + 1, label)


def _whole(stream: BinaryIO, first: bytes, number: int, label: str) -> Iterator[Item]:
    text = first + stream.read()
    try:
        value = json_codec.loads(_trimmed(text))
    except ValueError as error:
        lines = text.splitlines(keepends=True)
        if sum(1 for line in lines if line.startswith(b"{") and line.rstrip().endswith(b"}")):
            yield from _lines(iter(lines), number, label)
        else:
            yield Item(label, None, f"this is not JSON: {error}")
        return
    yield from expanded(value, label)


def _lines(lines: Iterator[bytes], number: int, label: str) -> Iterator[Item]:
    for n, line in enumerate(lines, number):
        if not line.strip():
            continue
        try:
            value = json_codec.loads(_trimmed(line))
        except ValueError as error:
            yield Item(f"{label} line {n}", None, f"this line is not JSON: {error}")
            continue
        yield from expanded(value, f"{label} line {n}")


def _trimmed(text: bytes) -> bytes:
    return text.removeprefix(b"\xef\xbb\xbf").strip()


def expanded(value: Any, where: str) -> Iterator[Item]:
    if isinstance(value, list):
        members: list[Any] = [*value]
        for n, member in enumerate(members):
            yield Item(f"{where} item {n}", member)
    else:
        yield Item(where, value)


@contextmanager
def opened(place: Path | None) -> Generator[BinaryIO]:
    """Open a file, or standard input, unpacked.

    Raises:
        SourceDenied: it may not be read.
        SourceUnreachable: it cannot be opened.
    """
    if place is None:
        yield _unpacked(stdin())
        return
    try:
        file = place.open("rb")
    except PermissionError as error:
        raise SourceDenied(f"{place} may not be read: {error.strerror}") from error
    except OSError as error:
        raise SourceUnreachable(f"{place} cannot be opened: {error.strerror or error}") from error
    with file:
        yield _unpacked(file)


def _unpacked(stream: io.BufferedReader[Any]) -> BinaryIO:
    if stream.peek(2)[:2] == b"\x1f\x8b":
        return cast("BinaryIO", gzip.GzipFile(fileobj=stream))
    return stream


_buffers: dict[int, tuple[object, io.BufferedReader[Any]]] = {}


def stdin() -> io.BufferedReader[Any]:
    """Return standard input, buffered so that its beginning can be looked at; always the same."""
    raw: Any = sys.stdin.buffer
    if isinstance(raw, io.BufferedReader):
        return raw  # pyright: ignore[reportUnknownVariableType] # of bytes
    kept = _buffers.get(0)
    if kept is None or kept[0] is not raw:
        kept = _buffers[0] = (raw, io.BufferedReader(raw))
    return kept[1]
