"""A text made shorter: of JSON, valid JSON of the same shape with marks where something is missing.

Nothing is parsed that can stay as it is: an object or array is taken apart into the texts of its
members, and only a member that is too large is looked into. Members share the room fairly: none is
cut below what a large one keeps, and of too many the first ones stay.
"""

from __future__ import annotations

from typing import Any

import msgspec
import orjson

from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.semconv.marks import MARK_LENGTH, MARK_TRUNCATED, TRUNCATED_TEXT

__all__ = ["shorten"]

_LEAST = 64
"""Bytes that a member is never cut below: every mark has room in them."""
_WHOLE = 1024
"""The same where there is room for many: fewer records are left rather than a bit of each."""

_Raw = msgspec.Raw
_object = msgspec.json.Decoder(dict[str, _Raw]).decode
_array = msgspec.json.Decoder(list[_Raw]).decode
_check = msgspec.json.Decoder(_Raw).decode


def shorten(text: str, most: int) -> str:
    """Return at most so many bytes of a text, with a mark if it was shortened."""
    try:
        data = text.encode()
        _check(data)
        return _cut(data, most).decode()
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _mark(len(text)).decode() if _is_json(text) else _plain_head(text, most)


def _is_json(text: str) -> bool:
    """Return whether it is JSON after all: a name with half a character in it, or nested
    too deep.
    """
    try:
        loads(text)
    except ValueError as error:
        return isinstance(error.__cause__, RecursionError)
    return True


def _cut(value: bytes, room: int) -> bytes:
    if len(value) <= room:
        return value
    kind = value[:1]
    if room >= _LEAST:
        if kind == b'"':
            return _cut_string(loads(value), room)
        if kind == b"{":
            members = _object(value)
            # All at once: orjson takes a kilobyte for each text.
            names = [bytes(name) + b":" for name in _array(orjson.dumps(list(members)))]
            return b"{%b}" % _cut_members(names, list(members.values()), room, b"%b")
        if kind == b"[":
            items = _array(value)
            return b"[%b]" % _cut_members([b""] * len(items), items, room, b"{%b}")
    return _mark(len(value))


def _cut_members(names: list[bytes], members: list[_Raw], room: int, mark_as: bytes) -> bytes:
    """Return members with their commas; a last one replaces those without room."""
    mark = mark_as % _mark(len(members))[1:-1]
    room -= 2
    overhead = sum(map(len, names)) + len(names)
    least = max(_LEAST, min(_WHOLE, room // 16), (room - overhead) // len(members))
    values: list[bytes] = []
    used: list[int] = []
    end = 0
    for name, member in zip(names, members, strict=True):
        value = bytes(member)
        end += len(name) + 1 + min(len(value), least)
        if end > room:
            break
        values.append(value)
        used.append(end)
    if len(values) < len(members):
        room -= len(mark) + 1
        while used and used[-1] > room:
            used.pop()
        values = values[: len(used)]
        overhead = sum(map(len, names[: len(used)])) + len(used)
    share = _fair_share([*map(len, values)], room - overhead)
    shortened = [
        name + (value if len(value) <= share else _cut(value, share))
        for name, value in zip(names, values, strict=False)
    ]
    if len(shortened) < len(members):
        shortened.append(mark)
    return b",".join(shortened)


def _fair_share(sizes: list[int], room: int) -> int:
    """Return how large a member may be for all together to have room."""
    remaining = len(sizes)
    for size in sorted(sizes):
        if size * remaining > room:
            return room // remaining
        room -= size
        remaining -= 1
    return max(sizes, default=0)


def _cut_string(value: str, room: int) -> bytes:
    end = TRUNCATED_TEXT.format(len(value))
    length = max(0, room - len(end) - 2)
    while True:
        cut = dumps(f"{value[:length]}{end}").encode()
        if len(cut) <= room or not length:
            return cut
        length = max(0, min(length - 1, length * room // len(cut)))  # escapes take more than a byte


def _plain_head(text: str, most: int) -> str:
    room = max(0, most - len(TRUNCATED_TEXT) - 20)
    head = text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    return f"{head}{TRUNCATED_TEXT.format(len(text))}"


def _mark(length: int) -> bytes:
    mark: dict[str, Any] = {MARK_TRUNCATED: "bytes", MARK_LENGTH: length}
    return orjson.dumps(mark)
