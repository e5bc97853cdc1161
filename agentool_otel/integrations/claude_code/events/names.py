"""Names of Claude Code's spans, log records and lines of session files, and what is read from each.

Seen in the records of Claude Code 2.1.330 and 2.1.332 unless a comment names another source.
"""

from __future__ import annotations

__all__ = [
    "AGENT",
    "EVENTS",
    "FILE",
    "PLUMBING_EVENTS",
    "PLUMBING_SPANS",
    "PREFIX",
    "SCOPE",
    "SPANS",
    "is_notification",
]

AGENT = "claude-code"
PREFIX = "claude_code."
SCOPE = "com.anthropic.claude_code"
FILE = SCOPE + ".session"
"""The scope of what is read from session files, and of the spans that a session is made of."""

SPANS = {
    "interaction": "turn",
    "llm_request": "model",
    "tool": "tool",
    "tool.execution": "tool",
    "tool.blocked_on_user": "tool",
    "subagent.spawn": "agent",  # its monitoring documentation
}
"""Event of the session that a span is of, by `span.type`."""

PLUMBING_SPANS = frozenset({"hook"})
"""Spans that are of no event."""

EVENTS = {
    "user_prompt": "turn",
    "api_request": "model",
    "api_error": "model",
    "assistant_response": "model",
    "api_request_body": "model",  # its monitoring documentation
    "api_response_body": "model",
    "tool_decision": "tool",
    "tool_result": "tool",
    "subagent_completed": "agent",
}
"""Event of the session that a log record is of, by `event.name`."""

PLUMBING_EVENTS = frozenset({
    "at_mention", "auth", "compaction", "feedback_survey", "hook_execution_complete",
    "hook_execution_start", "hook_plugin_metrics", "hook_registered", "internal_error",
    "managed_settings_resolved", "mcp_server_connection", "permission_mode_changed",
    "plugin_installed", "plugin_loaded", "skill_activated", "system_prompt", "tool",
})  # fmt: skip
"""Log records that are of no event; without those of 2.1.332 from its monitoring documentation."""


def is_notification(words: str) -> bool:
    """Return whether a user message is Claude Code's own, about the end of background work."""
    return words.lstrip().startswith("<task-notification>")
