"""The words of Agent Tool 0.2.0. All sets are open: any other word is carried."""

from __future__ import annotations

__all__ = [
    "BEHAVIORS",
    "ERROR_CLASSES",
    "EVENT_TYPES",
    "HOOK_EVENTS",
    "LIFECYCLE_STATES",
    "LOADING_STATES",
    "MUTATION_SOURCES",
    "PERSISTENCE_STRATEGIES",
    "PROGRESS_STATUSES",
    "REASON_TYPES",
    "RESULT_STATUSES",
    "RISK_LEVELS",
    "RULE_SOURCES",
    "STATES",
    "TOOL_KINDS",
    "VERSION",
]

VERSION = "0.2.0"

EVENT_TYPES = (
    "tool.declared",
    "tool.surface.created", "tool.surface.updated",
    "tool.deferred.discovered", "tool.deferred.loaded",
    "tool.invocation.planned", "tool.invocation.selected", "tool.invocation.arguments_ready",
    "tool.invocation.validation_failed",
    "tool.hook.pre.started", "tool.hook.pre.completed",
    "tool.permission.requested", "tool.permission.decided",
    "tool.invocation.queued", "tool.invocation.started", "tool.invocation.progress",
    "tool.invocation.partial_result",
    "tool.hook.post.started", "tool.hook.post.completed",
    "tool.result.persisted",
    "tool.invocation.yielded", "tool.invocation.succeeded", "tool.invocation.failed",
    "tool.invocation.canceled", "tool.invocation.timed_out",
    "tool.result.created", "tool.result.redacted",
)  # fmt: skip

STATES = (
    "planned", "selected", "schema_parse_failed", "arguments_ready", "validation_failed",
    "pre_hooks_running", "awaiting_approval", "approved", "denied", "queued", "running",
    "needs_input", "partial_result", "post_hooks_running", "yielded", "succeeded", "failed",
    "canceled", "timed_out", "blocked",
)  # fmt: skip
"""Of an invocation."""

ERROR_CLASSES = (
    "unknown_tool", "invalid_arguments", "schema_validation_failed", "schema_not_loaded",
    "permission_denied", "approval_rejected", "policy_blocked", "hook_blocked", "capability_gap",
    "setup_required", "credential_missing", "sandbox_violation", "timeout", "rate_limited",
    "dependency_unavailable", "execution_failed", "partial_failure", "result_too_large",
    "result_redacted", "sibling_canceled", "streaming_fallback_discarded", "canceled",
)  # fmt: skip

RESULT_STATUSES = (
    "succeeded", "partial_succeeded", "failed", "denied", "rejected", "redacted", "too_large",
    "canceled", "timed_out", "synthetic_error", "discarded",
)  # fmt: skip

TOOL_KINDS = (
    "function", "mcp_tool", "openapi_operation", "native_tool", "browser_action", "shell_command",
    "code_execution", "file_operation", "web_search", "retrieval", "model_task", "skill_tool",
    "peer_agent_tool", "policy_check", "artifact_operation", "evidence_export", "custom",
)  # fmt: skip

LIFECYCLE_STATES = (
    "draft", "available", "disabled", "requires_setup", "deferred", "deprecated", "retired",
)  # fmt: skip

BEHAVIORS = ("allow", "ask", "deny", "passthrough")
"""Of a permission decision."""

REASON_TYPES = (
    "rule", "mode", "policy", "hook", "classifier", "working_dir", "sandbox_override",
    "safety_check", "permission_prompt_tool", "async_agent", "subcommand_results", "other",
)  # fmt: skip
"""Of a permission decision."""

RULE_SOURCES = (
    "user_settings", "project_settings", "local_settings", "flag_settings", "policy_settings",
    "cli_arg", "command", "session",
)  # fmt: skip

HOOK_EVENTS = (
    "pre_tool_use", "post_tool_use", "post_tool_use_failure", "permission_request",
    "permission_decision", "result_persistence",
)  # fmt: skip

MUTATION_SOURCES = ("hook", "permission_prompt", "adapter", "migration", "runtime")

PROGRESS_STATUSES = (
    "queued", "started", "running", "waiting_for_permission", "waiting_for_input", "backgrounded",
    "partial_result", "completed", "failed", "canceled",
)  # fmt: skip

PERSISTENCE_STRATEGIES = (
    "inline", "preview_and_persist", "ref_only", "redact", "drop_with_reason", "never_persist",
)  # fmt: skip

LOADING_STATES = ("loaded", "deferred", "discoverable", "pending_provider", "unavailable")

RISK_LEVELS = ("low", "medium", "high", "critical")
