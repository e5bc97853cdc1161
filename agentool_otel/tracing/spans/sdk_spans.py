"""Starting spans and setting their attributes: where the SDK's insides are used, and nowhere else.

A traced call spends most of its time in the SDK: every attribute is checked and copied twice under
a lock, and a sampler is asked that can only say yes. Where the SDK's insides are the known ones,
this module takes the short way, to a span of our own kind (`own_span`); everywhere else, and with
any other provider, the public one.
Source: opentelemetry-sdk 1.30 to 1.45, sdk/trace/__init__.py: `Tracer.start_span`, `_Span`,
`BoundedAttributes`, `Event`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from opentelemetry import trace
from opentelemetry.context import Context, create_key
from opentelemetry.trace import SpanContext, SpanKind, TraceFlags
from opentelemetry.trace.propagation import _SPAN_KEY as SPAN_KEY

from agentool_otel.ground import environment
from agentool_otel.otlp.span_parts import Events
from agentool_otel.semconv import agentool, core, gen_ai
from agentool_otel.semconv.table import AT_START, CONTENT, NAMED_BY_US, OURS, RENAMES
from agentool_otel.tracing.spans.settings import settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import Event, ReadableSpan

    from agentool_otel.tracing.spans.own_span import OwnSpan

__all__ = [
    "OURS_KEY",
    "SPAN_KEY",
    "ShortWay",
    "add_events",
    "clear_masked",
    "context_with",
    "end_span",
    "is_marked",
    "note_started",
    "own_event_class",
    "own_events",
    "own_span",
    "parent_of",
    "parent_of_our_provider",
    "set_all",
    "short_way",
    "start_span",
]

MARK = "_agentool_masked"
"""Set on the attributes of a span that holds only what was masked at capture."""

Placed = tuple[SpanContext, "SpanContext | None"]
"""The context of a span that begins, and that of its parent."""


class ShortWay(NamedTuple):
    """How the recording spans of a tracer start without the SDK."""

    span_class: type[OwnSpan]
    place: Callable[[Any], Placed | None]
    """Returns the place of a span below another one, or below none; None where the SDK has to
    start it."""
    start: Callable[[str, Context, SpanKind, dict[str, Any], int, Any], trace.Span | None]
    """Starts a span; None likewise."""


def start_span(
    tracer: trace.Tracer,
    name: str,
    parent: Context,
    kind: SpanKind,
    attributes: dict[str, Any],
    start_ns: int,
) -> trace.Span:
    """Start a span below the span of `parent`. Exceptions are recorded by whoever ends it."""
    try:
        short = _short_ways[tracer]
    except KeyError:
        short = _short_way(tracer)
    if short is not None:
        span = short.start(name, parent, kind, attributes, start_ns, parent.get(SPAN_KEY))
        if span is not None:
            return span
    return tracer.start_span(name, parent, kind, attributes, None, start_ns, False, False)


def set_all(span: trace.Span, attributes: dict[str, Any], known: int) -> int:
    """Set attributes that are valid by construction, plain texts, numbers and lists of texts, and
    masked; mark the span if nobody else has added to its attributes.

    Args:
        span: the span.
        attributes: what to set.
        known: how many attributes we have set on it so far.

    Returns:
        How many it has now, -1 if others have set some.
    """
    own = own_span(span)
    if own is not None and own.take(attributes):
        return known
    bounded: Any = getattr(span, "_attributes", None)
    lock = getattr(span, "_lock", None)
    held = getattr(bounded, "_dict", None)
    if (
        own is None
        and lock is not None
        and type(held) is dict
        and getattr(bounded, "max_value_len", 0) is None
        and (bounded.maxlen is None or len(held) + len(attributes) <= bounded.maxlen)
    ):
        with lock:
            ours = len(held) == known
            if ours:
                setattr(bounded, MARK, True)
            held.update(attributes)
            return len(held) if ours else -1
    else:
        most = getattr(bounded, "maxlen", None)
        if type(held) is dict and most is not None and len(held) + len(attributes) > most:
            attributes = _most_important({**held, **attributes}, most)
        span.set_attributes(attributes)
        return -1


def end_span(span: trace.Span, attributes: dict[str, Any], known: int, end_ns: int) -> None:
    """End a span with its last attributes, by the rules of `set_all`."""
    own = own_span(span)
    if own is not None and own.finish(attributes, end_ns):
        return
    if span.is_recording():
        set_all(span, attributes, known)
    span.end(end_ns)


def note_started(span: trace.Span) -> bool:
    """Have the writer of a span note it; False if it has none."""
    own = own_span(span)
    if own is None or own.agentool_writer is None or own.agentool_written:
        return False
    own.agentool_writer.started(own)
    return True


def clear_masked(span: trace.Span) -> None:
    """Take the mark back: from now on others may add to the span."""
    marked: Any = own_span(span) or getattr(span, "_attributes", None)
    if hasattr(marked, MARK):
        setattr(marked, MARK, False)


def is_marked(span: ReadableSpan) -> bool:
    """True for a span that holds only attributes that were masked at capture."""
    marked: Any = own_span(span) or span._attributes
    return getattr(marked, MARK, False)


def add_events(span: trace.Span, events: Events) -> None:
    """Add events whose attributes are valid by construction, and masked.

    The SDK's public method copies and checks every attribute of every event.
    """
    own = own_span(span)
    if own is not None and own.add_own_events(events):
        return
    held = getattr(span, "_events", None) if own is None else own.agentool_events
    lock, extend = getattr(span, "_lock", None), getattr(held, "extend", None)
    if extend is None or lock is None or not span.is_recording():
        for time_ns, number, more in events.events:
            span.add_event(events.name, {events.number: number, **more}, time_ns)
        return
    built = own_events(events)
    with lock:
        extend(built)


def own_events(events: Events) -> list[Event]:
    """Return events as the SDK has them."""
    event_class = own_event_class()
    return [
        event_class(events.name, {events.number: number, **more}, time_ns)
        for time_ns, number, more in events.events
    ]


@cache
def own_event_class() -> type[Event]:
    """Return the class of the events that `add_events` makes, whose attributes were masked at
    capture. A name would prove nothing: anybody may use it.

    The SDK is imported only where there is a span of it.
    """
    from opentelemetry.sdk.trace import Event

    return type("OwnEvent", (Event,), {})


def own_span(span: Any) -> OwnSpan | None:
    """Return a span if it is of our own kind."""
    return span if getattr(span, "agentool_held", None) is not None else None


def _most_important(attributes: dict[str, Any], most: int) -> dict[str, Any]:
    """Return so many attributes, identity and usage last: the SDK drops the first ones."""
    ranked = sorted(attributes, key=_importance)
    kept = ranked[max(0, len(ranked) - most) :]
    return {key: attributes[key] for key in kept}


def _importance(key: str) -> int:
    key = RENAMES[key].new if key in RENAMES else key
    key = key.removeprefix(OURS) if key.startswith(NAMED_BY_US) else key
    if key in _IDENTITY or key.startswith(("gen_ai.usage.", "agentool.span.")):
        return 2
    return 0 if key in CONTENT else 1


_IDENTITY = frozenset(
    {
        *AT_START,
        *(core.ERROR_TYPE, gen_ai.RESPONSE_ID, gen_ai.RESPONSE_MODEL, gen_ai.TOOL_CALL_ID),
        *(gen_ai.CONVERSATION_ID, core.USER_ID, gen_ai.RESPONSE_FINISH_REASONS),
        *(agentool.TRACE_ID, agentool.STEP_INDEX, agentool.STATUS),
    }
)


OURS_KEY = create_key("agentool-otel-span")
"""Context key of the nearest span of ours."""


def context_with(parent: Context, span: trace.Span) -> Context:
    """Return the context with a span of ours made current; the API's function copies it twice."""
    context = Context(parent)
    dict.__setitem__(context, SPAN_KEY, span)  # ours alone still; the API's own method refuses
    dict.__setitem__(context, OURS_KEY, span)
    return context


