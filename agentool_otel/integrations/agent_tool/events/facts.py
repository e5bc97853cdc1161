"""Members of objects that are facts, not content: ids, references, enumerated words, times, counts.

Facts have no content of people, models and tools, so they are kept where content is not. The rule
goes by names, and so applies to unknown members: a member is a fact only if its name shows it.
Everything else is content.

Names are weaker evidence in the data of an event and in references, where a producer may put
anything: words that any payload may have, such as `name`, are content there. And `result` is
inspected only if it is an object of Agent Tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentool_otel.integrations.agent_tool.events.event_objects import HELD, held_type

__all__ = ["facts_of"]

_WORDS = frozenset({
    "abort_reason", "accept", "access_kinds", "agent_card_url", "aliases", "approval_required",
    "at", "attempt", "behavior", "changed_fields", "confidence", "data_sensitivity",
    "defer_loading", "digest", "event_type", "execution_kind", "function_name",
    "hook_event", "interrupt_behavior", "isError", "is_concurrency_safe", "is_destructive",
    "is_enabled", "is_error", "is_open_world", "is_read_only", "lifecycle", "max_inline_chars",
    "max_parallel", "media_type", "method", "mode", "name", "namespace", "network_scope",
    "parallel_tool_calls", "percent", "producer", "recoverability", "redaction_required",
    "requires_user_interaction", "risk_level", "sandbox_profile", "sandboxed",
    "schema_visibility", "scope", "sequence", "server_name", "signal", "source", "state",
    "status", "strategy", "strict", "supports_cancel", "supports_progress", "time", "timestamp",
    "tool_choice", "tool_name", "total_steps", "type", "user_modified", "write_effects",
})  # fmt: skip
_ENDINGS = (
    "_id", "_ids", "_at", "_ms", "_bytes", "_count", "_state", "_status", "_version", "_class",
    "_code", "_kind", "_type", "_policy", "_after",
)  # fmt: skip
_REFERENCES = ("_ref", "_refs")
_HOLDERS = frozenset({
    "blocked_tools", "cancellation", "data", "deferred_tools", "error", "excluded_tools",
    "external_mapping", "external_mappings", "loaded_tools", "pending_classifier_check",
    "permission_result", "reason", "scheduler", "status_transitions", "stop", "threshold",
})  # fmt: skip
"""Objects, and lists of objects, whose members are looked at in turn."""
_OF_ANYTHING = frozenset({
    "accept", "method", "mode", "name", "namespace", "producer", "scope", "signal", "source",
    "state", "status", "type",
})  # fmt: skip
"""Words that are content in the data of an event, and in a reference."""
_MORE: Mapping[str, frozenset[str]] = {
    "status_transitions": frozenset({"from", "to"}),
    "blocked_tools": frozenset({"reason"}),
    "excluded_tools": frozenset({"reason"}),
    "deferred_tools": frozenset({"reason"}),
    "reference": frozenset({"href", "uri", "url"}),
}
"""Words that are facts in some holders only."""

_LISTS = frozenset({"blocked_tools", "deferred_tools", "excluded_tools", "loaded_tools"})
"""Holders that may list ids instead of objects."""

_Object = Mapping[str, Any]


def facts_of(members: _Object, holder: str = "", *, of_anything: bool = False) -> dict[str, Any]:
    """Return an object with nothing but its facts.

    Args:
        members: the object.
        holder: the member that it is, of an object around it.
        of_anything: whether it is in the data of an event, or in a reference.
    """
    facts: dict[str, Any] = {}
    for name, value in members.items():
        if name.endswith(_REFERENCES):
            fact = _of_reference(value)
        elif _is_word(name, holder, of_anything):
            fact = value if _is_plain(value) else _CONTENT
        elif name in HELD or (name == "data" and held_type(value) is not None):
            fact = _of_held(value)
        elif name in _HOLDERS:
            fact = _of_holder(value, name, of_anything or name == "data")
        else:
            continue
        if fact is not _CONTENT:
            facts[name] = fact
    return facts


_CONTENT = object()
"""Stands for a value that is no fact."""


def _is_word(name: str, holder: str, of_anything: bool) -> bool:
    if name in _WORDS:
        return not (of_anything and name in _OF_ANYTHING)
    return name.endswith(_ENDINGS) or name in _MORE.get(holder, ())


def _of_held(value: Any) -> Any:
    """Return the facts of a possible object; a value that is none is content."""
    cls = held_type(value)
    facts = facts_of(value) if cls is not None else {}
    return facts if cls is not None and held_type(facts) is cls else _CONTENT


def _of_holder(value: Any, name: str, of_anything: bool) -> Any:
    """Return the facts in an object or a list of objects."""
    if isinstance(value, Mapping):
        return facts_of(value, name, of_anything=of_anything)
    if not isinstance(value, (list, tuple)):
        return _CONTENT
    ids = name in _LISTS and not of_anything
    items = [
        facts_of(item, name, of_anything=of_anything) if isinstance(item, Mapping) else item
        for item in value
        if isinstance(item, Mapping) or (ids and isinstance(item, str))
    ]
    return items if len(items) == len(value) else _CONTENT


def _of_reference(value: Any) -> Any:
    """Return the facts in a reference, or in a list of them; one that has its target inline, as
    `data:` does, is content.
    """
    if isinstance(value, Mapping):
        facts = facts_of(value, "reference", of_anything=True)
        return {name: fact for name, fact in facts.items() if not _holds_data(fact)}
    if isinstance(value, (list, tuple)):
        items = [_of_reference(item) for item in value]
        return [item for item in items if item is not _CONTENT]
    return _CONTENT if _holds_data(value) else value


def _holds_data(value: Any) -> bool:
    return isinstance(value, str) and value[:5].lower() == "data:"


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(item is None or isinstance(item, (str, bool, int, float)) for item in value)
    return value is None or isinstance(value, (str, bool, int, float))
