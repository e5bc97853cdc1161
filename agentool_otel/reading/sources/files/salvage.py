"""The whole spans of JSON that is cut short or damaged."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import suppress
from json import JSONDecodeError
from typing import TYPE_CHECKING

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.reading.sources.files.find_spans import Foreign, scope_name
from agentool_otel.reading.sources.files.otlp_names import normal

if TYPE_CHECKING:
    from agentool_otel.reading.sources.files.any_json import AnyJson

__all__ = ["Salvage", "is_cut"]

_IDS = r'"(?:traceId|spanId|trace_id|span_id|traceID|spanID)"'
_LANDMARK = re.compile(
    r'"(?P<around>resource|scope)"\s*:\s*(?={)'
    r'|"(?:spans|observations|data|batches|events)"\s*:\s*\['
    rf"|(?P<span>\{{\s*{_IDS}\s*:)"
)
"""Keys, not text: inside a JSON string the quotes would be escaped."""
_BETWEEN = re.compile(r"[\s,]*")
_OF_SPANS = ("name", "operationName", "start", "timestamp")
"""Of these members a span has one; a link in it, which also has ids, has none."""
_NEAR = 16
"""Characters before the end within which an error may be that the text ends; none of the words of
JSON is longer."""
_PATIENCE = 2000
"""Failed attempts to read a value after which a part is given up. An error takes as long as
counting the lines before it, and nested values fail within each other.
"""
_raw_decode = json.JSONDecoder().raw_decode


def is_cut(error: ValueError, text: str) -> bool:
    """Return whether JSON is invalid because the text is truncated."""
    if not isinstance(error, JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or error.pos >= len(text) - _NEAR


class Salvage:
    """Finds spans in text, in several parts perhaps, under the last resource and scope before."""

    def __init__(self, values: AnyJson, where: str):
        self.count = 0
        """Number of spans read so far."""
        self.rest = ""
        """Text that ends in the middle of a value, to be put before the next part."""
        self._values = values
        self._where = where
        self._resource: Attributes = {}
        self._scope = ""
        self._in_list = False
        self._patience = 0

    def take_context(self, members: dict[str, Json]) -> None:
        """Take the resource and the scope from the parents of the next value."""
        for name, value in members.items():
            self._enter(name, value)

    def spans(self, text: str, *, more: bool = False) -> Iterator[SpanRecord]:
        """Yield the spans of a part; with `more`, another one follows, and `rest` is set."""
        self.rest, self._patience = "", _PATIENCE
        at = 0
        if self._in_list:
            at = yield from self._items(text, 0, more)
        while not self.rest and self._patience and (landmark := _LANDMARK.search(text, at)):
            at = landmark.end()
            name = landmark["around"]
            if name is None:
                start = landmark.start() if landmark["span"] else at
                at = yield from self._items(text, start, more)
                continue
            try:
                value, at = self._decode(text, at)
                self._enter(name, value)
            except _Damaged as damage:
                if more and damage.cut:
                    self.rest = text[landmark.start() :]
        if more and not self.rest:
            self.rest = text[max(at, len(text) - _NEAR) :]

    def _items(self, text: str, at: int, more: bool) -> Generator[SpanRecord, None, int]:
        """Yield the spans of a list from one of its items on, and return where reading goes on."""
        self._in_list = True
        while True:
            between = _BETWEEN.match(text, at)
            at = between.end() if between else at
            if text[at : at + 1] in ("]", "}"):
                self._in_list = False
                return at
            try:
                value, end = self._decode(text, at)
                spans = self._spans_of(value)
            except _Damaged as damage:
                if more and damage.cut:
                    self.rest = text[at:]
                else:
                    self._in_list = False
                return at + 1
            self.count += len(spans)
            yield from spans
            at = end

    def _decode(self, text: str, at: int) -> tuple[Json, int]:
        """Return the value at a place, and where it ends.

        Raises:
            _Damaged: there is none.
        """
        try:
            return _raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            self._patience = max(self._patience - 1, 0)
            raise _Damaged(isinstance(error, ValueError) and is_cut(error, text)) from error

    def _enter(self, name: str, value: Json) -> None:
        with suppress(RecursionError):
            if name == "resource":
                self._resource, self._scope = self._values.resource(normal(value), self._where), ""
            elif name == "scope":
                self._scope = scope_name(normal(value))

    def _spans_of(self, value: Json) -> list[SpanRecord]:
        with suppress(Foreign, RecursionError):
            if value.__class__ is not dict or "traceId" not in value or "resource" in value:
                spans = self._values.spans(value, self._where)
                return [span for span in spans if not span.made_ids]  # else it may be an event
            if any(key.startswith(_OF_SPANS) for key in value):
                items = [normal(value)]
                return [*self._values.otlp_spans(items, self._scope, self._resource, self._where)]
        return []


class _Damaged(Exception):
    """There is no value."""

    def __init__(self, cut: bool):
        super().__init__(cut)
        self.cut = cut
        """Whether there might be a value if the text went on."""
