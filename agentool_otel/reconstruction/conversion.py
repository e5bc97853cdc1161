"""A recorded span in the words of another vocabulary; the rest of it stays as it is.

The laws: a span reads the same before and after, less what the dialect says that it cannot carry,
and what nobody understands passes unchanged.
"""

from __future__ import annotations

from msgspec import structs

from agentool_otel.dialects import WritingDialect, match_dialect
from agentool_otel.model.operations import Unclassified
from agentool_otel.model.spans import STATUS_ERROR, SpanRecord
from agentool_otel.reconstruction.tree import Node
from agentool_otel.semconv import agentool
from agentool_otel.sources.containers.log_record import is_fragment

__all__ = ["converted"]


def converted(span: SpanRecord, dialect: WritingDialect) -> SpanRecord:
    """Return a span as another dialect writes it.

    Its ids, parent, times, status, events, links, scope and resource stay. Content that stands on
    an event beside the span, or in a file of its own, is on the span afterwards. A span that is no
    operation, or in that dialect already, is returned as it is, and so is a log record of a span
    that is not there.
    """
    if is_fragment(span):
        return span
    node = Node(span)
    if node.dialect in (None, dialect.name) or isinstance(node.operation, Unclassified):
        return span
    operation = node.operation
    name, kind, attributes = dialect.write(operation)
    attributes.pop(agentool.DIALECT, None)
    made = structs.replace(span, name=name, kind=kind, attributes=attributes)
    if operation.error_type is not None:  # some say it by an event or a name of their own
        made.status = STATUS_ERROR
        made.status_message = operation.error_message or span.status_message
    if (read := match_dialect(made).dialect) is None or read.name != dialect.name:
        attributes[agentool.DIALECT] = dialect.name
    return made
