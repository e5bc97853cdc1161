"""The short way to the journal and the store, for spans of our own kind that nobody else touches.

The SDK's way builds a read-only copy of each span, looks for secrets in it and encodes all of it,
at its start and at its end. Most of our spans hold nothing but what was masked at capture, in a
pipeline that is alone behind its provider: their parts are encoded once, as they become known, and
written to the journal and the store. Everything else takes the SDK's way; the documents are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from agentool_otel.content.masking.credentials import mask_name
from agentool_otel.otlp.span_parts import Events, JsonParts, Parts
from agentool_otel.tracing.export.sinks import DirectStore
from agentool_otel.tracing.spans.direct_span import DirectSpan, direct_class
from agentool_otel.tracing.spans.own_span import OwnSpan, SpanForm

if TYPE_CHECKING:
    from opentelemetry.trace import SpanKind

    from agentool_otel.otlp.json_encoder import Line
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
        """The processors of a provider whose spans go nowhere else."""
        self.journal = journal
        self._store = store
        self.masking = masking
        self.log_internal_error = pipeline.log_internal_error
        self._encodings: dict[type[OwnSpan], _Encodings | None] = {}
        """By the class of a tracer's spans; None where resource or scope must not leave as it
        is."""
        self._names: set[str] = set()
        """Names of spans that may leave as they are."""

    def accepts(self, span: OwnSpan) -> bool:
        """Return whether a span that begins goes the short way. If so, the pipeline knows it."""
        if not self.is_open(span._span_processor):
            return False
        kind = span.agentool_class
        encodings = self._encodings[kind] if kind in self._encodings else self._prepare(kind)
        name = span._name
        if encodings is None or not (name in self._names or self._is_clean(name)):
            return False
        self._pipeline.undescribed[span._context.span_id] = span
        return True

    def is_open(self, processor: Any) -> bool:
        """Return whether spans of a processor that begin go the short way."""
        pipeline = self._pipeline
        alone = getattr(processor, "_span_processors", None) == self._alone
        if not alone or pipeline.store is not self._store:
            return False
        if pipeline.at_first is not None:
            pipeline.begin()
        return True

    def form(
        self,
        own_class: type[OwnSpan],
        name: str,
        kind: SpanKind,
        attributes_of: Callable[[DirectSpan], dict[str, Any]],
    ) -> SpanForm | None:
        """Return how direct spans of a name are written; None where resource, scope or name must
        not leave as they are. For the arguments see `SpanWriter`."""
        known = own_class in self._encodings
        encodings = self._encodings[own_class] if known else self._prepare(own_class)
        if encodings is None or not self._is_clean(name):
            return None
        span_class = direct_class(own_class, name, kind, self, attributes_of)
        return _Form(self, span_class, encodings, name, kind)

    def _is_clean(self, name: str) -> bool:
        """Return whether the name of a span may leave as it is."""
        if mask_name(name) != name:
            return False
        if len(self._names) >= _CACHED:
            self._names.clear()
        self._names.add(name)
        return True

    def _prepare(self, kind: Any) -> _Encodings | None:
        if len(self._encodings) >= _CACHED:
            self._encodings.clear()
        resource, scope = kind._resource, kind._instrumentation_scope
        clean = self.masking.shared
        encodings = None
        if clean(resource) is resource and clean(scope) is scope:
            notes = JsonParts(resource, scope)
            parts = self._store.parts
            encodings = _Encodings(notes, notes if parts is JsonParts else parts(resource, scope))
        self._encodings[kind] = encodings
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
            notes = self._encodings[span.agentool_class].notes  # type: ignore[union-attr] # accepted
            span.agentool_written = len(span.agentool_held)
            span.agentool_beginning = beginning = notes.beginning(span)
            span.agentool_first = first = notes.attributes(
                span.agentool_shared, {} if pairs else _own(span), pairs
            )
            span_id = span._context[1]
            pipeline.undescribed.pop(span_id, None)
            self.masking.passed.add()
            self.journal.note(span, span_id, notes.started(beginning, first))
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
        pipeline = self._pipeline
        name = span._name
        renamed = name is not span.agentool_first_name
        alone = getattr(span._span_processor, "_span_processors", None) == self._alone
        if not alone or pipeline.store is not self._store:
            return False
        if renamed and not (isinstance(name, str) and self._is_clean(name)):
            return False
        try:
            notes, records = self._encodings[span.agentool_class]  # type: ignore[misc] # accepted
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
        if pipeline.undescribed:
            pipeline.undescribed.pop(span_id, None)
        self.put(span_id, document, end_ns)
        return True

    def put(self, span_id: int, document: Line, end_ns: int) -> None:
        """Put the document of a span away that has ended."""
        pipeline, journal = self._pipeline, self.journal
        try:
            if journal.of_parent and span_id in journal.of_parent:
                return
            self.masking.passed.add()
            pipeline.put(self._store, journal, document, end_ns, span_id)
            if journal.dropped_spans:
                pipeline.close_dropped(self._store, journal)
        except Exception as error:  # the call that is traced here must not feel it
            pipeline.log_internal_error(error)


class _Form:
    """Writes the direct spans of one name."""

    __slots__ = (
        *("_started", "_writer", "accepts", "ended", "request", "span_class", "templates"),
    )

    def __init__(
        self,
        writer: DirectWriter,
        span_class: Any,
        encodings: _Encodings,
        name: str,
        kind: SpanKind,
    ):
        self._writer = writer
        self.span_class = span_class
        self.accepts = partial(writer.is_open, span_class._span_processor)
        self.ended = writer.put
        self.templates = encodings.notes.templates(name, kind)
        self._started = self.templates.started
        self.request = encodings.records.requests(name, kind)

    def started(self, span: OwnSpan, span_id: int, beginning: bytes, first: bytes) -> None:
        writer = self._writer
        try:
            writer.masking.passed.add()
            writer.journal.note(span, span_id, (self._started % (beginning, first),))
        except Exception as error:  # the call that is traced here must not feel it
            writer.log_internal_error(error)


def _own(span: OwnSpan) -> dict[str, Any]:
    """Return the attributes of a span that it does not share with others."""
    held, shared = span.agentool_held, span.agentool_shared
    if not shared:
        return held
    return dict(islice(held.items(), sum(map(len, shared)), None))
