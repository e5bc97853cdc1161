"""Reading attributes leniently: what stores do to types is undone here, once for all dialects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from agentool_otel._json import loads
from agentool_otel.model.spans import Attributes, SpanRecord

__all__ = ["PLACEHOLDERS", "Deferred", "Reader"]

_check = msgspec.json.Decoder(msgspec.Raw).decode

PLACEHOLDERS = frozenset({"<not specified>", "<not serializable>", "<REDACTED>", "N/A"})
"""Texts by which SDKs say that a value was not captured; they are not values."""


class Deferred(Sequence[Any]):
    """A JSON array that is parsed when somebody looks into it.

    A model call's history is most of its span and seldom needed: what is in it has been said by
    earlier spans.
    """

    __slots__ = ("_items", "text")

    def __init__(self, text: str):
        self.text = text
        self._items: list[Any] | None = None

    @property
    def items(self) -> list[Any]:
        if self._items is None:
            self._items = list(loads(self.text))
        return self._items

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __eq__(self, other: object) -> bool:
        return self.items == (other.items if isinstance(other, Deferred) else other)

    __hash__ = None  # type: ignore[assignment]  # as a list

    def __repr__(self) -> str:
        return repr(self.items)


class Reader:
    """The attributes of one span, taken one by one; what is left at the end was not understood.

    Every method removes the attribute it could read. A value of the wrong shape (cut JSON, a text
    where a number belongs) is left in place, so that it ends up in `rest` rather than nowhere.
    """

    __slots__ = ("_placeholders", "rest", "span")

    def __init__(self, span: SpanRecord, attributes: Attributes | None = None):
        self.span = span
        self.rest: Attributes = dict(span.attributes if attributes is None else attributes)
        ours = span.scope.startswith("agentool_otel")
        self._placeholders: frozenset[str] = frozenset() if ours else PLACEHOLDERS

    def text(self, key: str) -> str | None:
        value = self.rest.get(key)
        if type(value) is str:
            del self.rest[key]
            return None if value in self._placeholders else value
        if value is not None and not isinstance(value, (list, dict, bytes)):
            del self.rest[key]
            return str(value)
        return None

    def integer(self, key: str) -> int | None:
        value = self.rest.get(key)
        if type(value) is int:
            del self.rest[key]
            return value
        if isinstance(value, float) and value.is_integer():
            del self.rest[key]
            return int(value)
        if isinstance(value, str):  # column stores keep every value as text
            try:
                number = int(value)
            except ValueError:
                return None
            del self.rest[key]
            return number
        return None

    def number(self, key: str) -> float | None:
        value = self.rest.get(key)
        if isinstance(value, bool):
            return None
        if isinstance(value, (int, float)):
            del self.rest[key]
            return value
        if isinstance(value, str):
            try:
                number = float(value)
            except ValueError:
                return None
            del self.rest[key]
            return number
        return None

    def boolean(self, key: str) -> bool | None:
        value = self.rest.get(key)
        if isinstance(value, bool):
            del self.rest[key]
            return value
        if value in ("true", "True", "false", "False"):
            del self.rest[key]
            return value in ("true", "True")
        return None

    def texts(self, key: str) -> list[str] | None:
        value = self.rest.get(key)
        if isinstance(value, str):
            value = _json_or(value, [value])
            value = value if isinstance(value, list) else [str(value)]
        if isinstance(value, list):
            del self.rest[key]
            return [str(item) for item in value]
        return None

    def array(self, key: str) -> list[Any] | None:
        """A JSON array, structured or as text, or a single object where an array belongs."""
        value = self.json(key, keep_text=False)
        if isinstance(value, dict):
            return [value]
        return value if isinstance(value, list) else None

    def deferred(self, key: str) -> Sequence[Any] | None:
        """The same, parsed only when looked into; its syntax is checked now."""
        text = self.rest.get(key)
        if isinstance(text, str) and text[:1] == "[" and text[-1:] == "]":
            try:
                _check(text)
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                return self.array(key)
            del self.rest[key]
            return Deferred(text)
        return self.array(key)

    def json(self, key: str, *, keep_text: bool = True) -> Any | UnsetType:
        """A JSON value, structured, as text, or as text of text; UNSET if absent.

        With `keep_text`, a text that is not JSON is the value itself.
        """
        value = self.rest.get(key)
        if value is None:
            return UNSET
        if isinstance(value, str):
            parsed = _json_or(value, UNSET)
            if parsed is UNSET:
                if not keep_text or _looks_cut(value):
                    return UNSET
                del self.rest[key]
                return UNSET if value in self._placeholders else value
            if not keep_text and isinstance(parsed, str):
                parsed = _json_or(parsed, UNSET)
            if not keep_text and not isinstance(parsed, (list, dict)):
                return UNSET
            del self.rest[key]
            return parsed
        if not keep_text and not isinstance(value, (list, dict)):
            return UNSET
        del self.rest[key]
        return value

    def one_of(self, read: Callable[[str], Any], *keys: str) -> Any:
        """Return the first of several attributes that can be read."""
        for key in keys:
            if key in self.rest and (value := read(key)) is not None:
                return value
        return None


def _json_or(text: str, default: Any) -> Any:
    try:
        return loads(text)
    except ValueError:
        return default


def _looks_cut(text: str) -> bool:
    """Tell JSON that a store cut in the middle from ordinary text."""
    return text[:2] in ('{"', '[{', '["') or text[:1] in ("{", "[") and text[-1:] not in ("}", "]")
