"""Model calls and tool executions in the plain current conventions, read at once.

Nearly all spans are one of these two, and those of one SDK have the same attributes with values of
the same types. How such a span is read is decided once for all, and written out as one call of the
operation's class; the full reading, `GenAI.read`, would decide it attribute by attribute for each.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import UNSET

from agentool_otel.dialects.gen_ai.fields import TABLES
from agentool_otel.dialects.gen_ai.older_names import is_older
from agentool_otel.dialects.kit.dialect import Shape
from agentool_otel.dialects.kit.reading import (
    PLACEHOLDERS,
    Reader,
    array,
    lazy_json,
    lazy_messages,
    lazy_objects,
    messages,
    texts,
)
from agentool_otel.model.operations import Inference, Operation, ToolExecution, Usage
from agentool_otel.model.spans import STATUS_ERROR, SpanRecord
from agentool_otel.semconv import agentool, core, gen_ai, mcp

__all__ = ["PlainReader"]

_CLASSES: dict[str, type[Operation]] = {
    "chat": Inference,
    "generate_content": Inference,
    "text_completion": Inference,
    "execute_tool": ToolExecution,
}
_NEED_A_LOOK = frozenset(
    {mcp.METHOD_NAME, core.ERROR_TYPE, gen_ai.USAGE_TOTAL_TOKENS, agentool.TOOL_WRAPPED}
)
"""With one of these a span is not plain."""
_BARE = frozenset({"input", "output", "input.value", "output.value"})
"""Names of no generation that may be a tool's arguments and result."""
_REWRITTEN = frozenset({gen_ai.SYSTEM_INSTRUCTIONS, gen_ai.INPUT_MESSAGES, gen_ai.OUTPUT_MESSAGES})
"""Attributes whose values the full reading may reshape even where the operation has no use for
them.
"""
_OTHERWISE: dict[tuple[Any, type], Callable[[Any], Any]] = {
    (Reader.lazy_json, str): lazy_json,
    (Reader.lazy_array, str): lazy_objects,
    (Reader.lazy_messages, str): lazy_messages,
    (Reader.array, str): array,
    (Reader.messages, str): messages,
    (Reader.texts, list): texts,
}
"""Readers of single values, by the reader that would need the whole span."""
_MANY = 64
"""Most sets of value types that are remembered per shape."""
_NOT_YET: Any = object()
"""Stands for a plan that is made at its second use: many shapes occur only once."""


class _Plan(NamedTuple):
    """Steps that turn a span of one shape, operation and set of types into an operation."""

    make: Callable[..., Operation]
    """Takes the values of all attributes, in their order."""
    plain: Callable[[tuple[Any, ...]], tuple[Any, ...]]
    """Gets those of them that are taken as they are, and may be placeholders."""
    read: tuple[str, ...]
    """Fields of the others; one that turns out UNSET leaves the span to `GenAI`."""


class PlainReader:
    """Reads spans of one shape."""

    def __init__(self, shape: Shape):
        self._keys = shape[1:]
        self._placeholders = (
            frozenset[str]() if shape[0].startswith("agentool_otel") else PLACEHOLDERS
        )
        self._plans: dict[tuple[Any, ...], _Plan | None] = {}

    @classmethod
    def of(cls, shape: Shape) -> PlainReader | None:
        keys = shape[1:]
        if gen_ai.OPERATION_NAME not in keys or not _NEED_A_LOOK.isdisjoint(keys):
            return None
        return None if any(is_older(key) for key in keys) else cls(shape)

    def __call__(self, span: SpanRecord) -> Operation | None:
        if span.events or span.status == STATUS_ERROR:
            return None
        attributes = span.attributes
        values = tuple(attributes.values())
        signature = (attributes[gen_ai.OPERATION_NAME], *map(type, values))
        try:
            plan = self._plans[signature]
        except KeyError:
            if len(self._plans) < _MANY:
                self._plans[signature] = _NOT_YET
            return None
        except TypeError:  # an operation that is no text
            return None
        if plan is _NOT_YET:
            plan = self._plans[signature] = _plan(self._keys, signature[0], signature[1:])
        if plan is None:
            return None
        make, plain, read = plan
        if self._placeholders and not self._placeholders.isdisjoint(plain(values)):
            return None
        operation = make(*values)
        for field in read:
            if getattr(operation, field) is UNSET:
                return None
        return operation


def _plan(keys: tuple[str, ...], operation: str, types: tuple[type, ...]) -> _Plan | None:
    cls = _CLASSES.get(operation)
    if cls is None:
        return None
    table = TABLES[cls]
    fields: dict[str, str] = {}
    usage: dict[str, str] = {}
    extra: dict[str, str] = {}
    readings: dict[str, Callable[[Any], Any]] = {}
    plain: list[int] = []
    read: list[str] = []
    for n, (key, kind) in enumerate(zip(keys, types, strict=True)):
        entry = table.get(key)
        if key == gen_ai.OPERATION_NAME:
            if cls is Inference:
                fields["operation"] = f"v{n}"
        elif entry is None:
            if key in _REWRITTEN:
                return None
            extra[key] = f"v{n}"
        elif kind is entry.plain:
            (usage if entry.of_usage else fields)[entry.name] = f"v{n}"
            plain.append(n)
        elif (reading := _OTHERWISE.get((entry.read, kind))) is not None:
            fields[entry.name] = f"r{n}(v{n})"
            readings[f"r{n}"] = reading
            read.append(entry.name)
        else:
            return None
    if cls is ToolExecution and ("name" not in fields or not _BARE.isdisjoint(extra)):
        return None
    if usage:
        fields["usage"] = f"Usage({_field_list(usage)})"
    if extra:
        fields["extra"] = "{" + ", ".join(f"{key!r}: {value}" for key, value in extra.items()) + "}"
    values = ", ".join(f"v{n}" for n in range(len(keys)))
    make = eval(
        f"lambda {values}: make({_field_list(fields)})", {"make": cls, "Usage": Usage, **readings}
    )
    return _Plan(make, _getter(plain), tuple(read))


def _field_list(fields: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in fields.items())


def _getter(places: list[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return a function that gets the values at some places, always as a tuple."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple(values[place] for place in places)
