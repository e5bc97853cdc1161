"""Values stored in or returned from memory, as records: objects with a `content`.

Spec: `gen-ai-memory-records.json` of the conventions. They have no place for
how a value was wrapped, so `agentool.memory.wrapped` records it, and reading restores the value.
"""

from __future__ import annotations

from typing import Any, cast

from msgspec import UNSET
from msgspec.structs import replace

from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.operations import MemoryOperation
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["EACH", "WHOLE", "read_records", "with_records"]

EACH = "each"
"""The records' contents are the items of a list."""
WHOLE = "whole"
"""The value is the content of the only record; no record means no value."""


def with_records(op: MemoryOperation) -> tuple[MemoryOperation, str | None]:
    """Return an operation with its value as records, and how it was put into them.

    One that has records already keeps them, and its value beside them.
    """
    field = _field(op.operation)
    value = getattr(op, field)
    if op.records is not None or value is UNSET:
        return op, None
    if not op.reads:
        return replace(op, records=[{"content": value}], content=UNSET), WHOLE
    if isinstance(value, list):
        contents = cast("list[object]", value)
        return replace(
            op, records=[{"content": content} for content in contents], results=UNSET
        ), EACH
    records = [] if value is None else [{"content": value}]
    return replace(op, records=records, results=UNSET), WHOLE


def read_records(span: Reader, operation: str, fields: dict[str, Any]) -> None:
    """Put the value that was put into records into its field, in place."""
    how = span.text(agentool.MEMORY_WRAPPED)
    if gen_ai.MEMORY_RECORDS in span.rest:  # no records: what a `redact` hook has made of them
        fields.setdefault(_field(operation), span.json(gen_ai.MEMORY_RECORDS))
    records = fields.get("records")
    if how is None or records is None:
        return
    contents = [_content(record) for record in fields.pop("records")]
    if how == EACH:
        fields[_field(operation)] = contents
    else:
        fields[_field(operation)] = contents[0] if contents else None


def _field(operation: str) -> str:
    return "results" if operation == gen_ai.OP_SEARCH_MEMORY else "content"


def _content(record: Any) -> Any:
    """Return the content of a record. A marker in place of surplus records is returned as it is."""
    if not isinstance(record, dict):
        return record
    members = cast("dict[str, object]", record)
    return members.get("content", members)