def parent_of_our_provider(context: Context) -> Context:
    """Return a context whose span goes where ours go, if there is one around.

    Another tracer may have a provider of its own. Its span is the current one inside its call, but
    nobody who looks at ours finds it: what it was a parent of would be cut off from the run.
    """
    ours: Any = context.get(OURS_KEY)
    current: Any = context.get(SPAN_KEY)
    if ours is None or ours is current:
        return context
    processor = getattr(ours, "_span_processor", None)
    if getattr(current, "_span_processor", processor) is processor and not _stands_in(current):
        return context
    return context_with(context, ours)


def _stands_in(span: Any) -> bool:
    """Return whether a span is what a tracer that is switched off has made of the span around it:
    that of another tracer perhaps. One that is dropped by a sampler has another flag.
    """
    if not isinstance(span, trace.NonRecordingSpan):
        return False
    context = span.get_span_context()
    return context.is_valid and not context.is_remote and context.trace_flags.sampled


def parent_of(context: Context) -> int:
    """Return the span id of a context's span, 0 if it has none."""
    span: Any = context.get(SPAN_KEY)
    return 0 if span is None else span.get_span_context().span_id


def short_way(tracer: trace.Tracer) -> ShortWay | None:
    """Return how the recording spans of a tracer start without the SDK; None where that is not
    safe."""
    return _short_ways[tracer] if tracer in _short_ways else _short_way(tracer)


