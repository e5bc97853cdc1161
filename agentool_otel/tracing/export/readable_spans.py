"""Spans as they were collected, as the SDK has them, to be written and sent like any other."""

from __future__ import annotations

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from agentool_otel.ground.json_codec import canonical
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanRecord

__all__ = ["Readable"]

_CACHED = 256
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


class Readable:
    """Makes them, resources and scopes that are alike once."""

    def __init__(self) -> None:
        self._resources: dict[str, Resource] = {}
        self._scopes: dict[str, InstrumentationScope] = {}

    def __call__(self, span: SpanRecord) -> ReadableSpan:
        """Return a span with all members of OTLP.

        What a collected span does not have is left out: versions of scopes, the state of the trace.
        A description of a status that is no error, which OpenTelemetry ignores, too.
        """
        described = span.status_message if span.status == STATUS_ERROR else None
        return ReadableSpan(
            span.name,
            _context(span.trace_id, span.span_id),
            _context(span.trace_id, span.parent_id) if span.parent_id else None,
            self._resource(span.resource),
            span.attributes,
            [Event(event.name, event.attributes, event.time_ns or 0) for event in span.events],
            [Link(_context(link.trace_id, link.span_id), link.attributes) for link in span.links],
            SpanKind[span.kind],
            status=Status(StatusCode[span.status], described),
            start_time=span.start_ns,
            end_time=span.end_ns,
            instrumentation_scope=self._scope(span.scope),
        )

    def _resource(self, attributes: Attributes) -> Resource:
        key = canonical(attributes)
        resource = self._resources.get(key)
        if resource is None:
            if len(self._resources) >= _CACHED:
                self._resources.clear()
            resource = self._resources[key] = Resource(attributes)
        return resource

    def _scope(self, name: str) -> InstrumentationScope:
        scope = self._scopes.get(name)
        if scope is None:
            if len(self._scopes) >= _CACHED:
                self._scopes.clear()
            scope = self._scopes[name] = InstrumentationScope(name)
        return scope


def _context(trace_id: str, span_id: str) -> SpanContext:
    return SpanContext(int(trace_id, 16), int(span_id, 16), False, _SAMPLED)
