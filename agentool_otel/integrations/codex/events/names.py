"""Names of Codex' spans, log records and lines of session files, and what is read from each.

Seen in the records of Codex 0.169.0 and 0.171.0.
"""

from __future__ import annotations

__all__ = ["AGENT", "FILE", "LOGS", "PLUMBING_LOGS", "PLUMBING_SPANS", "SCOPES"]

AGENT = "codex"
SCOPES = ("codex_cli_rs", "codex_exec", "codex_")
FILE = "codex_session"
"""The scope of what is read from session files, and of the spans that a session is made of."""

PLUMBING_SPANS = frozenset({
    "auth", "codex.exec", "codex.turn_input", "fs.get_metadata", "fs.read_file",
    "handle_output_item_done", "handle_tool_call_with_source", "load_with_cli_overrides",
    "mcp.tools.call",
    "op.dispatch.turn_input", "receiving_stream", "run_sampling_request",
    "session_task.run", "try_run_sampling_request", "turn/start",
})  # fmt: skip
"""Spans that are of no event.

Those of events are `session_task.turn` and `run_turn`; `handle_responses` with the usage of a model
call; and any span with a `call_id`, below which is one with an event about the outcome,
`dispatch_tool_call_with_state`.
"""

LOGS = {
    "codex.user_prompt": "turn",
    "codex.agent_response": "turn",
    "codex.sse_event": "model",
    "codex.tool_result": "tool",
    "codex.tool_decision": "tool",
}
"""Event of the session that a log record is of. Of an `sse_event`, only the completed response with
token counts; most of its failed requests never come."""

PLUMBING_LOGS = frozenset({
    "codex.api_request", "codex.conversation_starts", "codex.startup_phase", "codex.turn_cost",
    "codex.turn_profile", "codex.turn_ttft",
})  # fmt: skip
"""Log records that are of no event."""