_short_ways: dict[trace.Tracer, ShortWay | None] = {}


def _short_way(tracer: trace.Tracer) -> ShortWay | None:
    """Return the short way of a tracer, where that is safe.

    It is where the tracer is the SDK's own and its sampler takes every child of a sampled local
    parent, or every span without parent, without looking at it.
    """
    if type(tracer).__module__ != "opentelemetry.sdk.trace":
        return None  # a proxy may turn into the real tracer later: not remembered
    _short_ways[tracer] = short = _make_short_way(tracer)
    if len(_short_ways) > 64:  # providers come and go in tests
        _short_ways.clear()
    return short


def _root_flags(ids: Any) -> TraceFlags:
    """Return the flags of a sampled span without parent, whose trace id a generator makes."""
    is_random = getattr(ids, "is_trace_id_random", None)  # in newer SDKs
    flags = TraceFlags.SAMPLED
    if is_random is not None and is_random():
        flags |= TraceFlags.RANDOM_TRACE_ID
    return TraceFlags(flags)


def _make_short_way(tracer: Any) -> ShortWay | None:
    from opentelemetry.sdk import trace as sdk
    from opentelemetry.sdk.trace import sampling

    limits = getattr(tracer, "_span_limits", None)
    scope = getattr(tracer, "_instrumentation_scope", None)
    if scope is None or limits is None or type(tracer) is not sdk.Tracer:
        return None
    sampler: Any = tracer.sampler
    root_sampler = sampler
    if type(sampler) is sampling.ParentBased:
        root_sampler = getattr(sampler, "_root", None)
        sampler = getattr(sampler, "_local_parent_sampled", None)
    if sampler is not sampling.ALWAYS_ON:
        return None
    takes_roots = root_sampler is sampling.ALWAYS_ON
    if environment.sdk_measures_itself():
        return None
    most = limits.max_span_attributes
    if limits.max_span_attribute_length is not None or (most is not None and most < 64):
        return None
    from agentool_otel.tracing.spans.own_span import class_of

    own_class: Any = class_of(tracer)
    if own_class is None:
        return None
    enabled: Any = getattr(tracer, "_is_enabled", lambda: True)
    ids: Any = tracer.id_generator
    new_id, new_trace_id = ids.generate_span_id, ids.generate_trace_id
    root_flags = _root_flags(ids)
    resource, on_start = tracer.resource, tracer.span_processor.on_start
    sdk_class, new_lock, new_context = sdk._Span, threading.Lock, tuple.__new__

    def place(above: Any) -> Placed | None:
        if above is not None:
            if type(above) is not own_class and not isinstance(above, sdk_class):
                return None
        elif not takes_roots:
            return None
        if not enabled():
            return None
        if tracer.resource is not resource:  # another service name, or process: made anew for it
            _short_ways.pop(tracer, None)
            return None
        if above is None:
            return SpanContext(new_trace_id(), new_id(), False, root_flags), None
        up: Any = above._context
        trace_id, _, _, flags, state, _ = up
        if not flags & 1:
            return None
        return new_context(SpanContext, (trace_id, new_id(), False, flags, state, True)), up

    def start(
        name: str,
        parent: Context,
        kind: SpanKind,
        attributes: dict[str, Any],
        start_ns: int,
        above: Any,
    ) -> trace.Span | None:
        placed = place(above)
        if placed is None:
            return None
        context, up = placed
        span = own_class(name, context, up, kind, attributes.copy(), start_ns, new_lock())
        writer = settings.writer
        if writer is not None and not context[4] and writer.accepts(span):
            span.agentool_writer = writer
        else:
            on_start(span, parent_context=parent)
        started: trace.Span = span
        return started

    return ShortWay(own_class, place, start)
