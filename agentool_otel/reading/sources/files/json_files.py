"""Files of JSON documents: one, a list of them, or one on every line, packed or not."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from agentool_otel.ground import json_codec
from agentool_otel.reading.sources.files.streams import SpanFile, stdin, unpacked_bytes

__all__ = ["Item", "expanded", "items", "opened"]


class Item(NamedTuple):
    """One JSON value of a file, or a problem in its place."""

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
def opened(place: SpanFile | None) -> Generator[BinaryIO]:
    """Open a file, standard input for None, unpacked.

    Raises: as `unpacked_bytes`.
    """
    with unpacked_bytes(stdin() if place is None else place) as stream:
        yield stream
