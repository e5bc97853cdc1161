"""Attributes whose dotted names a store took apart into objects, put together again."""

from __future__ import annotations

from functools import cache

from agentool_otel.dialects.guessed import means_content
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import Attributes
from agentool_otel.semconv.table import ATTRIBUTES, RENAMES

__all__ = ["flatten"]

_OTHER_VALUES = frozenset({
    "gen_ai.tool.parameters", "llm.invocation_parameters", "llm.prompt_template.variables",
    "metadata", "tool.parameters", "document.metadata", "input.value", "output.value",
    "traceloop.entity.input", "traceloop.entity.output",
})  # fmt: skip
_WRAPPED = frozenset({
    "message", "message_content", "tool_call", "tool", "document", "embedding", "prompt",
    "completion", "choice",
})  # fmt: skip
"""OpenInference numbers these in names (`llm.input_messages.0.message.role`): a list of objects
that hold one of them and nothing else was a row of numbered names."""


@cache
def _values() -> frozenset[str]:
    """Return the names whose value may be an object itself: where a name ends cannot be seen
    otherwise."""
    objects = {name for name, attribute in ATTRIBUTES.items() if attribute.type == "any"}
    older = {name for name, rename in RENAMES.items() if rename.new in objects}
    return frozenset({*_OTHER_VALUES, *objects, *older, *(f"agentool.{name}" for name in objects)})


def flatten(attributes: Attributes) -> Attributes:
    """Return attributes with dotted names. Those that have dotted names already stay as they are:
    an object among them is a value."""
    if any("." in key for key in attributes) or not any(
        isinstance(value, dict) for value in attributes.values()
    ):
        return attributes
    flat: Attributes = {}
    for key, value in attributes.items():
        _spread(key, value, flat)
    return flat


def _spread(name: str, value: Json, flat: Attributes) -> None:
    if isinstance(value, dict) and value and not _is_value(name, value):
        for key, inner in value.items():
            _spread(f"{name}.{key}", inner, flat)
    elif isinstance(value, list) and value and all(map(_is_wrapped, value)):
        for number, inner in enumerate(value):
            _spread(f"{name}.{number}", inner, flat)
    else:
        flat[name] = value


def _is_value(name: str, value: dict[str, Json]) -> bool:
    """Return whether an object is a value, rather than a group of longer names."""
    if name in _values():
        return True
    return "." not in name and means_content(name) and "value" not in value


def _is_wrapped(item: Json) -> bool:
    return isinstance(item, dict) and len(item) == 1 and not _WRAPPED.isdisjoint(item)
