"""Keeps steps as collected spans. Ids are made of the session and the order of its steps, so that
the same log gives the same spans whenever it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

from msgspec.structs import replace

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.model.operations import Operation
from agentool_otel.model.recorder import Content
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanEvent, SpanLink, SpanRecord

__all__ = ["RecordedStep", "SpanRecorder"]

_dialect = GenAI()


class RecordedStep:
    """One step; its span is passed on when it ends."""

    __slots__ = ("_attributes", "_done", "_fields", "_notes", "_operation", "_span")

    def __init__(self, span: SpanRecord, operation: Operation, done: Callable[[SpanRecord], None]):
        self._span = span
        self._operation = operation
        self._done: Callable[[SpanRecord], None] | None = done
        self._fields: dict[str, Any] = {}
        self._attributes: Attributes = {}
        self._notes: list[SpanEvent] = []

    @property
    def ids(self) -> tuple[str, str]:
        """Trace id and span id."""
        return self._span.trace_id, self._span.span_id

    def set(self, **fields: Any) -> None:
        self._fields.update(fields)

    def add(self, content: Content) -> None:
        self._fields.update(content())

    def mark(self, attributes: Mapping[str, Any]) -> None:
        self._attributes.update(attributes)

    def note(self, name: str, attributes: Mapping[str, Any], at_ns: int) -> None:
        self._notes.append(SpanEvent(name, at_ns, dict(attributes)))

    def link(self, trace_id: str, span_id: str) -> None:
        if self._done is not None:
            self._span.links = [*self._span.links, SpanLink(trace_id, span_id)]

    def end(self, at_ns: int) -> None:
        if self._done is not None:
            self._span.end_ns = at_ns
            self.leave()

    def as_parent(self) -> RecordedStep:
        return RecordedStep(SpanRecord(*self.ids), self._operation, lambda _: None)

    def leave(self) -> None:
        """Pass the span on as it is; one that has not ended has no end."""
        done, self._done = self._done, None
        if done is None:
            return
        operation = replace(self._operation, **self._fields)
        span = self._span
        span.name, span.kind, attributes = _dialect.draft(operation)
        span.attributes = {**attributes, **self._attributes}
        span.events = self._notes
        if operation.error_type is not None:
            span.status, span.status_message = STATUS_ERROR, operation.error_message
        done(span)


class SpanRecorder:
    """Makes spans of steps, in the order in which they end."""

    def __init__(self, done: Callable[[SpanRecord], None], scope: str, resource: Attributes):
        """
        Args:
            done: takes each span.
            scope: instrumentation scope of the spans.
            resource: resource of the spans.
        """
        self._done = done
        self._scope = scope
        self._resource = resource
        self._count = 0

    def start(
        self,
        operation: Operation,
        parent: RecordedStep | None,
        at_ns: int,
        content: Content | None = None,
    ) -> RecordedStep:
        self._count += 1
        trace_id, parent_id = parent.ids if parent is not None else (None, None)
        seed = f"{operation.conversation_id}\0{at_ns}\0{self._count}"
        span = SpanRecord(
            trace_id or _digest(seed, 16),
            _digest(f"span\0{seed}", 8),
            parent_id,
            start_ns=at_ns,
            scope=self._scope,
            resource=self._resource,
        )
        step = RecordedStep(span, operation, self._done)
        if content is not None:
            step.add(content)
        return step

    def wants_content(self, step: RecordedStep) -> bool:
        return True

    def current_foreign(self) -> None:
        return None

    def events_left(self) -> None:
        return None


def _digest(text: str, size: int) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
