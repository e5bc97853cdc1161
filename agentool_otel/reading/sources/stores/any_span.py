"""Spans as objects of no store in particular, with whatever stands beside and inside them.

    {"id", "parentId", "name", "startTime", "endTime", "attributes"}      no trace id
    {"name", "timestamp", "attributes"}                                   no ids
    {"trace_id", "span_id", "name", "gen_ai.request.model", …}            attributes beside
    {"span_id", "name", "tags": {"gen_ai.request.model", …}}              attributes elsewhere
    {"span_id", "name", "children": [{…}]}                                spans inside
    {"search": {"span_id", "start", "attributes"}}                        named by its key

An id that is not there is made of the content.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain

from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.stores import span_object
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.nested import flatten
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report

__all__ = ["CONTAINER", "named", "record", "spans"]

_CHILDREN = ("children", "childspans", "subspans", "spans")
_BOOKKEEPING = frozenset({
    "tracestate", "traceflags", "isremote", "flags", "schemaurl", "droppedattributescount",
    "droppedeventscount", "droppedlinkscount", "ended", "version", "scopeversion",
})  # fmt: skip
"""Members without information about the program."""


def _recognises(o: Object) -> bool:
    """Return whether an object has the ids of a span, or all of one but the id of a trace."""
    if span_object.recognises(o):
        return True
    names = span_object.members_of(o)
    trace_id, span_id = span_object.ids_of(o, names)
    if span_id is None:
        return _has_times(o) and bool(_children(o))
    if trace_id is not None:
        return v.first(o, *names.end) is not None  # completes an earlier record
    is_named_id = bool(names.parent) or names.span[:1] != ("id",)
    has_times = None not in (
        v.first(o, *names.name),
        v.first(o, *names.start),
        v.first(o, *names.end, *names.duration),
    )
    if not (is_named_id and has_times):
        return False
    has_attributes = v.first(o, *names.attributes) is not None or _are_attributes(o)
    return has_attributes or any(_are_attributes(v.json_object(o[name])) for name in o)


def _are_attributes(value: Object) -> bool:
    """Return whether an object holds attributes: some of its names are dotted."""
    return any("." in name for name in value)


def record(o: Object) -> SpanRecord:
    """Return the span of an object.

    Its members that are nothing else of a span are attributes. Without any id, both are made of
    its content. A span id alone leaves the trace id empty: the trace is that of its file.

    Raises:
        ValueError: its ids or its attributes are invalid.
    """
    names = span_object.members_of(o)
    trace_id, span_id = span_object.ids_of(o, names)
    content = b"" if span_id is not None else _content(o)
    if trace_id is not None:
        trace = v.identifier(trace_id, 16)
    else:
        trace = "" if span_id is not None else v.hashed(content, 16)
    own_id = v.hashed(content, 8) if span_id is None else v.identifier(span_id, 8)
    span = span_object.record_with_ids(o, names, trace, own_id)
    span.made_ids = trace_id is None or span_id is None
    others: Object = {}
    for name in _others(o, names):
        value = o[name]
        attributes = v.json_object(value)
        if _are_attributes(attributes):
            span.attributes = {**v.attributes(attributes), **span.attributes}
        elif value is not None:
            others[name] = value
    if others:
        span.attributes = {**flatten(v.attributes(others)), **span.attributes}
    return span


def named(o: Object, name: str) -> Object:
    """Return an object, named by its key in the enclosing one if it is a span without a name."""
    names = span_object.members_of(o)
    if names.name or not (names.start and names.span and (names.attributes or _are_attributes(o))):
        return o
    return {**o, "name": name}


def spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    """Yield the span of an object, and those of the objects inside it, below it."""
    waiting: deque[tuple[Object, SpanRecord | None, int]] = deque([(o, None, 0)])
    while waiting:
        item, parent, place = waiting.popleft()
        try:
            span = record(item)
        except (ValueError, RecursionError) as error:
            report(f"span {item.get('name')!r} left out: {error}")
            continue
        if parent is not None:
            if span.made_ids:
                span.trace_id = parent.trace_id
            if span_object.ids_of(item, span_object.members_of(item))[1] is None:
                text = f"{parent.span_id} {place} {span.span_id}"  # siblings may be equal
                span.span_id = v.hashed(text.encode(), 8)
            span.parent_id = span.parent_id or parent.span_id
        yield span
        waiting.extend((child, span, n) for n, child in enumerate(_children(item)))


def _children(o: Object) -> list[Object]:
    """Return the objects inside a span that are spans themselves."""
    members = (o[name] for name in o if span_object.plain(name) in _CHILDREN)
    return [
        child
        for member in members
        for child in v.array(member)
        if isinstance(child, dict) and _has_times(child)
    ]


def _has_times(o: Object) -> bool:
    names = span_object.members_of(o)
    return v.first(o, *names.name) is not None and v.first(o, *names.start) is not None


def _content(o: Object) -> bytes:
    return repr(sorted(o.items(), key=lambda item: item[0])).encode("utf-8", "replace")


def _others(o: Object, names: span_object.Members) -> Iterator[str]:
    """Yield the members of an object that are no part of a span."""
    members = set(chain(*names))
    for name in o:
        if name in members or name.startswith("_"):
            continue
        plain = span_object.plain(name)
        if plain not in _BOOKKEEPING and not (plain in _CHILDREN and _children(o)):
            yield name


CONTAINER = Container(
    "a span object",
    "{trace id, span id, name, start, attributes}",
    _recognises,
    spans,
)
