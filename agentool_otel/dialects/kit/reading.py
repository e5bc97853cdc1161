"""Read attributes leniently: undo, for all dialects, the changes of stores to types."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isinf
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from agentool_otel.ground.json_codec import loads, without_lone_surrogates
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.semconv.redaction import WHOLE_MARKERS

__all__ = [
    "PLACEHOLDERS",
    "LazyJson",
    "LazyList",
    "LazyObject",
    "Reader",
    "array",
    "in_parts",
    "is_placeholder",
    "lazy_json",
    "lazy_messages",
    "lazy_objects",
    "messages",
    "texts",
]

_check = msgspec.json.Decoder(msgspec.Raw).decode

PLACEHOLDERS = frozenset({"<not specified>", "<not serializable>", "N/A"}) | WHOLE_MARKERS
"""Texts that SDKs write in place of a value that was not captured, or that is hidden."""


class LazyJson:
    """A JSON value kept as text and parsed on first use.

    Most of a span is its payload, and most of that passes unread from attribute to document.
    """

    __slots__ = ("_value", "text")

    def __init__(self, text: str):
        self.text = text
        self._value: Any = UNSET

    @property
    def value(self) -> Any:
        if self._value is UNSET:
            self._value = self._parsed()
        return self._value

    def _parsed(self) -> Any:
        try:
            return loads(self.text)
        except ValueError:  # well-formed, but a number fits no float: it stays text
            return json.loads(without_lone_surrogates(self.text), parse_float=_float_or_text)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == (other.value if isinstance(other, LazyJson) else other))

    __hash__ = None  # type: ignore[assignment]  # as the list or dict it stands for

    def __repr__(self) -> str:
        return self.text


class LazyList(LazyJson, Sequence[Any]):
    """A JSON array parsed on first use; empty if the text turns out not to be JSON."""

    __slots__ = ()

    def _parsed(self) -> Any:
        try:
            return super()._parsed()
        except (ValueError, RecursionError):
            return []

    def __getitem__(self, index: Any) -> Any:
        return self.value[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    def __len__(self) -> int:
        return len(self.value)


class LazyObject(LazyJson, Mapping[str, Any]):
    """A JSON object parsed on first use."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        return self.value[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def member(self, name: str) -> Any:
        """Return a member, unparsed if it is the only one; UNSET if there is none."""
        before = f'{{"{name}":'
        if self.text.startswith(before):
            inner = lazy_json(self.text[len(before) : -1])
            if inner is not UNSET:
                return inner
        return self.value.get(name, UNSET)


class Reader:
    """The attributes of one span, removed as they are read; the rest was not understood.

    Every method removes the attribute it could read. A value of the wrong shape (cut JSON, a text
    where a number belongs) is left in place, so that it ends up in `rest` rather than nowhere.
    """

    __slots__ = ("placeholders", "rest", "span")

    def __init__(self, span: SpanRecord, attributes: Attributes | None = None):
        self.span = span
        self.rest: Attributes = dict(span.attributes if attributes is None else attributes)
        ours = span.scope.startswith("agentool_otel")
        self.placeholders: frozenset[str] = frozenset() if ours else PLACEHOLDERS

    def text(self, key: str) -> str | None:
        value = self.rest.get(key)
        if type(value) is str:
            del self.rest[key]
            return None if value in self.placeholders else value
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

    def lazy_array(self, key: str) -> Sequence[Any] | None:
        """An array of objects, parsed only when looked into.

        Text that begins and ends like one is assumed to be one; if it is not, the list is empty.
        """
        text = self.rest.get(key)
        if type(text) is str:
            value = lazy_objects(text)
            if value is UNSET and isinstance(items := lazy_json(text), LazyList):
                value = items
            if value is not UNSET:
                del self.rest[key]
                return value
        return self.array(key)

    def messages(self, key: str) -> list[Any] | None:
        """Messages, which `gen_ai.older` has brought to the shape of the conventions."""
        return self.array(key)

    def lazy_messages(self, key: str) -> Sequence[Any] | None:
        """The same, parsed only when looked into."""
        return self.lazy_array(key)

    def lazy_json(self, key: str) -> Any | UnsetType:
        """Any JSON value; an object or an array is parsed only when needed."""
        text = self.rest.get(key)
        if type(text) is str and (value := lazy_json(text)) is not UNSET:
            del self.rest[key]
            return value
        return self.json(key)

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
                if not keep_text:
                    return UNSET
                del self.rest[key]
                return UNSET if value in self.placeholders else value
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


_LAZY: dict[str, type[LazyObject | LazyList]] = {"{": LazyObject, "[": LazyList}


def lazy_json(text: str) -> LazyObject | LazyList | UnsetType:
    """Return JSON text of an object or an array, unparsed; UNSET for any other text."""
    kind = _LAZY.get(text[:1])
    if kind is None:
        return UNSET
    try:
        _check(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return UNSET
    return kind(text)


def lazy_objects(text: str) -> LazyList | UnsetType:
    """Return text that begins and ends like an array of objects, unparsed; else UNSET."""
    return LazyList(text) if text[:2] == "[{" and text[-2:] == "}]" else UNSET


def is_placeholder(value: Any) -> bool:
    """Return whether a value is one of `PLACEHOLDERS`, which stand for no value."""
    return isinstance(value, str) and value in PLACEHOLDERS


def in_parts(text: str) -> bool:
    """Return whether JSON text looks like messages in the conventions' shape, not in a
    provider's.
    """
    return '"parts"' in text and '"type"' in text


def messages(text: str) -> list[Any] | UnsetType:
    """Return the messages in JSON text, UNSET if they have another shape."""
    return array(text) if in_parts(text) else UNSET


def lazy_messages(text: str) -> LazyList | UnsetType:
    """Return the messages in JSON text, unparsed; UNSET if they have another shape."""
    return lazy_objects(text) if in_parts(text) else UNSET


def array(text: str) -> list[Any] | UnsetType:
    """Return the array in JSON text, UNSET for any other text."""
    value = _json_or(text, UNSET)
    return value if isinstance(value, list) else UNSET


def texts(values: list[Any]) -> list[str]:
    return [str(value) for value in values]


def _float_or_text(text: str) -> float | str:
    return text if isinf(number := float(text)) else number


def _json_or(text: str, default: Any) -> Any:
    try:
        return loads(text)
    except ValueError:
        return default
