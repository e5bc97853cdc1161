"""Identify the type of a JSON object, and list its problems.

As with the documents of agentool, an error means that it cannot be read. A warning means that it
can, losing nothing, but lacks what the specification requires, or is of another version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentool_otel.errors import DecodeError
from agentool_otel.integrations.agent_tool.documents import objects as o
from agentool_otel.integrations.agent_tool.documents.vocabulary import VERSION
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import UNSET
from agentool_otel.model.times import to_ns
from agentool_otel.model.validation import Finding

__all__ = ["findings", "identify", "read"]

_SIGNS: tuple[tuple[type[o.Versioned], tuple[frozenset[str], ...]], ...] = tuple(
    (cls, tuple(frozenset(names.split()) for names in alternatives))
    for cls, alternatives in (
        (o.Event, ("event_type", "event_id time")),
        (o.ResultPersistence, ("strategy decision_id", "strategy invocation_id")),
        (o.PermissionDecision, ("behavior", "decision_id decided_at")),
        (o.Progress, ("progress_id", "invocation_id sequence")),
        (o.InputMutation, ("mutation_id",)),
        (o.Hook, ("hook_id", "hook_event")),
        (o.Result, ("result_id",)),
        (o.ToolSurface, ("surface_id scope", "loaded_tools")),
        (o.Invocation, ("invocation_id tool_id", "invocation_id status")),
        (o.ToolInterface, ("interface_id",)),
        (o.DeferredTool, ("tool_id loading_state",)),
        (o.ToolDeclaration, ("tool_id name", "tool_id tool_kind")),
        (o.SchedulerPolicy, ("scheduler_policy_id",)),
        (o.ExecutionProfile, ("execution_profile_id",)),
        (o.PermissionProfile, ("permission_profile_id",)),
    )
)
"""Members by which each object is recognised, the most specific first."""

_TIMES = frozenset({
    "created_at", "started_at", "ended_at", "decided_at", "expires_at", "timestamp", "time",
})  # fmt: skip


def identify(data: Mapping[str, Any]) -> type[o.Versioned] | None:
    """Return the type of object a JSON object is meant to be, by its members; None if none."""
    members = data.keys()
    for cls, alternatives in _SIGNS:
        if any(names <= members for names in alternatives):
            return cls
    return None


def read(
    data: Mapping[str, Any] | o.Versioned, cls: type[o.Versioned] | None = None
) -> o.Versioned:
    """Return a JSON object as the object it is.

    Args:
        data: the JSON object, or an object already.
        cls: what it must be; by default what `identify` makes of it.

    Raises:
        DecodeError: it is none, or not what it must be; with path, expected and found.
    """
    if isinstance(data, o.Versioned) and cls in (None, type(data)):
        return data
    if not isinstance(data, Mapping):
        raise DecodeError("an object of Agent Tool", type(data).__name__)
    kind = cls or identify(data)
    if kind is None:
        names = ", ".join(signs[0].__name__ for signs in _SIGNS)
        raise DecodeError(f"an object of Agent Tool ({names})", "none of these")
    return decode(kind, data)


def findings(data: Mapping[str, Any], cls: type[o.Versioned] | None = None) -> list[Finding]:
    """Return the problems of an object: one error, or any number of warnings.

    Args:
        data: the JSON object.
        cls: what it must be; by default what `identify` makes of it.
    """
    try:
        return list(_warnings(read(data, cls)))
    except DecodeError as error:
        return [Finding("error", error.path, f"expected {error.expected}, got {error.actual}")]


def _warnings(versioned: o.Versioned) -> Iterator[Finding]:
    for name in versioned.REQUIRES:
        if getattr(versioned, name) in (UNSET, None):
            yield Finding("warning", f"$.{name}", "expected a value: it is required, got none")
    version = versioned.schema_version
    if isinstance(version, str) and version != VERSION:
        yield Finding("warning", "$.schema_version", f"expected {VERSION!r}, got {version!r}")
    for name in versioned.__struct_fields__:
        text = getattr(versioned, name) if name in _TIMES else None
        if isinstance(text, str) and to_ns(text) is None:
            yield Finding("warning", f"$.{name}", f"expected an RFC 3339 time, got {text!r}")
