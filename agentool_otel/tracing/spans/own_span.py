"""A recording span of our own kind: the SDK's, started and ended with a fifth of the work.

What all spans of a tracer share is in a class built for the tracer; a span holds what is its own,
and its attributes as a plain dict. The SDK's bounded containers are built when other code needs
them, over the same data, so that everything of the SDK's span works on it.

A `SpanWriter` may write such a span as it begins and ends. It does not once anything but our own
code has added to the span: then, and without a writer, processors get the usual read-only span.

Imported only where the tracer is the SDK's.
Source: opentelemetry-sdk 1.30 to 1.45, sdk/trace/__init__.py: `ReadableSpan`, `Span`, `Event`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk import trace as sdk
from opentelemetry.sdk.util import BoundedList
from opentelemetry.trace import Link, SpanContext, SpanKind, TraceFlags, TraceState

from agentool_otel.otlp.json_encoder import Line
from agentool_otel.otlp.span_parts import (
    NO_EVENTS,
    Encoded,
    Events,
    LineTemplates,
    Request,
    Shared,
)
from agentool_otel.tracing.spans.sdk_spans import own_events
from agentool_otel.tracing.spans.settings import settings

if TYPE_CHECKING:
    from agentool_otel.tracing.spans.direct_span import DirectSpan

__all__ = ["OwnSpan", "SpanForm", "SpanWriter", "class_of"]


class SpanForm(Protocol):
    """Writes spans of one name, of which the caller has the attributes encoded."""

    @property
    def span_class(self) -> type[DirectSpan]:
        """The class of the spans."""
        ...

    @property
    def templates(self) -> LineTemplates:
        """Templates of the lines in the journal."""
        ...

    @property
    def request(self) -> Request | None:
        """Encodes spans that have ended; None where they are lines, as in the journal."""
        ...

    @property
    def accepts(self) -> Callable[[], bool]:
        """Returns whether a span that begins, or ends, is written here."""
        ...

    def started(self, span: OwnSpan, span_id: int, beginning: bytes, first: bytes, /) -> None:
        """Write a span that has started.

        Args:
            span: the span.
            span_id: its id.
            beginning: what is known of it, as `templates` encodes it.
            first: its attributes, at least one.
        """
        ...

    @property
    def ended(self) -> Callable[[int, Line, int], None]:
        """Writes a span that has ended: its id, its document and its end."""
        ...


class SpanWriter(Protocol):
    """Writes spans of our own kind to where they are kept: `tracing.export.direct`."""

    def form(
        self,
        own_class: type[OwnSpan],
        name: str,
        kind: SpanKind,
        attributes_of: Callable[[DirectSpan], dict[str, Any]],
        /,
    ) -> SpanForm | None:
        """Return how direct spans of a name are written; None where they may not leave as they are.

        Args:
            own_class: of the own spans of their tracer.
            name: of the spans.
            kind: of the spans.
            attributes_of: returns the attributes of such a span.
        """
        ...

    def accepts(self, span: OwnSpan, /) -> bool:
        """Return whether a span that begins is written here, and not by the SDK's processors."""
        ...

    def started(self, span: OwnSpan, pairs: bytes = b"", /) -> None:
        """Write a span that has started, with the attributes that it has."""
        ...

    def ended(
        self, span: OwnSpan, fresh: dict[str, Any] | None, events: Events, pairs: bytes = b"", /
    ) -> bool:
        """Write a span that has ended; False, and nothing is done, if processors have to."""
        ...


_SHARED = frozenset(
    {
        *("_instrumentation_info", "_instrumentation_scope", "_limits", "_record_end_metrics"),
        *("_record_exception", "_resource", "_sampler", "_set_status_on_exception"),
        *("_span_processor", "_status", "_trace_config"),
    }
)
"""Attributes of an SDK span that are the same for all spans of a tracer until one is replaced."""
_OF_ONE = frozenset(
    {
        *("_attributes", "_context", "_end_time", "_events", "_kind", "_links", "_lock", "_name"),
        *("_parent", "_start_time"),
    }
)
_READABLE = (_SHARED | _OF_ONE) - {
    *("_limits", "_lock", "_record_end_metrics", "_record_exception", "_sampler"),
    *("_set_status_on_exception", "_span_processor", "_trace_config"),
}


