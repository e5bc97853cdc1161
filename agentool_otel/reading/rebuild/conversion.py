"""Conversion of recorded spans to another dialect.

The laws: a span has the same operation before and after, except for what the dialect declares that
it cannot carry, and a span of no known dialect passes unchanged.
"""

from __future__ import annotations

from msgspec import structs

from agentool_otel.dialects import WritingDialect, match_dialect
from agentool_otel.model.operations import Unclassified
from agentool_otel.model.spans import STATUS_ERROR, SpanRecord, is_fragment
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.semconv import agentool

__all__ = ["converted"]


def converted(span: SpanRecord, dialect: WritingDialect) -> SpanRecord:
    """Return a span as another dialect writes it.

    Its ids, parent, times, status, events, links, scope and resource stay. Content in an event of
    the span, or in a file of its own, is on the span afterwards. A span that is no operation, or in
    that dialect already, is returned unchanged, and so is a log record whose span is missing.
    """
    if is_fragment(span):
        return span
    node = Node(span)
    if node.dialect in (None, dialect.name) or isinstance(node.operation, Unclassified):
        return span
    operation = node.operation
    name, kind, attributes = dialect.write(operation)
    attributes.pop(agentool.DIALECT, None)
    copy = structs.replace(span, name=name, kind=kind, attributes=attributes)
    if operation.error_type is not None:  # some dialects have an event or an attribute for it
        copy.status = STATUS_ERROR
        copy.status_message = operation.error_message or span.status_message
    if (read := match_dialect(copy).dialect) is None or read.name != dialect.name:
        attributes[agentool.DIALECT] = dialect.name
    return copy
