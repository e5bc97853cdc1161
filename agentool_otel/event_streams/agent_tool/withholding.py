"""What must not leave: redacted payloads, and the values of sensitive fields.

A field that a tool declares sensitive is replaced wherever a payload has a member of its name. Its
value is replaced wherever else it is repeated: in results, messages, paths, even in references.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentool_otel.ground.json_codec import dumps, loads

__all__ = ["REDACTED", "Withheld", "field_names", "withheld_by"]

REDACTED = "[redacted]"
"""What stands for a value that must not leave."""

_OPEN = frozenset({"", "none", "not_redacted", "unredacted", "not_required", "clean"})
"""Redaction states in which nothing was taken out."""
_STRATEGIES = frozenset({"ref_only", "redact", "drop_with_reason", "never_persist"})
"""Persistence strategies by which no copy of a payload is to be kept."""
_SHORTEST = 4
"""Shorter values are too common to be looked for in other texts."""


def withheld_by(members: Mapping[str, Any]) -> str | None:
    """Return the word by which a Result or a ResultPersistence has its payload withheld."""
    strategy, state = members.get("strategy"), members.get("redaction_state")
    if isinstance(strategy, str) and strategy in _STRATEGIES:
        return strategy
    if isinstance(state, str) and state.lower() not in _OPEN:
        return state
    return "redacted" if members.get("status") == "redacted" else None


def field_names(fields: object) -> Iterator[str]:
    """Yield the names of sensitive fields: of `user.pin`, `$.user.pin`, `/user/pin` the last."""
    for field in fields if isinstance(fields, (list, tuple)) else ():
        if isinstance(field, str):
            name = field.replace("/", ".").replace("[*]", "").rstrip(".").rpartition(".")[2]
            if name:
                yield name


_MOST = 1_000
"""More texts than these would take longer to look for than a call may be held up."""


class Withheld:
    """What must not leave of one invocation."""

    def __init__(self, names: Iterable[str]):
        """
        Args:
            names: of sensitive fields.
        """
        self._names = frozenset(names)
        self._texts: set[str] = set()
        self.overfull = False
        """Whether there is more than can be looked for, so that no content can be let out."""

    def learn(self, value: Any) -> None:
        """Note the values of sensitive fields, wherever they are."""
        for member, inner in _members(value) if self._names else ():
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
            self._texts.add(text)

    def without(self, value: Any) -> Any:
        """Return a JSON value without what must not leave; the same one if nothing was in it."""
        if not self._names and not self._texts:
            return value
        return self._clean(value)

    def _clean(self, value: Any, fields: bool = False) -> Any:
        """
        Args:
            value: any JSON value.
            fields: whether it is the `properties` of what may be a schema.
        """
        if isinstance(value, Mapping):
            return {
                self._text(name): REDACTED
                if name in self._names and not (fields and _is_schema(inner))
                else self._clean(inner, name == "properties")
                for name, inner in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self._clean(inner) for inner in value]
        if isinstance(value, str):
            return self._json_text(value)
        return REDACTED if _number_text(value) in self._texts else value

    def _json_text(self, text: str) -> str:
        """Return a text, which may be JSON itself, as arguments often are."""
        inner = _json_in(text) if self._names else None
        if inner is not None and (clean := self._clean(inner)) != inner:
            text = dumps(clean)
        return self._text(text)

    def _text(self, text: str) -> str:
        for forbidden in sorted(self._texts, key=len, reverse=True):
            if forbidden in text:
                text = text.replace(forbidden, REDACTED)
        return text


def _number_text(value: Any) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number else ""


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield all members of all objects in a JSON value, but for the fields of schemas."""
    todo = [(value, False)]
    while todo:
        it, fields = todo.pop()
        if isinstance(it, str):
            it = _json_in(it)
        if isinstance(it, Mapping):
            for name, inner in it.items():
                if not (fields and _is_schema(inner)):
                    yield name, inner
                todo.append((inner, name == "properties"))
        elif isinstance(it, (list, tuple)):
            todo.extend((inner, False) for inner in it)


_JSON_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


def _is_schema(value: Any) -> bool:
    """Whether a member of `properties` is the schema of a field, and not its value."""
    if not isinstance(value, Mapping):
        return False
    kind = value.get("type")
    kinds = kind if isinstance(kind, (list, tuple)) else [kind]
    return all(isinstance(it, str) and it in _JSON_TYPES for it in kinds)


def _json_in(text: str) -> Any:
    """Return the object or the array that a text is as JSON; None for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return loads(text)
    except ValueError:
        return None


def _leaves(value: Any) -> Iterator[Any]:
    todo = [value]
    while todo:
        it = todo.pop()
        if isinstance(it, Mapping):
            todo.extend(it.values())
        elif isinstance(it, (list, tuple)):
            todo.extend(it)
        else:
            yield it
