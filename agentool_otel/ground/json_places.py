"""Places in a JSON document: the path to a value, and the line on which that is written."""

from __future__ import annotations

import json
from typing import TypeAlias

from agentool_otel.ground import lazy_re as re

__all__ = ["Path", "line_of", "parse_path", "path_text"]

Path: TypeAlias = tuple[str | int, ...]
"""Names of members and indexes of items, from the outside in."""

_STEP = re.compile(r"\.([A-Za-z_]\w*)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]")
_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(strict=False)


def path_text(path: Path) -> str:
    """Return a path as text, such as `tools[0].tool_name`."""
    steps = (f"[{item}]" if isinstance(item, int) else f".{item}" for item in path)
    return "".join(steps).removeprefix(".")


def parse_path(text: str) -> Path:
    """Return the path that a JSON path such as `$.tools[0].mode` names, as far as it is plain."""
    steps: list[str | int] = []
    at = 1
    while match := _STEP.match(text, at):
        name, index, quoted = match.groups()
        steps.append(int(index) if index is not None else name if name is not None else quoted)
        at = match.end()
    return tuple(steps)


def line_of(text: str, path: Path) -> int:
    """Return the line, from 1, of a member or an item in a JSON text; the line of its parent if the
    path leads nowhere.
    """
    line_at = at = _after_blanks(text, 0)
    try:
        for step in path:
            span = _member(text, at, step) if isinstance(step, str) else _item(text, at, step)
            if span is None:
                break
            line_at, at = span
    except (ValueError, IndexError, RecursionError, StopIteration):
        pass  # a text that Python's decoder reads otherwise: the place is known in part
    return text.count("\n", 0, line_at) + 1


def _member(text: str, at: int, name: str) -> tuple[int, int] | None:
    """Return where the name and the value of a member are; of several, those of the last."""
    span = None
    while text[at] in "{,":
        key_at = _after_blanks(text, at + 1)
        if text[key_at] != '"':
            break
        key, at = _DECODER.raw_decode(text, key_at)
        value_at = _after_blanks(text, _after_blanks(text, at) + 1)
        if key == name:
            span = key_at, value_at
        at = _after_blanks(text, _DECODER.raw_decode(text, value_at)[1])
    return span


def _item(text: str, at: int, index: int) -> tuple[int, int] | None:
    if text[at] != "[":
        return None
    for n in range(index + 1):
        at = _after_blanks(text, at + 1)
        if text[at] == "]":
            return None
        if n == index:
            return at, at
        at = _after_blanks(text, _DECODER.raw_decode(text, at)[1])
        if text[at] != ",":
            return None
    return None


def _after_blanks(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match is not None else at
