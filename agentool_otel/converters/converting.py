"""Conversion between formats: the installed ones, recognition of a document, and losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol, cast

from agentool_otel.converters.kit.objects import value_at
from agentool_otel.errors import ConfigurationError, DecodeError
from agentool_otel.ground.json_codec import Json
from agentool_otel.ground.json_difference import Difference, differences
from agentool_otel.ground.plugins import plugins
from agentool_otel.model.documents import Document

__all__ = [
    "Conversion",
    "Converter",
    "convert",
    "converter_for",
    "converter_named",
    "converters",
    "from_agentool",
    "recognising",
    "to_agentool",
]

_GROUP = "agentool_otel.converters"


class Converter(Protocol):
    """One format. A converter is pure and writes back everything it reads: `write(read(x))` is
    `normal(x)`, unknown members included.
    """

    name: str
    lossless: bool
    """Whether the format can represent everything in the spec's documents, so that
    `read(write(documents)) == documents`.
    """

    def recognises(self, value: Json) -> bool:
        """Return whether a JSON value can only be meant as a document of this format."""
        ...

    def normal(self, value: Json) -> Json:
        """Return a document in the one shape that `write` gives, of several that `read` takes."""
        ...

    def read(self, value: Json) -> list[Document]:
        """Return the content of a document as documents of the spec.

        Raises:
            DecodeError: naming the path, what was expected there and what was found.
        """
        ...

    def write(self, documents: Sequence[Document]) -> Json:
        """Return a document with the content of documents of the spec.

        Raises:
            DecodeError: if the format cannot express one of them at all.
        """
        ...


class Conversion(NamedTuple):
    """A document in another format."""

    value: Json
    source: str
    """The format it was in."""
    losses: list[Difference]
    """Differences between the original and `value` converted back. `after` is the new value,
    `UNSET` where it is gone.
    """
    alike: list[str]
    """Other formats that know every member of the document, where nobody has named its format."""


def converters() -> list[str]:
    """Return the names of the installed formats, ours and third parties'."""
    return sorted(plugins(_GROUP))


def converter_named(name: str) -> Converter:
    """Return an installed converter.

    Raises:
        ConfigurationError: if there is none of that name.
    """
    points = plugins(_GROUP)
    if name not in points:
        raise ConfigurationError(f"no format {name!r}; there are {', '.join(sorted(points))}")
    return cast("type[Converter]", points[name].load())()


def recognising(value: Json) -> list[Converter]:
    """Return the converters that recognise a document, by name."""
    points = plugins(_GROUP)
    installed = [cast("type[Converter]", points[name].load())() for name in sorted(points)]
    return [item for item in installed if item.recognises(value)]


def converter_for(value: Json) -> Converter:
    """Return the converter for a document, by its content.

    Raises:
        DecodeError: if no format recognises it, or several do.
    """
    candidates = recognising(value)
    if len(candidates) == 1:
        return candidates[0]
    names = ", ".join(converter.name for converter in candidates) or ", ".join(converters())
    which = f"a document that one of these recognises alone, or the name of its format: {names}"
    raise DecodeError(which, _outline(value))


def to_agentool(value: Json, source: str | None = None) -> list[Document]:
    """Return the content of a document as documents of the spec.

    Args:
        value: the document, as a JSON value.
        source: the name of its format; by default the one that recognises it.

    Raises:
        ConfigurationError: if no format has that name.
        DecodeError: if the document is not valid in its format.
    """
    return (converter_named(source) if source else converter_for(value)).read(value)


def from_agentool(documents: Sequence[Document], to: str) -> Json:
    """Return a document of a format with the content of documents of the spec.

    Raises:
        ConfigurationError: if no format has that name.
        DecodeError: if the format cannot express one of them at all.
    """
    return converter_named(to).write(documents)


def convert(value: Json, to: str, source: str | None = None) -> Conversion:
    """Convert a document from one format to another.

    Args:
        value: the document, as a JSON value.
        to: the name of the format it shall have.
        source: the name of the format it has; by default the one that recognises it.

    Raises:
        ConfigurationError: if no format has one of the names.
        DecodeError: if the document is not valid, or cannot be expressed in the other format.
    """
    writing = converter_named(to)
    reading = converter_named(source) if source else converter_for(value)
    try:
        written = writing.write(reading.read(value))
        back = reading.write(writing.read(written))
        losses = list(differences(reading.normal(value), back))
        alike = [] if source else [*_alike(value, reading.name)]
    except RecursionError:
        raise DecodeError("a document", "one that is nested too deeply") from None
    return Conversion(written, reading.name, losses, alike)


def _alike(value: Json, source: str) -> Iterator[str]:
    """Yield the other formats that can read a document and know every member of it."""
    for name in converters():
        documents: list[Document] = []
        with suppress(DecodeError):
            documents = [] if name == source else converter_named(name).read(value)
        if documents and all(
            value_at(document.to_dict(), ("metadata", name)) is None for document in documents
        ):
            yield name


def _outline(value: Json) -> str:
    if isinstance(value, dict):
        names = ", ".join([*map(str, value)][:8])
        return f"an object with members {names or '(none)'}"
    if isinstance(value, list):
        return f"a list of {_outline(value[0])}" if value else "an empty list"
    return type(value).__name__
