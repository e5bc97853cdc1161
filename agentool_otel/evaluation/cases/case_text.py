"""The JSON values of a file of cases: one, or one on every line, with the line of each part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from agentool_otel.ground import json_codec
from agentool_otel.ground.json_places import Path, line_of

__all__ = ["NotParsed", "Part", "json_parts"]

_BOM = b"\xef\xbb\xbf"


class NotParsed(NamedTuple):
    """Why a text is not of its format."""

    format: str
    what: str
    """The value that is there instead, and its place."""
    hint: str = ""

    def __str__(self) -> str:
        end = f"; hint: {self.hint}" if self.hint else ""
        return f"this is not {self.format}: {self.what}{end}"


class Part(NamedTuple):
    """A value of a file."""

    value: Any
    line_of: Callable[[Path], int]
    """Gives the line of the file, from 1, at which a path in the value leads."""
    fault: NotParsed | None = None
    """Why there is no value."""


def json_parts(stream: BinaryIO) -> Iterator[Part]:
    """Yield the JSON values of a file: one, or one on every line.

    Memory holds one line, or the whole file where it is not made of lines.
    """
    number, first = 0, b""
    for first in stream:
        number += 1
        if first.strip():
            break
    first = first.removeprefix(_BOM)
    if not first.strip():
        return
    try:
        value = json_codec.loads(first)
    except ValueError:
        yield from _single_part(first + stream.read(), number)
        return
    yield Part(value, partial(_same_line, number))
    yield from _lines(stream, number + 1)


def _single_part(data: bytes, number: int) -> Iterator[Part]:
    try:
        value = json_codec.loads(data)
    except ValueError as error:
        lines = data.splitlines()
        if any(line[:1] + line.rstrip()[-1:] == b"{}" for line in lines[1:]):
            yield from _lines(lines, number)
        else:
            yield _no_json(error, number - 1 + getattr(error, "lineno", 1))
        return
    text = data.decode("utf-8", "replace")
    yield Part(value, lambda path: number - 1 + line_of(text, path))


def _lines(lines: Iterable[bytes], first: int) -> Iterator[Part]:
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        try:
            yield Part(json_codec.loads(line), partial(_same_line, number))
        except ValueError as error:
            yield _no_json(error, number)


def _same_line(number: int, _: Path) -> int:
    return number


def _no_json(error: ValueError, line: int) -> Part:
    return Part(None, partial(_same_line, line), NotParsed("JSON", str(error)))