def _refuse(*_: Any, **__: Any) -> Any:
    raise TypeError("the attributes of an ended span cannot be changed")


class Ended(dict[str, Any]):
    """The attributes of a span that has ended. As with the SDK's, nobody can change them."""

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse


class Masked(Ended):
    """The same where they are all ours, so that all of them were masked at capture."""

    _agentool_masked = True


class OwnSpan(sdk._Span):
    """A recording span. Made by a class that `class_of` gives."""

    _agentool_masked = False
    """True while it is shown to others with nothing on it but what was masked at capture."""
    _shared: BoundedAttributes | None = None
    """The SDK's view of the attributes, once something has used it."""
    _ending: Callable[[OwnSpan], None] | None = None
    """Notifies processors of the end before they receive the ended span; in newer SDKs."""
    _room: float
    """Number of attributes that it may have."""
    _context: SpanContext
    _end_time: int | None = None
    _links: Any = ()
    agentool_class: type[OwnSpan]
    """The class of the own spans of its tracer."""
    agentool_writer: SpanWriter | None = None
    """What writes it, unless it takes the SDK's way."""
    agentool_shared: tuple[Shared, ...] = ()
    """Attributes that it begins with and has in common with other spans, in order."""
    agentool_written = 0
    """Number of attributes in `agentool_first`."""
    agentool_beginning = b""
    agentool_first: Encoded | None = None
    """The attributes that its record begins with, encoded when it was noted; None before that."""

    def __init__(
        self,
        name: str,
        context: SpanContext,
        parent: SpanContext | None,
        kind: SpanKind,
        attributes: dict[str, Any],
        start_ns: int,
        lock: Any,
    ):
        self._name = self.agentool_first_name = name
        self._context = context
        self._parent = parent
        self._kind = kind
        self.agentool_held = attributes
        self._start_time = start_ns
        self._lock = lock

    @property
    def agentool_events(self) -> Any:
        """The SDK's list of events, made on first use."""
        with self._lock:
            if not self._events:
                self._events = BoundedList(self._limits.max_events)
            return self._events

    @property
    def _events(self) -> Any:  # made on first use
        held = vars(self)
        if "_own_events" in held and (own := held.pop("_own_events", None)) is not None:
            events = held.get("_held_events") or BoundedList(self._limits.max_events)
            events.extend(own_events(own))
            self._held_events = events
        return held.get("_held_events", ())

    @_events.setter
    def _events(self, events: Any) -> None:
        self._held_events = events

    def add_own_events(self, events: Events) -> bool:
        """Add events of ours, masked at capture; False, and nothing is done, if it has some."""
        with self._lock:
            held = vars(self)
            if self._end_time is not None or "_own_events" in held or "_held_events" in held:
                return False
            self._own_events = events
        return True

    def take(self, attributes: dict[str, Any]) -> bool:
        """Set attributes that were masked; False, and nothing is set, if there is no room."""
        held = self.agentool_held
        if len(held) + len(attributes) > self._room:
            return False
        with self._lock:
            held.update(attributes)
            self._agentool_masked = self._shared is None
        return True

    def finish(self, attributes: dict[str, Any], end_ns: int, pairs: bytes = b"") -> bool:
        """Set the last attributes and end the span; False, and nothing is done, if there is no
        room for them or it has ended.

        Args:
            attributes: the attributes.
            end_ns: when it ends.
            pairs: the attributes as pairs of OTLP/JSON, if the caller has them.
        """
        held = self.agentool_held
        writer = self.agentool_writer
        with self._lock:
            if self._end_time is not None or len(held) + len(attributes) > self._room:
                return False
            self._end_time = end_ns
            fresh = None if writer is None else self._fresh(attributes)
            held.update(attributes)
            shared = self._shared
            if shared is None:
                self._agentool_masked = True
            else:
                shared._immutable = True
                writer = None
        if writer is not None and writer is settings.writer:
            mine = vars(self)
            events = mine.get("_own_events", NO_EVENTS)
            touched = "_held_events" in mine or "_links" in mine or "_status" in mine
            if not touched and writer.ended(self, fresh, events, pairs):
                return True
        if self._ending is not None:
            self._ending(self)
        self._span_processor.on_end(self._readable_span())
        return True

    def _fresh(self, attributes: dict[str, Any]) -> dict[str, Any] | None:
        """Return the attributes that are to be set and that the span does not have; None if its
        record cannot begin with the lines that were encoded when it was noted."""
        held = self.agentool_held
        if len(held) != self.agentool_written:
            return None
        if held.keys().isdisjoint(attributes):
            return attributes
        fresh: dict[str, Any] = {}
        for key, value in attributes.items():
            if key not in held:
                fresh[key] = value
            elif held[key] is not value:
                return None
        return fresh

    # ------------------------------------------------------------------ what the SDK's span does

    @property
    def attributes(self) -> Mapping[str, Any]:
        return MappingProxyType(self.agentool_held)

    @property
    def _attributes(self) -> BoundedAttributes:  # type: ignore[override] # made on first use
        shared = self._shared
        if shared is None:
            view = BoundedAttributes(self._limits.max_span_attributes, immutable=False)
            view._dict = self.agentool_held
            shared = vars(self).setdefault("_shared", view)  # another thread may be faster
        return shared

    def _add_event(self, event: Any) -> None:
        _ = self.agentool_events
        super()._add_event(event)

    def _add_link(self, link: Link) -> None:
        with self._lock:
            if not self._links:
                self._links = BoundedList(self._limits.max_links)
        super()._add_link(link)

    def _readable_span(self) -> sdk.ReadableSpan:
        ended = sdk.ReadableSpan.__new__(sdk.ReadableSpan)
        ended._name = self._name
        ended._context = self._context
        ended._kind = self._kind
        ended._instrumentation_info = self._instrumentation_info
        ended._instrumentation_scope = self._instrumentation_scope
        ended._parent = self._parent
        ended._start_time = self._start_time
        ended._end_time = self._end_time
        ended._attributes = self._shared
        if ended._attributes is None:
            held = self.agentool_held
            ended._attributes = Masked(held) if self._agentool_masked else Ended(held)
        ended._events = self._events
        ended._links = self._links
        ended._resource = self._resource
        ended._status = self._status
        return ended


def class_of(tracer: Any) -> type[OwnSpan] | None:
    """Return the class of own spans of a tracer; None if the SDK's insides are not as known."""
    probe = sdk._Span(
        "",
        SpanContext(1, 1, False),
        sampler=tracer.sampler,
        resource=tracer.resource,
        span_processor=tracer.span_processor,
        limits=tracer._span_limits,
        instrumentation_scope=tracer._instrumentation_scope,
        record_exception=False,
        set_status_on_exception=False,
    )
    held = vars(probe)
    if not held.keys() <= _SHARED | _OF_ONE or not held.keys() >= _OF_ONE:
        return None
    if tuple(probe.get_span_context()) != (1, 1, False, TraceFlags(0), TraceState(), True):
        return None
    if vars(sdk.ReadableSpan("", resource=tracer.resource)).keys() != _READABLE:
        return None
    shared = {name: value for name, value in held.items() if name in _SHARED}
    most = tracer._span_limits.max_span_attributes
    shared["_room"] = float("inf") if most is None else most
    shared["_ending"] = getattr(tracer.span_processor, "_on_ending", None)
    made: type[OwnSpan] = type(sdk._Span.__name__, (OwnSpan,), shared)
    made.agentool_class = made
    return made
