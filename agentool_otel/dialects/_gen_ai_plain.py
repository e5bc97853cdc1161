"""Model calls and tool executions in the plain current conventions, read at once.

Nearly all spans are one of these two, and those of one SDK have the same attributes with values of
the same types. How such a span is read is decided once for all; the full reading, `GenAI.read`,
would decide it attribute by attribute for each.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import UNSET

from agentool_otel.dialects._dialect import Shape
from agentool_otel.dialects._gen_ai_fields import TABLES
from agentool_otel.dialects._gen_ai_older import is_older
from agentool_otel.dialects._reading import (
    PLACEHOLDERS,
    Reader,
    array,
    deferred_json,
    deferred_messages,
    deferred_objects,
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
_BARE = frozenset({"input", "output"})
"""Names of no generation that may be a tool's arguments and result."""
_OTHERWISE: dict[tuple[Any, type], Callable[[Any], Any]] = {
    (Reader.deferred_json, str): deferred_json,
    (Reader.deferred_array, str): deferred_objects,
    (Reader.deferred_messages, str): deferred_messages,
    (Reader.array, str): array,
    (Reader.messages, str): messages,
    (Reader.texts, list): texts,
}
"""How a value of a type is read by itself, by how it is read from among its span's attributes."""
_MANY = 64
"""How many different sets of types one shape is remembered with."""


class _Plan(NamedTuple):
    """How a span of one shape, operation and set of types becomes an operation."""

    make: Callable[..., Operation]
    names: tuple[str, ...]
    """Of the fields that take the value of an attribute as it is."""
    values: Callable[[Any], tuple[Any, ...]]
    """Gets these values from the attributes."""
    usage: tuple[str, ...]
    tokens: Callable[[Any], tuple[Any, ...]]
    others: tuple[tuple[str, str, Callable[[Any], Any]], ...]
    """Field, attribute and reading of what is not taken as it is; UNSET leaves it to `GenAI`."""
    rest: tuple[str, ...]
    """Attributes that no field takes."""


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
        attributes = span.attributes
        if span.events or span.status == STATUS_ERROR:
            return None
        values = attributes.values()
        said = (attributes[gen_ai.OPERATION_NAME], *map(type, values))
        try:
            plan = self._plans[said]
        except KeyError:
            plan = self._planned(said)
        except TypeError:  # an operation that is no text
            return None
        if plan is None:
            return None
        make, names, get, usage, tokens, others, rest = plan
        taken = get(attributes)
        if not self._placeholders.isdisjoint(taken):
            return None
        fields: dict[str, Any] = dict(zip(names, taken, strict=True))
        if usage:
            fields["usage"] = Usage(**dict(zip(usage, tokens(attributes), strict=True)))
        for field, key, read in others:
            value = read(attributes[key])
            if value is UNSET:
                return None
            fields[field] = value
        if rest:
            fields["extra"] = {key: attributes[key] for key in rest}
        return make(**fields)

    def _planned(self, said: tuple[Any, ...]) -> _Plan | None:
        if len(self._plans) >= _MANY:
            return None
        self._plans[said] = plan = _plan(self._keys, said[0], said[1:])
        return plan


def _plan(keys: tuple[str, ...], operation: str, types: tuple[type, ...]) -> _Plan | None:
    cls = _CLASSES.get(operation)
    if cls is None:
        return None
    table = TABLES[cls]
    fields = {"operation": gen_ai.OPERATION_NAME} if cls is Inference else {}
    usage: dict[str, str] = {}
    others: list[tuple[str, str, Callable[[Any], Any]]] = []
    rest: list[str] = []
    for key, kind in zip(keys, types, strict=True):
        entry = table.get(key)
        if entry is not None and kind is entry.plain:
            (usage if entry.of_usage else fields)[entry.name] = key
        elif entry is not None:
            read = _OTHERWISE.get((entry.read, kind))
            if read is None:
                return None
            others.append((entry.name, key, read))
        elif key != gen_ai.OPERATION_NAME:
            rest.append(key)
    if cls is ToolExecution and ("name" not in fields or not _BARE.isdisjoint(rest)):
        return None
    return _Plan(
        cls, tuple(fields), _getter(fields), tuple(usage), _getter(usage), tuple(others),
        tuple(rest),
    )  # fmt: skip


def _getter(fields: dict[str, str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what gets the values of the fields, as a tuple however many they are."""
    keys = list(fields.values())
    if not keys:
        return lambda _: ()
    if len(keys) == 1:
        (key,) = keys
        return lambda attributes: (attributes[key],)
    return itemgetter(*keys)
