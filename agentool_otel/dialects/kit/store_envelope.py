"""Spans that a store has wrapped in attributes of its own; the vocabulary inside is richer.

A trace store that takes OpenTelemetry spans of any vocabulary adds its own names (the type it
assigned, the input and output it extracted) and keeps the original ones, or removes some of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from agentool_otel.dialects.kit.dialect import SHARED_ROLE, match_dialect
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.operations import (
    UNSET,
    AgentInvocation,
    Embeddings,
    Inference,
    Operation,
    Retrieval,
    ToolExecution,
    Unclassified,
    WorkflowInvocation,
)

_NAMES = ("agent_name", "workflow_name")
"""Fields that a store fills with the span's name if they are missing."""

__all__ = ["ReadOwn", "read_around"]

_OPERATIONS: dict[type, str] = {
    Inference: "chat",
    Embeddings: "embeddings",
    ToolExecution: "execute_tool",
    AgentInvocation: "invoke_agent",
    WorkflowInvocation: "invoke_workflow",
    Retrieval: "retrieval",
}

ReadOwn = Callable[[Reader, "str | None"], Operation]
"""Reads the store's own attributes: as the operation of this `gen_ai.operation.name`, as the one
they name themselves (None), or as that one without any guessing ("")."""


def read_around(span: Reader, prefixes: tuple[str, ...], read_own: ReadOwn) -> Operation:
    """Read a span by the vocabulary inside, and fill its gaps by the store's own attributes.

    Args:
        span: the span.
        prefixes: how the store's own names begin.
        read_own: reads those.
    """
    attributes = {key: value for key, value in span.rest.items() if not key.startswith(prefixes)}
    inner = _read_inside(span, attributes)
    if inner is None:
        return read_own(span, None)
    outside = {key: value for key, value in span.rest.items() if key.startswith(prefixes)}
    operation = _OPERATIONS.get(type(inner), "")
    outer = read_own(Reader(span.span, outside), operation)
    if isinstance(inner, Unclassified) and not isinstance(outer, Unclassified):
        return msgspec.structs.replace(outer, extra={**inner.extra, **outer.extra})
    return _fill_gaps(inner, outer)


def _read_inside(span: Reader, attributes: dict[str, Any]) -> Operation | None:
    if not attributes:
        return None
    record = msgspec.structs.replace(span.span, attributes=attributes)
    match = match_dialect(record)
    if match.dialect is None or match.confidence.level < SHARED_ROLE:
        return None
    return match.dialect.read(Reader(record))


def _fill_gaps(inner: Operation, outer: Operation) -> Operation:
    """Return the inner reading, with gaps filled from the outer one."""
    changes: dict[str, Any] = {"extra": {**inner.extra, **outer.extra}}
    theirs = set(outer.__struct_fields__)
    for field in inner.__struct_fields__:
        unknown = getattr(inner, field) in (None, UNSET) and field not in _NAMES
        if unknown and field in theirs and getattr(outer, field) not in (None, UNSET):
            changes[field] = getattr(outer, field)
    if isinstance(inner, ToolExecution) and inner.name == "unknown":
        changes["name"] = getattr(outer, "name", inner.name)
    return msgspec.structs.replace(inner, **changes)
