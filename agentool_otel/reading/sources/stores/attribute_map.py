"""The attributes of one span, as test fixtures, bug reports and logs have them.

    {"gen_ai.operation.name": "chat", ...}    or    {"spanName", "scopeName", "attributes": {...}}

What stands beside them belongs to the span too. Ids that it does not have are made of its content,
so that the same one read twice is one span.
"""

from __future__ import annotations

from agentool_otel.dialects.kit.dialect import namespaces
from agentool_otel.reading.sources.stores import any_span, span_object
from agentool_otel.reading.sources.stores.nested import flatten
from agentool_otel.reading.sources.stores.store_format import Container, Object

__all__ = ["CONTAINER"]


def _recognises(o: Object) -> bool:
    attributes = span_object.attributes_of(o)
    if attributes is not None:
        return len(o) > 1 and _speaks(attributes)
    return _speaks(o)


def _speaks(o: Object) -> bool:
    """Return whether a name belongs to a dialect: without ids only that distinguishes a span from
    any other object with dotted names.
    """
    prefixes = namespaces()
    return any(item.startswith(prefixes) for item in (*o, *flatten(o)))


CONTAINER = Container(
    "the attributes of one span",
    '{"gen_ai.operation.name": …} or {"spanName", "attributes"}',
    _recognises,
    any_span.spans,
    ("what is not beside the attributes is unknown: ids, times, parent, status",),
)
