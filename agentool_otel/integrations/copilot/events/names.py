"""Names of Copilot CLI's spans and lines of session files, and what is read from each.

Seen in the records of Copilot CLI 1.0.102 unless a comment names another source. It sends no logs.
"""

from __future__ import annotations

__all__ = ["FILE", "INTERACTION", "LINES", "PARENT_CALL", "PLUMBING_LINES", "PLUMBING_SPANS",
           "SCOPE", "SPANS", "SUB_AGENT"]  # fmt: skip

SCOPE = "github.copilot"
FILE = SCOPE + ".session"
"""The scope of what is read from session files, and of the spans that a session is made of."""

INTERACTION = "github.copilot.interaction_id"
"""Attribute with the id of a turn."""
SUB_AGENT = "github.copilot.agent_id"
"""Attribute with the id of a sub-agent, as session files have it."""
PARENT_CALL = "github.copilot.parent_tool_call_id"
"""Attribute with the id of the tool call that started a sub-agent."""

SPANS = {
    "invoke_agent": "turn",  # or a sub-agent, below a tool
    "chat": "model",
    "execute_tool": "tool",
}
"""Event of the session that a span is of, by `gen_ai.operation.name`."""

PLUMBING_SPANS = frozenset({"permission"})
"""Names of spans that are of no event; this one is of earlier versions."""

LINES = {
    "user.message": "turn",  # or a sub-agent's prompt
    "session.error": "turn",
    "session.usage_record": "model",
    "assistant.message": "model",
    "tool.execution_start": "tool",
    "tool.execution_complete": "tool",
    "subagent.started": "agent",
    "subagent.completed": "agent",
    "subagent.failed": "agent",  # events of the Copilot SDK
}
"""Event of the session that a line is of, by `type`."""

PLUMBING_LINES = frozenset({
    "assistant.turn_end", "assistant.turn_start", "session.model_change", "session.resume",
    "session.shutdown", "session.start", "subagent.configured", "system.message",
})  # fmt: skip
"""Lines that are of no event. A model's turn is a part of the user's. The first line of a file has
the id of the session."""
