"""The smallest pieces in which two JSON values differ.

Nothing here recurses: a value may be nested as deeply as it likes.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, NamedTuple, cast

from agentool_otel.evaluation.comparing import gap_in, same
from agentool_otel.evaluation.trace_diff.ignored import Ignoring
from agentool_otel.ground import json_codec
from agentool_otel.model.documents import UNSET
from agentool_otel.semconv.marks import MARK_TRUNCATED, MARK_UNENCODABLE
from agentool_otel.semconv.redaction import visible_parts

__all__ = ["Piece", "fingerprint", "pieces"]

_MARKS = (MARK_TRUNCATED, MARK_UNENCODABLE)
_DIGEST = 16


class Piece(NamedTuple):
    """Place at which two values differ, or may differ."""

    path: str
    """Of the piece, as in `arguments.filters[0].limit`."""
    a: Any
    """`UNSET` where there is none."""
    b: Any
    why_unknown: str | None
    """Why it is unknown whether they differ; None if they do."""


def fingerprint(value: Any, ignoring: Ignoring) -> bytes:
    """Return a key that equal JSON values share: 1 and 1.0 do, 1 and true do not.

    Takes time in proportion to the size of the value.
    """
    hashed = blake2b(digest_size=_DIGEST)
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            text = ignoring.text(item).encode("utf-8", "surrogatepass")
            hashed.update(b"s%d:" % len(text) + text)
        elif isinstance(item, dict):
            members = cast("dict[str, Any]", item)
            hashed.update(b"{%d:" % len(members))
            for key in sorted(members, reverse=True):
                pending += (members[key], _Key(key))
        elif isinstance(item, (list, tuple)):
            elements = cast("list[Any]", item)
            hashed.update(b"[%d:" % len(elements))
            pending += reversed(elements)
        elif isinstance(item, _Key):
            text = item.name.encode("utf-8", "surrogatepass")
            hashed.update(b"k%d:" % len(text) + text)
        else:
            hashed.update(_scalar(item))
    return hashed.digest()


class _Key(NamedTuple):
    """A member's name, on the stack of values to visit."""

    name: str


def _scalar(value: Any) -> bytes:
    if value is None or isinstance(value, bool) or value is UNSET:
        return f"({value})".encode()
    if isinstance(value, float) and not value.is_integer():
        return f"f{value.hex()};".encode()
    if isinstance(value, (int, float)):
        return f"i{int(value):x};".encode()
    return f"?{value!r};".encode()


def pieces(a: Any, b: Any, path: str, ignoring: Ignoring) -> Iterator[Piece]:
    """Yield the pieces in which two values differ, or may differ, in the order they stand in `a`.

    A text that is JSON is looked into where both are.
    """
    pending = [Piece(path, a, b, None)]
    while pending:
        at = pending.pop()
        if isinstance(at.a, dict) and isinstance(at.b, dict):
            pending += reversed(_of_objects(at.a, at.b, at.path))
        elif isinstance(at.a, list) and isinstance(at.b, list):
            pending += reversed(_of_lists(at.a, at.b, at.path, ignoring))
        elif isinstance(at.a, str) and isinstance(at.b, str):
            if (inner := _json_inside(at, ignoring)) is not None:
                pending.append(inner)
            elif ignoring.text(at.a) != ignoring.text(at.b):
                yield at._replace(why_unknown=_hidden(at.a, at.b, ignoring))
            elif (why := _gap(at.a, at.b)) is not None:
                yield at._replace(why_unknown=why)
        elif at.why_unknown is not None:
            yield at
        elif not same(at.a, at.b):
            yield at._replace(why_unknown=_gap(at.a, at.b))


def _of_objects(a: dict[str, Any], b: dict[str, Any], path: str) -> list[Piece]:
    hidden_a, hidden_b = _cut_short(a), _cut_short(b)
    members: list[Piece] = []
    for key in {**a, **b}:
        if key in _MARKS:
            if hidden_a or hidden_b:
                members.append(Piece(f"{path}.{key}", *_both(a, b, key), hidden_a or hidden_b))
            continue
        why = (None if key in a else hidden_a) or (None if key in b else hidden_b)
        members.append(Piece(f"{path}.{key}", *_both(a, b, key), why))
    return members


def _both(a: dict[str, Any], b: dict[str, Any], key: str) -> tuple[Any, Any]:
    return a.get(key, UNSET), b.get(key, UNSET)


def _of_lists(a: list[Any], b: list[Any], path: str, ignoring: Ignoring) -> list[Piece]:
    """Pair elements by position; if one side has more, equal beginnings and ends first."""
    hidden = _cut_short(a[-1:]) or _cut_short(b[-1:])
    start, end = 0, 0
    if len(a) != len(b):
        keys_a = [fingerprint(item, ignoring) for item in a]
        keys_b = [fingerprint(item, ignoring) for item in b]
        most = min(len(a), len(b))
        while start < most and keys_a[start] == keys_b[start]:
            start += 1
        while end < most - start and keys_a[-1 - end] == keys_b[-1 - end]:
            end += 1
    paired = min(len(a), len(b)) - end
    elements = [Piece(f"{path}[{n}]", a[n], b[n], None) for n in range(paired)]
    elements += (Piece(f"{path}[{n}]", a[n], UNSET, hidden) for n in range(paired, len(a) - end))
    elements += (Piece(f"{path}[{n}]", UNSET, b[n], hidden) for n in range(paired, len(b) - end))
    for n in range(end, 0, -1):  # equal, but what is masked in them may not be
        elements.append(Piece(f"{path}[{len(a) - n}]", a[-n], b[-n], None))
    return elements


def _json_inside(at: Piece, ignoring: Ignoring) -> Piece | None:
    """Return the values of two texts that are both JSON and differ; None for other texts."""
    if at.a[:1] not in ("{", "[") or at.b[:1] not in ("{", "["):
        return None
    try:
        a, b = json_codec.loads(at.a), json_codec.loads(at.b)
    except ValueError:
        return None
    if type(a) is not type(b) or fingerprint(a, ignoring) == fingerprint(b, ignoring):
        return None
    return at._replace(a=a, b=b)


def _hidden(a: str, b: str, ignoring: Ignoring) -> str | None:
    """Return why two texts that look different may be equal; None if visible parts differ."""
    why = _gap(a, b)
    if why is None:
        return None
    sides = [(text, visible_parts(text)) for text in (a, b)]
    marked = [parts for _, parts in sides if len(parts) > 1]
    starts = [ignoring.text(parts[0]) for _, parts in sides]
    ends = [ignoring.text(parts[-1]) for _, parts in sides]
    first = min((len(ignoring.text(parts[0])) for parts in marked), default=0)
    last = min((len(ignoring.text(parts[-1])) for parts in marked), default=0)
    if starts[0][:first] != starts[1][:first]:
        return None
    return why if not last or ends[0][-last:] == ends[1][-last:] else None


def _cut_short(value: Any) -> str | None:
    """Return why members or elements may be missing; None without a mark."""
    marked: Any = value[0] if isinstance(value, list) and value else value
    if isinstance(marked, dict) and any(mark in marked for mark in _MARKS):
        return gap_in({mark: marked[mark] for mark in _MARKS if mark in marked})
    return None


def _gap(a: Any, b: Any) -> str | None:
    for value in (a, b):
        if value is not UNSET and (why := gap_in(value)) is not None:
            return why
    return None
