"""The short way to the journal and the store, for spans of our own kind that nobody else touches.

The SDK's way builds a read-only copy of each span, looks for secrets in it and encodes all of it,
at its start and at its end. Most of our spans hold nothing but what was masked at capture, in a
pipeline that is alone behind its provider: their parts are encoded once, as they become known, and
written to the journal and the store. Everything else takes the SDK's way; the documents are equal.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from agentool_otel.content.masking.credentials import mask_name
from agentool_otel.otlp.span_parts import Events, JsonParts, Parts
from agentool_otel.tracing.export.sinks import DirectStore
from agentool_otel.tracing.spans.own_span import OwnSpan

if TYPE_CHECKING:
    from agentool_otel.tracing.export.disk.journal import Journal
    from agentool_otel.tracing.export.masking.spans import Masking
    from agentool_otel.tracing.export.pipeline import Pipeline

__all__ = ["DirectWriter"]

_CACHED = 1000
"""Tracers whose encodings are kept."""


class _Encodings(NamedTuple):
    """The encodings of the spans of one tracer."""

    notes: JsonParts
    """Of the journal."""
    records: Parts
    """Of the store."""


class DirectWriter:
    """Writes the spans of one configuration. A span that ends under another one takes the SDK's
    way: its own writer is no longer the one in the settings then.

    Args:
        pipeline: the pipeline, with no other stage than `masking`.
        journal: its journal.
        store: its store.
        masking: what masks the spans on the SDK's way.
    """

    def __init__(self, pipeline: Pipeline, journal: Journal, store: DirectStore, masking: Masking):
        self._pipeline = pipeline
        self._alone = (pipeline,)
        self._journal = journal
        self._store = store
        self._masking = masking
        self._encodings: dict[type[OwnSpan], _Encodings | None] = {}
        """By the class of a tracer's spans; None where resource or scope must not leave as it
        is."""
        self._names: set[str] = set()
        """Names of spans that may leave as they are."""

    def accepts(self, span: OwnSpan) -> bool:
        """Return whether a span that begins goes the short way. If so, the pipeline knows it."""
        pipeline = self._pipeline
        alone = getattr(span._span_processor, "_span_processors", None) == self._alone
        if not alone or pipeline.store is not self._store:
            return False
        kind = type(span)
        encodings = self._encodings[kind] if kind in self._encodings else self._prepare(span)
        name = span._name
        if encodings is None or not (name in self._names or self._is_clean(name)):
            return False
        if pipeline.at_first is not None:
            pipeline.begin()
        pipeline.undescribed[span._context.span_id] = span
        return True

    def _is_clean(self, name: str) -> bool:
        """Return whether the name of a span may leave as it is."""
        if mask_name(name) != name:
            return False
        if len(self._names) >= _CACHED:
            self._names.clear()
        self._names.add(name)
        return True

    def _prepare(self, span: OwnSpan) -> _Encodings | None:
        if len(self._encodings) >= _CACHED:
            self._encodings.clear()
        resource, scope = span._resource, span._instrumentation_scope
        clean = self._masking.shared
        encodings = None
        if clean(resource) is resource and clean(scope) is scope:
            notes = JsonParts(resource, scope)
            parts = self._store.parts
            encodings = _Encodings(notes, notes if parts is JsonParts else parts(resource, scope))
        self._encodings[type(span)] = encodings
        return encodings

    def started(self, span: OwnSpan, pairs: bytes = b"") -> None:
        """Note a span in the journal, with the attributes that it has.

        Args:
            span: the span.
            pairs: those of its attributes that it does not share, as pairs of OTLP/JSON, if the
                caller has them.
        """
        pipeline = self._pipeline
        try:
            notes = self._encodings[type(span)].notes  # type: ignore[union-attr] # accepted
            span.agentool_written = len(span.agentool_held)
            span.agentool_beginning = beginning = notes.beginning(span)
            span.agentool_first = first = notes.attributes(
                span.agentool_shared, {} if pairs else _own(span), pairs
            )
            span_id = span._context[1]
            pipeline.undescribed.pop(span_id, None)
            self._masking.passed += 1
            self._journal.note(span, span_id, notes.started(beginning, first))
        except Exception as error:  # the call that is traced here must not feel it
            pipeline.log_internal_error(error)

    def ended(
        self, span: OwnSpan, fresh: dict[str, Any] | None, events: Events, pairs: bytes = b""
    ) -> bool:
        """Write a span that has ended; False if it has to take the SDK's way.

        Args:
            span: the span.
            fresh: the attributes that it has got since `started`; None if it was never noted, or
                if others have changed since.
            events: all of its events.
            pairs: `fresh` as pairs of OTLP/JSON, if the caller has them.
        """
        pipeline, journal = self._pipeline, self._journal
        name = span._name
        renamed = name is not span.agentool_first_name
        alone = getattr(span._span_processor, "_span_processors", None) == self._alone
        if not alone or pipeline.store is not self._store:
            return False
        if renamed and not (isinstance(name, str) and self._is_clean(name)):
            return False
        try:
            notes, records = self._encodings[type(span)]  # type: ignore[misc] # accepted
            beginning, first = span.agentool_beginning, span.agentool_first
            if records is not notes or renamed or not beginning:
                beginning = records.beginning(span)
            if fresh is None or first is None:
                first, fresh, pairs = records.attributes((), span.agentool_held), {}, b""
            elif records is not notes:
                first, fresh = records.attributes(span.agentool_shared, _own(span)), {}
            end_ns = span._end_time or 0
            document = records.ended(beginning, first, fresh, events, end_ns, pairs)
        except Exception as error:  # nothing of it is written yet
            pipeline.log_internal_error(error)
            return False
        span_id = span._context[1]
        try:
            if journal.belongs_to_parent(span_id):
                return True
            if pipeline.undescribed:
                pipeline.undescribed.pop(span_id, None)
            self._masking.passed += 1
            pipeline.put(self._store, journal, document, end_ns, span_id)
            if journal.dropped_spans:
                pipeline.close_dropped(self._store, journal)
        except Exception as error:  # the call that is traced here must not feel it
            pipeline.log_internal_error(error)
        return True


def _own(span: OwnSpan) -> dict[str, Any]:
    """Return the attributes of a span that it does not share with others."""
    held, shared = span.agentool_held, span.agentool_shared
    if not shared:
        return held
    return dict(islice(held.items(), sum(map(len, shared)), None))
