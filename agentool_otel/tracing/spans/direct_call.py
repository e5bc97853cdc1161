"""What the direct calls of one decorated callable share.

The spans of direct calls are put together from templates and written at once: no attributes are
collected, and none of the layers between a call and its file is passed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from opentelemetry.context import Context
from opentelemetry.trace import SpanKind

from agentool_otel.ground.interruptions import let_through
from agentool_otel.otlp.span_parts import Events, Shared, events_json, shared_json, template
from agentool_otel.semconv import agentool
from agentool_otel.tracing.spans.sdk_spans import (
    OURS_KEY,
    SPAN_KEY,
    add_events,
    end_span,
    short_way,
)
from agentool_otel.tracing.spans.settings import SCOPE, settings

if TYPE_CHECKING:
    from agentool_otel.tracing.spans.direct_agent import DirectAgentSpan
    from agentool_otel.tracing.spans.direct_span import DirectSpan, Facts
    from agentool_otel.tracing.spans.direct_tool import DirectToolSpan
    from agentool_otel.tracing.spans.own_span import SpanForm, SpanWriter
    from agentool_otel.tracing.spans.sdk_spans import Placed

__all__ = ["SMALL", "Direct", "Sharing", "pairs"]

SMALL = 8192
"""Characters of text below which an attribute is copied, and not kept apart."""


class Sharing:
    """Makes what the direct calls of one callable share, for the writer in force.

    The first call of a writer is a usual one: a program may decorate a function for one call, and
    to make a class for it takes longer than the call.
    """

    __slots__ = ("_usual", "_writer", "direct", "writer")
    usual_calls = 1

    def __init__(self) -> None:
        self.writer: SpanWriter | None = None
        """The writer that `direct` is for."""
        self.direct: Direct | None = None
        """What direct calls share; None where all calls are usual."""
        self._writer: SpanWriter | None = None
        self._usual = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return Sharing, ()  # made anew in another process

    def is_due(self) -> bool:
        """Return whether the writer in force is another one, and has had its usual calls."""
        writer = settings.writer
        if writer is self.writer:
            return False
        if writer is not self._writer:
            self._writer, self._usual = writer, self.usual_calls
            self.direct = None
        if self._usual:
            self._usual -= 1
            return False
        return True

    def make(self, attributes: Shared, name: str, kind: SpanKind) -> None:
        """Make it.

        Args:
            attributes: the attributes that all calls have.
            name: of their spans.
            kind: of their spans.
        """
        writer = self._writer
        self.direct = Direct.of(attributes, name, kind, writer)
        self.writer = writer


class Direct:
    """What the direct calls of one callable share, in one configuration.

    Args:
        attributes: the attributes that all of them have.
        writer: what writes their spans.
        place: gives the place of a span below another one.
        form: how the spans are written.
    """

    __slots__ = (
        *("_child", "_root", "attributes", "form", "largest", "place", "shared", "span_class"),
        *("times", "times_below", "writer"),
    )

    def __init__(
        self,
        attributes: Shared,
        writer: SpanWriter,
        place: Callable[[Any], Placed | None],
        form: SpanForm,
    ):
        self.attributes = attributes
        self.writer = writer
        self.form = form
        self.place = place
        self._root, self._child = form.templates.root, form.templates.child
        self.shared = attributes.json or shared_json(attributes)
        """The attributes, as they stand in a line."""
        self.span_class = form.span_class
        self.largest = min(SMALL - 1, settings.policy.sizes.attribute // 8)
        """Characters of a text that is neither shortened nor kept apart, if there are two."""
        self.times, self.times_below = b"", b""
        """Templates of the start of a span, and of its start and parent, as a line repeats them."""
        if settings.repeat_times:
            self.times = pairs((agentool.SPAN_START_NS, "%d"))
            self.times_below = self.times + pairs((agentool.SPAN_PARENT_ID, "%016x"))

    @classmethod
    def of(
        cls, attributes: Shared, name: str, kind: SpanKind, writer: SpanWriter | None
    ) -> Direct | None:
        """Return what direct calls share; None where all calls are unusual.

        Args:
            attributes: the attributes that all of them have.
            name: of the spans.
            kind: of the spans.
            writer: what writes them, if anything does.
        """
        if writer is None or not settings.write_through:
            return None
        short = short_way(settings.tracers.get(SCOPE) or settings.tracer())
        if short is None:
            return None

        def attributes_of(span: DirectSpan) -> dict[str, Any]:
            facts = span.facts
            return {**(facts.identity or {}), **attributes, **facts.own(), **span.ending}

        form = writer.form(short.span_class, name, kind, attributes_of)
        return None if form is None else cls(attributes, writer, short.place, form)

    def start(
        self, parent: Context, placed: Placed, facts: Facts, first: bytes
    ) -> tuple[DirectSpan, Context, bytes]:
        """Start a span: it is in the journal on return.

        Args:
            parent: the context around it.
            placed: its place.
            facts: what its attributes are made of.
            first: the same, as they stand in a line.

        Returns:
            the span, the context in which it is current, and the beginning of its line.
        """
        span: DirectSpan = _new(self.span_class)
        (trace_id, span_id, *_), up = span._context, span._parent = placed
        start_ns = span._start_time = facts.start_ns
        span.facts = facts
        context = Context(parent)
        _set(context, SPAN_KEY, span)  # ours alone still; the API's own method refuses
        _set(context, OURS_KEY, span)
        if up is None:
            beginning = self._root % (trace_id, span_id, start_ns)
        else:
            beginning = self._child % (trace_id, span_id, up[1], start_ns)
        self.form.started(span, span_id, beginning, first)
        return span, context, beginning

    def end(
        self,
        call: DirectToolSpan | DirectAgentSpan,
        ending: dict[str, Any],
        last: bytes,
        events: Events,
        end_ns: int,
    ) -> None:
        """Write the span of a call that has ended.

        Args:
            call: the call.
            ending: the attributes that the span gets at its end.
            last: the same as they stand in a line, behind a comma; where spans are lines.
            events: those of the span.
            end_ns: when it ends.
        """
        form, span, facts = self.form, call.span, call.facts
        try:
            if form.request is None:
                happened = events_json(events) if events.events else b""
                line = form.templates.ended % (call.beginning, end_ns, call.first, last, happened)
            else:
                identity = facts.identity
                groups = (identity, self.attributes) if identity else (self.attributes,)
                attributes = {**facts.own(), **ending}
                line = form.request(
                    *(span._context, facts.parent_id, facts.start_ns, end_ns, groups),
                    *(attributes, events),
                )
        except Exception as error:  # a bug of ours: nothing is written yet
            let_through(error)
            if events.events:
                add_events(span, events)
            end_span(span, ending, 0, end_ns)
            return
        span._end_time, span.ending = end_ns, ending
        if events.events:
            span._own_events = events
        form.ended(span._context[1], (line,), end_ns)


_new = object.__new__
_set = dict.__setitem__


def pairs(*attributes: tuple[str, str]) -> bytes:
    """Return a template of attributes in a line, behind others."""
    return b"," + template(*attributes)
