"""The JSON values of a file of cases: one, or one on every line, with the line of each part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from agentool_otel.ground import json_codec
from agentool_otel.ground.json_places import Path, line_of

__all__ = ["Part", "json_parts"]

_BOM = b"\xef\xbb\xbf"


class Part(NamedTuple):
    """A value of a file."""

    value: Any
    line_of: Callable[[Path], int]
    """Gives the line of the file, from 1, at which a path in the value leads."""
    fault: str | None = None
    """Why there is no value."""


def json_parts(data: bytes) -> Iterator[Part]:
    """Yield the JSON values of a file: one, or one on every line."""
    data = data.removeprefix(_BOM)
    if not data.strip():
        return
    try:
        value = json_codec.loads(data)
    except ValueError as error:
        lines = data.splitlines()
        if _are_values(lines):
            yield from _lines(lines)
        else:
            yield _no_json(error, getattr(error, "lineno", 1))
        return
    yield Part(value, partial(line_of, data.decode("utf-8", "replace")))


def _are_values(lines: list[bytes]) -> bool:
    """Whether lines look like a value each, and not like those of one that is broken."""
    filled = [line.strip() for line in lines if line.strip()]
    whole = [line for line in filled if line[:1] + line[-1:] in (b"{}", b"[]") and len(line) > 1]
    return len(filled) > 1 and bool(whole) and filled[0] not in (b"{", b"[")


def _lines(lines: list[bytes]) -> Iterator[Part]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield Part(json_codec.loads(line), partial(_same_line, number))
        except ValueError as error:
            yield _no_json(error, number)


def _same_line(number: int, _: Path) -> int:
    return number


def _no_json(error: ValueError, line: int) -> Part:
    return Part(None, partial(_same_line, line), f"this is not JSON: {error}")
