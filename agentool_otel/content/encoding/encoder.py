"""Values of the user to JSON text, whatever they are.

`encode` never raises, never changes a value, ends in bounded time and calls nothing of the user's:
a method may raise, hang, use up an iterator or ask a database. Plain JSON values go straight to
orjson once a look at them has shown that they are plain; the rest is copied by a walk that looks
into the types it knows. What cannot be encoded is represented by a marker, an object with a member
`$unencodable` or `$truncated` (`semconv.marks`), never left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from agentool_otel.content.encoding.builtin_kinds import BASES, EXACT, plain_text
from agentool_otel.content.encoding.introspection import (
    Items,
    Marker,
    mro,
    truncation_marker,
    type_name,
    unencodable,
)
from agentool_otel.content.encoding.library_kinds import declared_fields, of_libraries
from agentool_otel.content.media.recognition import holds_long_text
from agentool_otel.ground.interruptions import let_through
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.semconv.marks import (
    MARK_LENGTH,
    MARK_MEDIA,
    MARK_SHA256,
    MARK_TRUNCATED,
    MARK_UNENCODABLE,
    TRUNCATED_TEXT,
)

if TYPE_CHECKING:
    from agentool_otel.content.media.replacing import MediaKeeper

__all__ = [
    "LIMITS",
    "MIDDLE",
    "Limits",
    "as_text",
    "encode",
    "encode_known",
    "is_plain",
    "jsonable",
]


class Limits(NamedTuple):
    """Limits of encoding: depth, items, size and time, whatever the value is."""

    depth: int = 100
    nodes: int = 250_000
    """Members, of all containers together."""
    characters: int = 1 << 26
    """Of all texts together: what fits an attribute is decided later, and by that time the whole
    value may have been put where there is room for it."""
    seconds: float = 0.25


LIMITS = Limits()
MIDDLE = Limits(characters=1 << 16)
"""Limits of values that are encoded at once. A larger one may have media, which are not copied."""


def encode(value: Any, limits: Limits = LIMITS) -> str:
    """Return a value as JSON text, non-ASCII characters unescaped."""
    return encode_known(value, is_plain(value, limits), limits)


def jsonable(value: Any) -> Any:
    """Return a value as a plain JSON value, a copy that later changes cannot reach."""
    return loads(encode_known(value, True)) if is_plain(value, MIDDLE) else _copy_of_large(value)


def _copy_of_large(value: Any) -> Any:
    """Return the copy of a value that is large or not plain. One with long texts, such as media,
    is copied by itself: the copy shares the texts, whereas JSON text would contain them twice.
    """
    plain = is_plain(value)
    if not plain:
        value = _Walk(LIMITS).copy(value)
    if holds_long_text(value):
        try:
            return _copied(value)
        except TypeError:  # integers above 64 bits, a name with lone surrogates
            pass
    return loads(encode_known(value, True) if plain else dumps(value))


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return plain_text(value)
    if kind is dict or kind is Marker:
        if any(plain_text(name) is not name for name in value):
            raise TypeError("a name with lone surrogates")
        return {name: _copied(member) for name, member in value.items()}
    if kind is list or kind is tuple:
        return [_copied(member) for member in value]
    if kind is int and not -_64 <= value < 2 * _64:
        raise TypeError("an integer above 64 bits")
    return value


def as_text(value: Any) -> str:
    """Return text as it is, anything else as JSON text."""
    if type(value) is str or any(base is str for base in mro(type(value))):
        return plain_text(value)
    return encode(value)


def encode_known(
    value: Any, plain: bool, limits: Limits = LIMITS, keeper: MediaKeeper | None = None
) -> str:
    """Encode a value that `is_plain` has seen before.

    Args:
        value: anything.
        plain: what `is_plain` has returned of it.
        limits: those of the walk over a value that is not plain.
        keeper: replaces the media in such a value.
    """
    if plain:
        try:
            return orjson.dumps(value).decode()
        except TypeError:  # lone surrogates, integers above 64 bits, names that are no text
            pass
    copied = _Walk(limits, keeper).copy(value)
    return dumps(copied if keeper is None else keeper.value(copied))


def is_plain(value: Any, limits: Limits = LIMITS) -> bool:
    """Return whether a value is plain JSON and not large, so that encoding it runs nothing but
    orjson.

    Every traced call comes through here, hence one loop with hardly a call in it. Types are
    compared by identity alone, because `==` and `hash` of a class may be the user's. It goes level
    by level: orjson 3.13 overruns its buffer on tuples nested a few thousand deep.

    Args:
        value: anything.
        limits: of which one node counts as much as 64 characters.
    """
    kind = type(value)
    if not (kind is dict or kind is list or kind is tuple):
        return _is_plain_scalar(value, limits)
    room, depth = limits.characters, limits.depth
    join = "".join
    opened = 0
    ids: set[int] = set()
    level = [value]
    try:
        while level:
            below: list[Any] = []
            for container in level:
                count = len(container)
                room -= count << 6
                members = container
                if type(container) is dict:
                    join(container)  # a name that is no text raises
                    members = container.values()
                for member in members:
                    kind = type(member)
                    if kind is str:
                        room -= len(member)
                    elif kind is dict:  # early: a result is often a list of them
                        below.append(member)
                    elif kind is float:
                        if member - member != 0.0:  # NaN and infinity, null to orjson
                            return False
                    elif kind is int or kind is bool or member is None:
                        continue
                    elif kind is list or kind is tuple:
                        below.append(member)
                    else:
                        return False
            depth -= 1
            if room < 0 or depth < 0:
                return False
            level = below
            opened += len(level)
            if opened > _OPENED and _repeats(level, ids):
                return False
    except (TypeError, RuntimeError) as error:  # a name that is no text; a dict that was changed
        let_through(error)
        return False
    return True


def _is_plain_scalar(value: Any, limits: Limits) -> bool:
    kind = type(value)
    if kind is str:
        return len(value) <= limits.characters
    finite = kind is float and value - value == 0.0
    return finite or kind is int or kind is bool or value is None


_OPENED = 1024
"""Containers from which on repetitions are looked for."""


def _repeats(level: list[Any], ids: set[int]) -> bool:
    """Return whether a container occurs several times or contains itself: orjson would write each
    copy.

    Args:
        level: containers equally deep in the value.
        ids: ids of those above; the present ones are added.
    """
    present = set(map(id, level))
    if len(present) < len(level) or not ids.isdisjoint(present):
        return True
    ids |= present
    return False


class _Frame(NamedTuple):
    """A container that is being copied."""

    identity: int
    source: Items
    copied: Any


_END: Any = object()
_64 = 1 << 63


class _Walk:
    """Copies one value to plain JSON, container by container, without recursion."""

    __slots__ = (
        *("_characters", "_deadline", "_keeper", "_kinds", "_limits", "_names", "_nodes"),
        "_path",
    )

    def __init__(self, limits: Limits, keeper: MediaKeeper | None = None):
        self._limits = limits
        self._keeper = keeper
        """Takes the bytes that are media."""
        self._nodes = limits.nodes
        self._characters = limits.characters
        self._deadline = monotonic() + limits.seconds
        self._path: set[int] = set()
        """Ids of the containers around the present one."""
        self._kinds = of_libraries()
        self._names: dict[tuple[int, str], int] = {}
        """Number of references to a container that has a name already, by the id of its copy."""

    def copy(self, value: Any) -> Any:
        result: list[Any] = []
        frames = [_Frame(0, Items(iter((value,)), 1), result)]
        while frames:
            identity, source, copied = frames[-1]
            limit = self._spent()
            member: Any
            try:
                member = next(source.members, _END)
            except RuntimeError as error:  # another thread changed it meanwhile
                let_through(error)
                member, limit = None, "changed"
            if member is _END or limit is not None:
                if member is not _END and len(frames) == 2 and source.few:
                    self._copy_small(chain((member,), source.members), copied)
                elif member is not _END:
                    _end_early(copied, str(limit), source.length)
                self._path.discard(identity)
                frames.pop()
                continue
            key, inner = member if source.mapping else (None, member)
            plain, children = self._scalar_or_members(inner)
            if children is not None:
                if id(inner) in self._path:
                    plain = unencodable(inner, "circular")
                elif len(frames) > self._limits.depth:
                    plain = truncation_marker(inner, "depth", children.length)
                else:
                    plain = {} if children.mapping else []
                    self._path.add(id(inner))
                    frames.append(_Frame(id(inner), children, plain))
            if source.mapping:
                copied[self._key(key, copied)] = plain
            else:
                copied.append(plain)
        return result[0]

    def _copy_small(self, members: Iterator[tuple[Any, Any]], copied: dict[str, Any]) -> None:
        """Copy the small parts of each member: one huge argument must not cost the others."""
        characters = min(256, self._limits.characters // 64)
        small = Limits(8, 16, characters, self._limits.seconds / 16)
        for key, inner in members:
            copied[self._key(key, copied)] = _Walk(small).copy(inner)

    def _spent(self) -> str | None:
        """Return the limit that is reached, None while there is room."""
        self._nodes -= 1
        if self._nodes < 0:
            return "nodes"
        if self._characters <= 0:
            return "characters"
        if not self._nodes & 0xFF and monotonic() > self._deadline:
            self._nodes = 0
            return "seconds"
        return None

    def _scalar_or_members(self, value: Any) -> tuple[Any, Items | None]:
        """Return a JSON scalar or a marker, or else the members to copy."""
        for _ in range(_LAYERS):
            kind = type(value)
            if kind is str:
                return self._text(value), None
            if value is None or kind is bool or (kind is int and -_64 < value < _64):
                return value, None
            try:
                inner = self._look(value, kind)
            except Exception as error:  # a value of the user, stranger than all we know
                let_through(error)
                return unencodable(value, type_name(type(error))), None
            if type(inner) is Items:
                return None, inner
            if type(inner) in (Marker, int, float):
                if type(inner) is Marker and self._keeper is not None:
                    _note_media(self._keeper, value, inner)
                return inner, None
            value = inner  # an enum's value, the text of a path
        return unencodable(value, "depth"), None

    def _look(self, value: Any, kind: type) -> Any:
        encoder = EXACT.get(id(kind))
        if encoder is not None:
            return encoder(value)
        for base in mro(kind):
            encoder = BASES.get(id(base)) or self._kinds.get(id(base))
            if encoder is not None:
                return encoder(value)
            inner = declared_fields(value, base)
            if inner is not None:
                return inner
        return unencodable(value)

    def _text(self, value: str) -> str:
        length = len(value)
        most = self._characters
        if length > most:
            value = f"{value[:most]}{TRUNCATED_TEXT.format(length)}"
        self._characters -= min(length, most)
        return plain_text(value)

    def _key(self, key: Any, copied: dict[str, Any]) -> str:
        """Return the name of a member; one that is not text is named by its encoding."""
        if type(key) is str:
            name = plain_text(key)
        else:
            walk = _Walk(Limits(8, 64, 4096, self._limits.seconds))
            encoded = walk.copy(key)
            self._nodes -= 64 - walk._nodes
            name = encoded if type(encoded) is str else dumps(encoded)
        self._characters -= len(name)
        if name not in copied:
            return name
        before = self._names.get((id(copied), name), 0)
        self._names[id(copied), name] = before + 1
        # The number keeps names short where a thousand keys look the same.
        return self._key(f"{name}'" if before == 0 else f"{name}'{before + 1}", copied)


_LAYERS = 8


def _note_media(keeper: MediaKeeper, value: Any, marker: Marker) -> None:
    """Add type and hash to the marker of bytes that are media."""
    if marker.get(MARK_UNENCODABLE) != "binary":
        return
    with memoryview(value) as view:
        media = keeper.binary(view.cast("B")) if view.c_contiguous else None
    if media is not None:
        marker[MARK_MEDIA], marker[MARK_SHA256] = media.media_type, media.digest


def _end_early(copied: Any, limit: str, length: int) -> None:
    if type(copied) is list:
        copied.append({MARK_TRUNCATED: limit, MARK_LENGTH: length})
    else:
        copied[MARK_TRUNCATED] = limit
        copied[MARK_LENGTH] = length
