"""Names of Qwen Code's spans, log records and lines of session files, and what is read from each.

Seen in the records of Qwen Code 0.24.4 unless a comment names another source.
"""

from __future__ import annotations

__all__ = [
    "AGENT",
    "EVENTS",
    "FILE",
    "LINES",
    "PLUMBING_EVENTS",
    "PLUMBING_SPANS",
    "PREFIX",
    "SCOPE",
    "SPANS",
]

AGENT = "qwen-code"
PREFIX = "qwen-code."
SCOPE = "qwen-code"
FILE = SCOPE + ".session"
"""The scope of what is read from session files, and of the spans that a session is made of."""

SPANS = {
    "interaction": "turn",
    "llm_request": "model",
    "tool": "tool",
    "tool.execution": "tool",
    "subagent": "agent",
}
"""Event of the session that a span is of, by its name."""

PLUMBING_SPANS = frozenset({
    "hook",
    "tool.blocked_on_user",  # `telemetry/constants.ts` of 2026-11
})  # fmt: skip
"""Spans that are of no event. A hook's is an error, though the tool succeeds."""

EVENTS = {
    "user_prompt": "turn",
    "api_request": "model",
    "api_response": "model",
    "api_error": "model",
    "api_cancel": "model",  # `telemetry/constants.ts` of 2026-11
    "tool_call": "tool",
    "subagent_execution": "agent",
}
"""Event of the session that a log record is of, by `event.name`."""

PLUMBING_EVENTS = frozenset({
    "auth", "config", "file_operation", "memory.extract", "memory.recall",
    "memory.recall.delivery", "ripgrep_fallback", "session.end", "session.start",
    # `telemetry/constants.ts` of 2026-11:
    "api_retry", "arena_agent_completed", "arena_session_ended", "arena_session_started",
    "chat.content_retry", "chat.content_retry_failure", "chat.invalid_chunk",
    "chat.protocol_tag_sanitized", "chat_compression", "conversation_finished",
    "extension_disable", "extension_enable", "extension_install", "extension_uninstall",
    "extension_update", "flash_fallback", "ide_connection", "malformed_json_response",
    "memory.dream", "memory.migration", "memory.recall_mode_transition", "memory.search",
    "memory.usage", "next_speaker_check", "performance.baseline", "performance.regression",
    "prompt_suggestion", "repeated_tool_failure_guard", "ripgrep_runtime_recovery",
    "skill_launch", "slash_command", "slash_command.model", "speculation",
    "startup.performance", "tool_output_truncated", "user_feedback", "user_retry",
    "workflow_keyword", "workflow_run", "workflow_size_warning",
})  # fmt: skip
"""Log records that are of no event."""

LINES = {
    "user": "turn",
    "assistant": "model",
    "tool_result": "tool",
    "system": None,  # `ui_telemetry` repeats log records: its model calls are read
}
"""Event of the session that a line of a session file is of, by `type`; None for none."""
