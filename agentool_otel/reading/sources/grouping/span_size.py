"""Estimate the memory that spans need."""

from __future__ import annotations

from sys import getsizeof
from typing import Any

from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.reading.sources.files.undecoded import UndecodedSpan

__all__ = ["SpanSizes", "span_size"]


class SpanSizes:
    """Sizes of spans in a row. A resource counts once for the spans in a row that share it."""

    def __init__(self) -> None:
        self._resource: Attributes | None = None

    def of(self, span: SpanRecord | UndecodedSpan) -> int:
        """Estimate the memory that a span takes besides the spans before it."""
        size = span_size(span)
        if span.resource is not self._resource:
            self._resource = span.resource
            size += _nested_size(span.resource)
        return size


def span_size(span: SpanRecord | UndecodedSpan) -> int:
    """Estimate the memory that a span takes without its resource, in a tenth of the time that
    reading it took."""
    if isinstance(span, UndecodedSpan):
        return 350 + len(span.data)  # which may lie in their file only
    size = 1000 + 100 * len(span.attributes) + _text_size(span.name) + _text_size(span.scope)
    if span.status_message is not None:
        size += _text_size(span.status_message)
    for value in span.attributes.values():
        kind = value.__class__
        if kind is str:
            size += _text_size(value)
        elif kind is list or kind is dict:
            size += _nested_size(value)
    for event in span.events:
        size += 300 + _text_size(event.name) + _nested_size(event.attributes)
    for link in span.links:
        size += 500 + _nested_size(link.attributes)
    return size


def _text_size(text: str) -> int:
    length = len(text)
    return length if length < 256 or text.isascii() else getsizeof(text)


def _nested_size(value: Any) -> int:
    size = 0
    for item in value.values() if value.__class__ is dict else value:
        size += 100 + getsizeof(item)
        if item.__class__ is list or item.__class__ is dict:
            size += _nested_size(item)
    return size
