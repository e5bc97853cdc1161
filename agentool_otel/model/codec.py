"""Documents from and to JSON, without loss.

`encode(decode(cls, value)) == value` for every valid document, unknown members, nulls and empty
values included. Only the typed structure is walked: a payload (arguments, output, metadata) passes
through untouched however deep it is, and is shared rather than copied.

Accepted besides JSON: our own documents, and live objects of the agentool reference package, which
is never imported (see `agentool_otel.model._reference`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from types import NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from agentool_otel.errors import DecodeError
from agentool_otel.ground import json_codec
from agentool_otel.model import _reference
from agentool_otel.model.documents import UNSET, Document, UnsetType

__all__ = ["Field", "decode", "describe", "dumps", "encode", "fields_of"]

D = TypeVar("D", bound=Document)
T = TypeVar("T")
_Json = Mapping[str, Any]
Kind = Literal[
    "any", "string", "number", "boolean", "object", "array of strings", "document", "documents"
]


def decode(cls: type[D], data: object, *, where: str | None = None) -> D:
    """Return `data` as a document of type `cls`.

    Args:
        cls: The document it must be.
        data: A JSON object, JSON text, a document, or an object of the reference package.
        where: The file or record it came from, for the error message.

    Raises:
        DecodeError: naming the JSON path, what was expected there and what was found.
    """
    if isinstance(data, (str, bytes, bytearray)):
        try:
            data = json_codec.loads(bytes(data) if isinstance(data, bytearray) else data)
        except ValueError as error:
            raise DecodeError("JSON", f"text that is not ({error})", where=where) from None
    try:
        return _read(cls, data)
    except _Mismatch as wrong:
        path = "$" + "".join(reversed(wrong.path))
        raise DecodeError(wrong.expected, wrong.actual, path, where=where) from None


def encode(document: Document) -> dict[str, Any]:
    """Return a document as a JSON object."""
    members: dict[str, Any] = {}
    for name, write in _layout(type(document)).writers:
        value = getattr(document, name)
        if value is not UNSET:
            members[name] = value if write is None else write(value)
    for name, value in document.extra.items():
        members.setdefault(name, value)
    return members


def dumps(document: Document) -> str:
    """Return a document as compact JSON text."""
    return json_codec.dumps(encode(document))


class Field(NamedTuple):
    """One member of a document, as its type annotation describes it."""

    name: str
    kind: Kind
    nullable: bool
    required: bool
    document: type[Document] | None
    """The document, or the document each element is, for those two kinds."""
    examples: list[str]
    """Known words, where the member is an open set of words."""


@cache
def fields_of(cls: type[Document]) -> tuple[Field, ...]:
    """Return the members of a document type, `extra` not among them, in the order of the class."""
    hints = get_type_hints(cls, include_extras=True)
    return tuple(
        _field(field.name, hints[field.name], required=field.required)
        for field in msgspec.structs.fields(cls)
        if field.name != "extra"
    )


def _field(name: str, hint: Any, *, required: bool) -> Field:
    union = hint is not Any and type(None) in get_args(hint)
    options = [o for o in get_args(hint) if o not in (NoneType, UnsetType)] if union else [hint]
    examples: list[str] = []
    if get_origin(options[0]) is Annotated:
        plain, meta = get_args(options[0])
        options, examples = [plain], list(meta.examples or [])
    kind, document = _kind(options)
    return Field(name, kind, union or kind == "any", required, document, examples)


def _kind(options: list[Any]) -> tuple[Kind, type[Document] | None]:
    hint = options[0]
    if set(options) == {int, float} or set(get_args(hint)) == {int, float}:
        return "number", None
    if get_origin(hint) is list:
        (element,) = get_args(hint)
        return ("array of strings", None) if element is str else ("documents", element)
    if isinstance(hint, type) and issubclass(hint, Document):
        return "document", hint
    simple: dict[Any, Kind] = {Any: "any", str: "string", bool: "boolean"}
    return simple.get(hint, "object"), None


# --- reading ------------------------------------------------------------------------------------


class _Mismatch(Exception):
    """A value of the wrong type; the path grows, innermost first, while the error travels up."""

    def __init__(self, expected: str, value: Any, actual: str | None = None):
        self.expected = expected
        self.actual = actual or describe(value)
        self.path: list[str] = []


class _Slot(NamedTuple):
    plain: frozenset[type]
    """Types whose values are taken as they are; everything else goes through `read`."""
    read: Callable[[Any], Any]


class _Layout(NamedTuple):
    slots: dict[str, _Slot]
    required: tuple[Field, ...]
    writers: tuple[tuple[str, Callable[[Any], Any] | None], ...]


@cache
def _layout(cls: type[Document]) -> _Layout:
    fields = fields_of(cls)
    return _Layout(
        {field.name: _slot(field) for field in fields},
        tuple(field for field in fields if field.required),
        tuple((field.name, _WRITERS.get(field.kind)) for field in fields),
    )


def _read(cls: type[D], value: Any) -> D:
    if isinstance(value, cls):
        return value
    members = cast("_Json", value) if type(value) is dict else _members(cls, value)
    layout = _layout(cls)
    slots = layout.slots
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    name = ""
    try:
        for name, item in members.items():
            slot = slots.get(name)
            if slot is None:
                extra[name] = item
            elif type(item) in slot.plain:
                values[name] = item
            else:
                values[name] = slot.read(item)
    except _Mismatch as wrong:
        wrong.path.append(f".{name}")
        raise
    for field in layout.required:
        if field.name not in values:
            raise _missing(layout.required, values, value)
    return cls(**values, extra=extra) if extra else cls(**values)


def _missing(required: tuple[Field, ...], values: _Json, value: object) -> _Mismatch:
    """Return the error that names all required members that are missing."""
    missing = [repr(field.name) for field in required if field.name not in values]
    plural = len(missing) > 1
    names = f"member{'s' if plural else ''} {' and '.join(missing)}"
    return _Mismatch(f"an object with {names}", value, f"one without {'them' if plural else 'it'}")


def _members(cls: type[Document], value: object) -> _Json:
    if isinstance(value, Mapping):
        return cast("_Json", value)
    required = {field.name for field in _layout(cls).required}
    members = None if isinstance(value, Document) else _reference.members(value, required)
    if members is None:
        raise _Mismatch(f"object ({cls.__name__})", value)
    return members


def _slot(field: Field) -> _Slot:
    null: frozenset[type] = frozenset({NoneType} if field.nullable else ())
    expected = f"{_EXPECTED.get(field.kind, field.kind)}{' or null' if field.nullable else ''}"
    types = _TYPES.get(field.kind, ())
    element = field.document
    read: Callable[[Any], Any]
    if field.kind == "any":
        read = _as_it_is
    elif element is None:
        read = partial(_simple, types, expected) if types else partial(_strings, expected)
    elif field.kind == "document":
        read = partial(_read, element)
    else:
        read = partial(_read_list, element, expected)
    return _Slot(null | set(types), read)


_EXPECTED = {"documents": "array of objects"}
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
}


def _as_it_is(value: Any) -> Any:
    return value


def _simple(types: tuple[type, ...], expected: str, value: Any) -> Any:
    """Take a subclass of the expected types (not a bool for a number), or raise."""
    if isinstance(value, types) and not isinstance(value, bool):
        return value
    raise _Mismatch(expected, value)


def _strings(expected: str, value: Any) -> list[str]:
    return _list(partial(_simple, (str,), "string"), expected, value)


def _read_list(cls: type[Document], expected: str, value: Any) -> list[Document]:
    return _list(partial(_read, cls), expected, value)


def _list(read: Callable[[Any], T], expected: str, value: Any) -> list[T]:
    if not isinstance(value, (list, tuple)):
        raise _Mismatch(expected, value)
    items: list[T] = []
    try:
        for item in cast("Sequence[Any]", value):
            items.append(read(item))
    except _Mismatch as wrong:
        wrong.path.append(f"[{len(items)}]")
        raise
    return items


def describe(value: Any) -> str:
    """Return a short description of a value, without walking into it."""
    if value is None:
        return "null"
    if isinstance(value, (dict, list, tuple)):
        items = cast("Sequence[Any]", value)
        return f"{type(items).__name__} of {len(items)}"
    if isinstance(value, str):
        return f"str {value[:40] + '…' if len(value) > 40 else value!r}"
    if isinstance(value, (bool, int, float)) and len(text := repr(value)) <= 40:
        return f"{type(value).__name__} {text}"
    return type(value).__name__


# --- writing ------------------------------------------------------------------------------------


def _write(value: Any) -> Any:
    return encode(value) if isinstance(value, Document) else value


def _write_list(value: Any) -> Any:
    return value if value is None else [_write(item) for item in value]


_WRITERS: dict[str, Callable[[Any], Any]] = {"document": _write, "documents": _write_list}
