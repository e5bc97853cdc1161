"""Which members of an object are facts: ids, references, words, times, counts.

They say what happened and nothing of what people, models and tools said, so that they are kept
where content is not. The rule goes by names, and so holds for members that nobody knows yet: a
member is a fact only if its name says so. Whatever is left is content.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["facts_of"]

_WORDS = frozenset({
    "abort_reason", "accept", "access_kinds", "agent_card_url", "aliases", "approval_required",
    "at", "attempt", "behavior", "changed_fields", "confidence", "data_sensitivity",
    "defer_loading", "digest", "event_type", "execution_kind", "from", "function_name",
    "hook_event", "interrupt_behavior", "isError", "is_concurrency_safe", "is_destructive",
    "is_enabled", "is_error", "is_open_world", "is_read_only", "lifecycle", "max_inline_chars",
    "max_parallel", "media_type", "method", "mode", "name", "namespace", "network_scope",
    "parallel_tool_calls", "percent", "producer", "recoverability", "redaction_required",
    "requires_user_interaction", "risk_level", "sandbox_profile", "sandboxed",
    "schema_visibility", "scope", "sequence", "server_name", "signal", "source", "state",
    "status", "strategy", "strict", "supports_cancel", "supports_progress", "time", "timestamp",
    "to", "tool_choice", "tool_name", "total_steps", "type", "user_modified", "write_effects",
})  # fmt: skip
_ENDINGS = (
    "_id", "_ids", "_at", "_ms", "_bytes", "_count", "_state", "_status", "_version", "_class",
    "_code", "_kind", "_type", "_policy", "_after",
)  # fmt: skip
_REFERENCES = ("_ref", "_refs")
_HOLDERS = frozenset({
    "blocked_tools", "cancellation", "data", "declaration", "decision", "deferred_tool",
    "deferred_tools", "error", "excluded_tools", "external_mapping", "external_mappings", "hook",
    "input_mutation", "invocation", "loaded_tools", "mutation", "pending_classifier_check",
    "permission_decision", "permission_result", "persistence", "progress", "reason", "result",
    "result_persistence", "scheduler", "status_transitions", "stop", "surface", "threshold",
    "tool_declaration", "tool_surface",
})  # fmt: skip
"""Objects, and lists of objects, whose members are looked at in turn."""
_REASONED = frozenset({"blocked_tools", "excluded_tools", "deferred_tools"})
"""Lists in which `reason` is a word that machines read."""

_Object = Mapping[str, Any]


def facts_of(members: _Object, *, reasoned: bool = False) -> dict[str, Any]:
    """Return an object with nothing but its facts.

    Args:
        members: the object.
        reasoned: whether its `reason` is a word.
    """
    kept: dict[str, Any] = {}
    for name, value in members.items():
        if name.endswith(_REFERENCES):
            kept[name] = value
        elif name in _WORDS or name.endswith(_ENDINGS) or (reasoned and name == "reason"):
            if _is_plain(value):
                kept[name] = value
        elif name in _HOLDERS:
            inner = _held(value, name in _REASONED)
            if inner is not None:
                kept[name] = inner
    return kept


def _held(value: Any, reasoned: bool) -> Any:
    """Return the facts in an object or a list of objects; None for anything else."""
    if isinstance(value, Mapping):
        return facts_of(value, reasoned=reasoned)
    if not isinstance(value, (list, tuple)):
        return None
    items = [_held(it, reasoned) if isinstance(it, Mapping) else it for it in value]
    return items if all(isinstance(it, Mapping) or _is_plain(it) for it in items) else None


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(it is None or isinstance(it, (str, bool, int, float)) for it in value)
    return value is None or isinstance(value, (str, bool, int, float))
