"""The objects of Agent Tool 0.2.0, member for member.

As with the documents of agentool, a member that was not there is `UNSET`, one that was null is
None, and what the specification does not know is kept in `extra`. An object can be read with little
more than its identity, as some published examples have it; `REQUIRES` lists what the specification
requires beyond that, and whoever writes an object writes it.
"""

from __future__ import annotations

from agentool_otel.integrations.agent_tool.documents.calls import (
    Event,
    Hook,
    InputMutation,
    Invocation,
    PermissionDecision,
    Progress,
    Result,
    ResultPersistence,
    ToolError,
)
from agentool_otel.integrations.agent_tool.documents.common import (
    OpenObject,
    TelemetryRef,
    Versioned,
)
from agentool_otel.integrations.agent_tool.documents.tools import (
    DeferredTool,
    ExecutionProfile,
    PermissionProfile,
    SchedulerPolicy,
    ToolDeclaration,
    ToolInterface,
    ToolSurface,
)

__all__ = [
    "OBJECTS",
    "DeferredTool",
    "Event",
    "ExecutionProfile",
    "Hook",
    "InputMutation",
    "Invocation",
    "OpenObject",
    "PermissionDecision",
    "PermissionProfile",
    "Progress",
    "Result",
    "ResultPersistence",
    "SchedulerPolicy",
    "TelemetryRef",
    "ToolDeclaration",
    "ToolError",
    "ToolInterface",
    "ToolSurface",
    "Versioned",
]

OBJECTS: tuple[type[Versioned], ...] = (
    ToolDeclaration,
    ToolInterface,
    ExecutionProfile,
    PermissionProfile,
    DeferredTool,
    ToolSurface,
    SchedulerPolicy,
    Invocation,
    PermissionDecision,
    Hook,
    InputMutation,
    Progress,
    Result,
    ResultPersistence,
    Event,
)
"""The objects that are exchanged by themselves; each has a schema file."""
