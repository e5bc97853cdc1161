"""Documents of the agentool spec themselves: ToolSpecs, a ToolRegistry, cases, results, traces.

Spec: agentool interoperability spec v0.1. One document, or a list of documents.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentool_otel.converters.kit.fields import Object, describe, each
from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import Document, ToolSpec
from agentool_otel.model.validation import identify

__all__ = ["Agentool"]


class Agentool:
    """The documents as they are."""

    name = "agentool"
    lossless = True

    def recognises(self, value: Json) -> bool:
        values = value if isinstance(value, list) else [value]
        return bool(values) and all(
            isinstance(value, dict) and _is_document(value) for value in values
        )

    def normal(self, value: Json) -> Json:
        return value[0] if isinstance(value, list) and len(value) == 1 else value

    def read(self, value: Json) -> list[Document]:
        if isinstance(value, list):
            return each(value, "$", _document)
        if not isinstance(value, dict):
            raise DecodeError("a document or a list of documents", describe(value))
        return [_document(value)]

    def write(self, documents: Sequence[Document]) -> Json:
        return self.normal([document.to_dict() for document in documents])


def _document(value: Object) -> Document:
    kind = identify(value)
    if kind is None:
        raise DecodeError("a document of the agentool spec", describe(value))
    return decode(kind, value)


def _is_document(value: Object) -> bool:
    kind = identify(value)
    if kind is None or (kind is ToolSpec and value.get("type") == "function"):
        return False  # OpenAI's tools have the members of a ToolSpec, too
    try:
        decode(kind, value)
    except DecodeError:
        return False
    return True
