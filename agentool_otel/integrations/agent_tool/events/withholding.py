"""Withhold redacted payloads and the values of sensitive fields.

A field that a tool declares sensitive is replaced wherever a payload has a member of its name. Its
value is replaced wherever else it is repeated: in results, messages, paths, even in references.
Names and words of the specification itself are neither: a sensitive field `status` is not the
status of the invocation, and a value `failed` is no secret where it is a state.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.integrations.agent_tool.documents import vocabulary as words
from agentool_otel.integrations.agent_tool.documents.objects import OBJECTS, Event
from agentool_otel.integrations.agent_tool.events.event_objects import HELD, held_type
from agentool_otel.model.codec import fields_of
from agentool_otel.model.documents import Document

__all__ = ["REDACTED", "Withheld", "field_names", "withheld_by"]

REDACTED = "[redacted]"
"""Replacement for a withheld value."""

_OPEN = frozenset({"", "none", "not_redacted", "unredacted", "not_required", "clean"})
"""Redaction states in which nothing was taken out."""
_STRATEGIES = frozenset({"ref_only", "redact", "drop_with_reason", "never_persist"})
"""Persistence strategies by which no copy of a payload is to be kept."""
_SHORTEST = 4
"""Shorter values are too common to be looked for in other texts."""
_MOST = 1_000
"""More texts than these would take longer to look for than a call may be held up."""
_WORK = 100_000_000
"""And so would fewer in much: texts times characters, half a second."""
_WORDS = frozenset(
    word for name in words.__all__ if name != "VERSION" for word in getattr(words, name)
) | {words.VERSION}
"""Words that everybody knows, so that they repeat nothing."""
_QUOTED: tuple[Callable[[str], str], ...] = (
    repr,
    json.dumps,
    partial(json.dumps, ensure_ascii=False),
)
"""Forms in which texts are quoted within others, such as error messages."""
_TYPES: Mapping[str, type[Document]] = {cls.__name__: cls for cls in OBJECTS}


def withheld_by(members: Mapping[str, Any]) -> str | None:
    """Return the word by which a Result or a ResultPersistence has its payload withheld."""
    strategy, state = members.get("strategy"), members.get("redaction_state")
    if isinstance(strategy, str) and strategy.lower() in _STRATEGIES:
        return strategy
    if isinstance(state, str) and state.lower() not in _OPEN:
        return state
    return "redacted" if members.get("status") == "redacted" else None


def field_names(fields: object) -> Iterator[str]:
    """Yield the names of sensitive fields.

    Args:
        fields: names or paths, in any notation: of `user.pin`, `$['user'].pin`, `/user/pin/0` and
            `user.pin[*]` the name is `pin`. What is meant to say more, as an object does, gives
            more names than it has to.
    """
    if isinstance(fields, str):
        yield fields
        yield from [match for match in _PART.findall(fields) if not match.isdecimal()][-1:]
    elif isinstance(fields, Mapping):
        yield from field_names([*fields, *fields.values()])
    elif isinstance(fields, (list, tuple)):
        for field in fields:
            yield from field_names(field)


_PART = re.compile(r"[^][.$/*'\"]+")
"""Of a path: what lies between the dots, the slashes, or the brackets."""


class Withheld:
    """Withheld data of one invocation."""

    def __init__(self, names: Iterable[str]):
        """
        Args:
            names: of sensitive fields.
        """
        self._names = frozenset(names)
        self._texts: set[str] = set()
        self._longest_first: list[str] = []
        self.overfull = False
        """Whether there is more data than can be searched for, so that all content is withheld."""

    @property
    def size(self) -> int:
        """Characters of the texts that must not leave."""
        return sum(map(len, self._texts))

    def learn(self, value: Any, kind: str | None = None) -> None:
        """Note the values of sensitive fields, wherever they are.

        Args:
            value: a JSON value.
            kind: the object of Agent Tool that it is, if it is one.
        """
        if not self._names:
            return
        for member, inner in _fields(value, kind):
            if member in self._names:
                self.forbid(inner)

    def forbid(self, value: Any, shortest: int = _SHORTEST) -> None:
        """Note a value, with all that is in it, as one that must not leave.

        Args:
            value: any JSON value.
            shortest: what is shorter may be repeated: words that everybody uses.
        """
        for leaf in _leaves(value):
            text = leaf if isinstance(leaf, str) else _number_text(leaf)
            if len(text) < shortest:
                continue
            if len(self._texts) >= _MOST:
                self.overfull = True
                return
            self._texts |= {text, *(quoted(text)[1:-1] for quoted in _QUOTED)}
            self._longest_first = []

    def limit(self, characters: int) -> None:
        """Let no content out if there are so many characters to look through that it takes too
        long."""
        if len(self._texts) * characters > _WORK:
            self.overfull = True

    def remove_from(self, value: Any, kind: str | None = None) -> Any:
        """Return a JSON value without withheld data; the same object if it has none.

        Args:
            value: a JSON value.
            kind: the object of Agent Tool that it is, if it is one.
        """
        if not self._names and not self._texts:
            return value
        cls = _TYPES.get(kind or "")
        return self._payload(value) if cls is None else self._object(value, cls)

    def _object(self, value: Any, cls: type[Document]) -> Any:
        """Clean an object, whose own members are no fields of a payload."""
        if isinstance(value, (list, tuple)):
            return [self._object(inner, cls) for inner in value]
        if not isinstance(value, Mapping):
            return self._payload(value)
        members = _members_of(cls)
        cleaned: dict[str, Any] = {}
        for name, inner in value.items():
            if name not in members:
                cleaned[self._text(name)] = self._field(name, inner)
            elif cls is Event and name == "data":
                cleaned[name] = self._data(inner)
            else:
                document = members[name]
                cleaned[name] = (
                    self._payload(inner) if document is None else self._object(inner, document)
                )
        return cleaned

    def _data(self, data: Any) -> Any:
        """Clean the `data` of an event, which may hold objects."""
        if not isinstance(data, Mapping):
            return self._payload(data)
        if (cls := held_type(data)) is not None:
            return self._object(data, cls)
        cleaned: dict[str, Any] = {}
        for name, inner in data.items():
            cls = held_type(inner) if name in HELD else None
            if cls is None:
                cleaned[self._text(name)] = self._field(name, inner)
            else:
                cleaned[name] = self._object(inner, cls)
        return cleaned

    def _field(self, name: str, value: Any, of_schema: bool = False) -> Any:
        """Return the visible rest of a payload's field.

        Args:
            name: its name.
            value: its value.
            of_schema: whether it is one of the `properties` of what may be a schema.
        """
        if name in self._names and not (of_schema and _is_schema(value)):
            return REDACTED
        return self._payload(value, name == "properties")

    def _payload(self, value: Any, of_schema: bool = False) -> Any:
        if isinstance(value, Mapping):
            return {
                self._text(name): self._field(name, inner, of_schema)
                for name, inner in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self._payload(inner) for inner in value]
        if isinstance(value, str):
            return self._json_text(value)
        return REDACTED if _number_text(value) in self._texts else value

    def _json_text(self, text: str) -> str:
        """Return a text, which may be JSON itself, as arguments often are."""
        inner = _json_in(text)
        if inner is not None and (clean := self._payload(inner)) != inner:
            text = dumps(clean)
        return self._text(text)

    def _text(self, text: str) -> str:
        if text in _WORDS:
            return text
        if not self._longest_first:
            self._longest_first = sorted(self._texts, key=len, reverse=True)
        for forbidden in self._longest_first:
            if forbidden in text:
                text = text.replace(forbidden, REDACTED)
        return text


@cache
def _members_of(cls: type[Document]) -> Mapping[str, type[Document] | None]:
    """Return the members that the specification gives an object, with the types of those that are
    objects themselves.
    """
    return {field.name: field.document for field in fields_of(cls)}


def _fields(value: Any, kind: str | None) -> Iterator[tuple[str, Any]]:
    """Yield all fields of all payloads in a JSON value, which may be an object of Agent Tool."""
    todo: list[tuple[Any, type[Document] | None]] = [(value, _TYPES.get(kind or ""))]
    while todo:
        item, cls = todo.pop()
        if isinstance(item, (list, tuple)):
            todo.extend((inner, cls) for inner in item)
        elif cls is None or not isinstance(item, Mapping):
            yield from _payload_fields(item)
        else:
            members = _members_of(cls)
            unknown = {name: inner for name, inner in item.items() if name not in members}
            yield from _payload_fields(unknown)
            todo += [
                (item[name], members[name]) for name in members if name in item and name != "data"
            ]
            if cls is Event:
                todo += _in_data(item.get("data"))


def _in_data(data: Any) -> Iterator[tuple[Any, type[Document] | None]]:
    """Yield the objects in the `data` of an event, each with its type."""
    whole_type = held_type(data)
    if not isinstance(data, Mapping) or whole_type is not None:
        yield data, whole_type
        return
    for name, inner in data.items():
        cls = held_type(inner) if name in HELD else None
        yield ({name: inner}, None) if cls is None else (inner, cls)


def _payload_fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield all fields of a payload, but for those of schemas."""
    todo = [(value, False)]
    while todo:
        item, of_schema = todo.pop()
        if isinstance(item, str):
            todo.append((_json_in(item), False))
        elif isinstance(item, Mapping):
            for name, inner in item.items():
                if not (of_schema and _is_schema(inner)):
                    yield name, inner
                todo.append((inner, name == "properties"))
        elif isinstance(item, (list, tuple)):
            todo.extend((inner, False) for inner in item)


def _number_text(value: Any) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number else ""


_JSON_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


def _is_schema(value: Any) -> bool:
    """Return whether a member of `properties` is the schema of a field, and not its value."""
    if not isinstance(value, Mapping):
        return False
    kind = value.get("type")
    kinds = kind if isinstance(kind, (list, tuple)) else [kind]
    return bool(kinds) and all(isinstance(kind, str) and kind in _JSON_TYPES for kind in kinds)


def _json_in(text: str) -> Any:
    """Return the object, the array or the text that a text is as JSON; None for any other text."""
    if not text.lstrip().startswith(("{", "[", '"')):
        return None
    try:
        return loads(text)
    except ValueError:
        return None


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the texts and the numbers in a JSON value, and those in texts that are JSON."""
    todo = [value]
    while todo:
        entry = todo.pop()
        if isinstance(entry, Mapping):
            todo.extend(entry.values())
        elif isinstance(entry, (list, tuple)):
            todo.extend(entry)
        else:
            yield entry
            if isinstance(entry, str) and (inner := _json_in(entry)) is not None:
                todo.append(inner)
