"""Convert objects to attributes and back: their facts, and the difference from the whole.

    facts     JSON of the object with nothing but its facts
    content   the patch that makes of these the whole object

Both are masked. What is read of attributes that were shortened, or left out, is less than was
written: the facts alone, where the content is no JSON any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentool_otel.content.masking.credentials import masked
from agentool_otel.ground.json_codec import canonical, loads
from agentool_otel.ground.json_difference import apply, patch
from agentool_otel.integrations.agent_tool.events.facts import facts_of
from agentool_otel.semconv import agent_tool as names
from agentool_otel.semconv.table import ATTRIBUTES

__all__ = ["object_in", "object_on", "put_object", "typed_attributes"]

Attributes = dict[str, Any]
_PLACES = {
    "Invocation": (names.INVOCATION_FACTS, names.INVOCATION_CONTENT),
    "Result": (names.RESULT_FACTS, names.RESULT_CONTENT),
}
_ANY_OTHER = (names.OBJECT_FACTS, names.OBJECT_CONTENT)

_LABELS: Mapping[str, Mapping[str, str]] = {
    "Invocation": {
        "invocation_id": names.INVOCATION_ID,
        "tool_id": names.TOOL_ID,
        "surface_id": names.SURFACE_ID,
    },
    "Result": {
        "result_id": names.RESULT_ID,
        "status": names.RESULT_STATUS,
        "is_error": names.RESULT_IS_ERROR,
        "redaction_state": names.RESULT_REDACTION_STATE,
    },
    "PermissionDecision": {
        "behavior": names.PERMISSION_BEHAVIOR,
        "source": names.PERMISSION_SOURCE,
    },
    "Progress": {"sequence": names.PROGRESS_SEQUENCE, "status": names.PROGRESS_STATUS},
    "ResultPersistence": {"strategy": names.PERSISTENCE_STRATEGY},
    "InputMutation": {"source_type": names.MUTATION_SOURCE},
}
"""Members that have attributes of their own as well, to look for spans by."""


def put_object(kind: str, members: Mapping[str, Any], *, content: bool) -> Attributes:
    """Return the attributes that an object is written as.

    Args:
        kind: its type, such as `Hook`.
        members: the object, without what must not leave.
        content: whether it is to have more than its facts.
    """
    attributes: Attributes = {}
    if kind == "Invocation":
        for member, name in names.INPUTS.items():
            if content and member in members:
                attributes[name] = masked(canonical(members[member]))
        members = {name: member for name, member in members.items() if name not in names.INPUTS}
    facts = facts_of(members)
    of_facts, of_content = _PLACES.get(kind, _ANY_OTHER)
    attributes[of_facts] = masked(canonical(facts))
    if content and (difference := patch(facts, members)):
        attributes[of_content] = masked(canonical(difference))
    if of_facts is names.OBJECT_FACTS:
        attributes[names.OBJECT_KIND] = kind
    attributes.update(labels_of(kind, members))
    return attributes


def labels_of(kind: str, members: Mapping[str, Any]) -> Attributes:
    """Return the attributes to look for an object by."""
    label_names = _LABELS.get(kind, {})
    labels = {name: members.get(member) for member, name in label_names.items()}
    reason = members.get("reason")
    if kind == "PermissionDecision" and isinstance(reason, Mapping):
        labels[names.PERMISSION_REASON] = reason.get("type")
    return typed_attributes(labels)


def typed_attributes(labels: Mapping[str, Any]) -> Attributes:
    """Return attributes whose values are of their types, masked; a value of another type is in its
    object alone."""
    attributes = {name: _AS[ATTRIBUTES[name].type](value) for name, value in labels.items()}
    return {name: value for name, value in attributes.items() if value is not None}


def _text(value: Any) -> str | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return masked(value) if isinstance(value, str) else None


def _texts(value: Any) -> list[str] | None:
    return [masked(item) for item in value] if value else None


def _number(value: Any) -> int | float | None:
    if isinstance(value, float):
        return value
    fits = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
    return value if fits else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


_AS: Mapping[str, Callable[[Any], Any]] = {
    "s": _text, "s[]": _texts, "i": _number, "d": _number, "any": _number, "b": _flag,
}  # fmt: skip
"""Of each type of attribute, what a value is as one."""


def object_on(kind: str, attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the Invocation or the Result of a span; None if it has none."""
    of_facts, of_content = _PLACES[kind]
    obj = _join(attributes, of_facts, of_content)
    if obj is None or kind != "Invocation":
        return obj
    for member, name in names.INPUTS.items():
        if isinstance(text := attributes.get(name), str):
            try:
                obj[member] = loads(text)
            except ValueError:  # shortened
                continue
    return obj


def object_in(attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the object of a span event; None if it has none."""
    return _join(attributes, *_ANY_OTHER)


def _join(attributes: Mapping[str, Any], of_facts: str, of_content: str) -> dict[str, Any] | None:
    facts = _object(attributes.get(of_facts))
    if facts is None:
        return None
    content = _object(attributes.get(of_content))
    return facts if content is None else apply(facts, content)


def _object(text: Any) -> dict[str, Any] | None:
    if not isinstance(text, str):
        return None
    try:
        value = loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
