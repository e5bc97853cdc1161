"""Events and the objects in them. An event may hold its object in `data`, by itself or by name. An
object without an event is noted under the name of the event that would report it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agentool_otel.integrations.agent_tool.documents.checking import identify
from agentool_otel.integrations.agent_tool.documents.objects import Event, Versioned
from agentool_otel.semconv import agent_tool as names

__all__ = ["HELD", "Held", "event_name", "held_type", "objects_in"]

Object = Mapping[str, Any]

HELD = (
    "declaration", "tool_declaration", "tool", "interface", "tool_interface", "permission_profile",
    "execution_profile", "scheduler_policy", "surface", "tool_surface", "deferred_tool",
    "invocation", "tool_invocation", "decision", "permission_decision", "hook", "mutation",
    "input_mutation", "progress", "persistence", "result_persistence", "result", "tool_result",
)  # fmt: skip
"""Members of an event's `data` that may be objects, in the order in which they are read."""

_EVENT_NAMES = {
    "ToolDeclaration": "tool.declared",
    "ToolSurface": "tool.surface.created",
    "DeferredTool": "tool.deferred.discovered",
    "PermissionDecision": "tool.permission.decided",
    "Progress": "tool.invocation.progress",
    "ResultPersistence": "tool.result.persisted",
    "Invocation": names.EVENT_INVOCATION,
    "Result": "tool.result.created",
    "InputMutation": names.EVENT_INPUT_MUTATION,
    "ToolInterface": names.EVENT_INTERFACE,
    "ExecutionProfile": names.EVENT_EXECUTION_PROFILE,
    "PermissionProfile": names.EVENT_PERMISSION_PROFILE,
    "SchedulerPolicy": names.EVENT_SCHEDULER_POLICY,
}
"""Event for each kind of object; names that the specification lacks are ours."""


class Held(NamedTuple):
    """An object in an event's `data`."""

    kind: str
    """Its type."""
    name: str | None
    """Of the member that it is; None if it is the whole of `data`."""
    members: Object


def held_type(value: object) -> type[Versioned] | None:
    """Return the type of object that `data`, or a member of it, is; None if it is none."""
    cls = identify(value) if isinstance(value, Mapping) else None
    return None if cls is Event else cls


def objects_in(event: Object) -> Iterator[Held]:
    """Yield the objects that an event holds."""
    data = event.get("data")
    if not isinstance(data, Mapping):
        return
    cls = held_type(data)
    if cls is not None:
        yield Held(cls.__name__, None, data)
        return
    for name in HELD:
        cls = held_type(data.get(name))
        if cls is not None:
            yield Held(cls.__name__, name, data[name])


def event_name(kind: str, members: Object) -> str:
    """Return the name under which an object is noted."""
    if kind == "Hook":
        word = str(members.get("hook_event"))
        when = next((name for name in ("pre", "post") if word.startswith(name)), None)
        if when is None:
            return names.EVENT_HOOK
        return f"tool.hook.{when}.{'completed' if members.get('ended_at') else 'started'}"
    if kind == "DeferredTool" and members.get("loading_state") == "loaded":
        return "tool.deferred.loaded"
    return _EVENT_NAMES[kind]
