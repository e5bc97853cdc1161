"""Names of Gemini CLI's spans, log records and lines of session files, and what is read from each.

Seen in the records of Gemini CLI 0.61.0 unless a comment names another source.
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

AGENT = "gemini-cli"
PREFIX = "gemini_cli."
SCOPE = "gemini-cli"
FILE = SCOPE + ".session"
"""The scope of what is read from session files, and of the spans that a session is made of."""

SPANS = {
    "user_prompt": "turn",  # `telemetry/constants.ts` of 0.56; no span of it was seen
    "llm_call": "model",
    "tool_call": "tool",
    "schedule_tool_calls": "tool",
    "agent_call": "agent",
}
"""Event of the session that a span is of, by `gen_ai.operation.name`."""

PLUMBING_SPANS = frozenset({"system_prompt"})
"""Spans that are of no event; `telemetry/constants.ts` of 0.56."""

EVENTS = {
    "user_prompt": "turn",
    "loop_detected": "turn",  # `telemetry/types.ts` of 0.56
    "api_request": "model",
    "api_response": "model",
    "api_error": "model",
    "tool_call": "tool",
    "agent.start": "agent",
    "agent.finish": "agent",
}
"""Event of the session that a log record is of, by `event.name`."""

PLUMBING_EVENTS = frozenset({
    "config", "edit_strategy", "file_operation", "gen_ai.client.inference.operation.details",
    "model_routing", "plan.approval_mode_duration", "ripgrep_fallback", "startup_stats",
    # `telemetry/types.ts` of 0.56:
    "agent.recovery_attempt", "chat.content_retry", "chat.content_retry_failure",
    "chat.invalid_chunk", "chat_compression", "conseca.policy_generation", "conseca.verdict",
    "conversation_finished", "edit_correction", "extension_disable", "extension_enable",
    "extension_install", "extension_uninstall", "extension_update", "flash_fallback", "hook_call",
    "ide_connection", "keychain.availability", "kitty_sequence_overflow", "llm_loop_check",
    "loop_detection_disabled", "malformed_json_response", "network_retry_attempt",
    "next_speaker_check", "onboarding.start", "onboarding.success", "plan.approval_mode_switch",
    "plan.execution", "rewind", "slash_command", "slash_command.model",
    "token_storage.initialization", "tool_output_masking", "tool_output_truncated",
    "web_fetch_fallback_attempt",
})  # fmt: skip
"""Log records that are of no event. `operation.details` repeats a request and its response."""

LINES = {
    "user": "turn",
    "gemini": "model",
    "info": None,  # `services/chatRecordingTypes.ts` of 0.56, and the following
    "warning": None,
    "error": None,
}
"""Event of the session that a line of a session file is of, by `type`; None for none."""
