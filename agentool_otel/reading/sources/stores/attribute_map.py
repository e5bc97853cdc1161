"""The attributes of one span and nothing else, as test fixtures and bug reports have them.

    {"gen_ai.operation.name": "chat", ...}    or    {"spanName", "scopeName", "attributes": {...}}

Such a span has no ids: they are made of its content, so that the same one read twice is one span.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from agentool_otel.dialects.kit.dialect import namespaces
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.nested import flatten
from agentool_otel.reading.sources.stores.store_format import Container, Object, Report

__all__ = ["CONTAINER"]


def _recognises(o: Object) -> bool:
    attributes = o.get("attributes")
    if isinstance(attributes, dict):
        named = v.first(o, "spanName", "scopeName", "span_name", "scope_name", "name") is not None
        return named and _speaks(attributes)
    return _speaks(o)


def _speaks(o: Object) -> bool:
    """Return whether a name belongs to a dialect: without ids only that distinguishes a span from
    any other object with dotted names.
    """
    prefixes = namespaces()
    return any(item.startswith(prefixes) for item in (*o, *flatten(o)))


def _spans(o: Object, report: Report) -> Iterator[SpanRecord]:
    inner = o.get("attributes")
    wrapped = isinstance(inner, dict)
    attributes = flatten(v.attributes(inner if wrapped else o))
    content = repr(sorted(attributes.items(), key=lambda item: item[0])).encode("utf-8", "replace")
    yield SpanRecord(
        blake2b(content, digest_size=16).hexdigest(),
        blake2b(content, digest_size=8).hexdigest(),
        name=v.text(v.first(o, "spanName", "span_name", "name")) if wrapped else "",
        kind=v.kind(o.get("kind")) if wrapped else "INTERNAL",
        attributes=attributes,
        scope=v.text(v.first(o, "scopeName", "scope_name")) if wrapped else "",
        made_ids=True,
    )


CONTAINER = Container(
    "the attributes of one span",
    '{"gen_ai.operation.name": …} or {"spanName", "attributes"}',
    _recognises,
    _spans,
    ("ids, times, parent and status are not there; the trace is this span alone",),
)
