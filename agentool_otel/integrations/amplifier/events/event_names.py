"""The events of the kernel, and of modules that announce theirs.

Source: `amplifier_core.events.ALL_EVENTS` at 2.0.2; delegate:* of amplifier-foundation's delegate
tool, task:* of its task tool before that.
"""

from __future__ import annotations

__all__ = ["DELTAS", "KERNEL", "MODULES", "WATCHED"]

KERNEL = (
    "session:start", "session:end", "session:fork", "session:resume",
    "prompt:submit", "prompt:complete",
    "plan:start", "plan:end",
    "provider:request", "provider:response", "provider:retry", "provider:error",
    "provider:throttle", "provider:tool_sequence_repaired", "provider:resolve",
    "llm:request", "llm:response",
    "content_block:start", "content_block:delta", "content_block:end",
    "thinking:delta", "thinking:final",
    "tool:pre", "tool:post", "tool:error",
    "context:pre_compact", "context:post_compact", "context:compaction", "context:include",
    "orchestrator:complete", "execution:start", "execution:end",
    "user:notification",
    "artifact:write", "artifact:read",
    "policy:violation", "approval:required", "approval:granted", "approval:denied",
    "cancel:requested", "cancel:completed",
    "module:on_session_ready_failed", "module:load_failed",
)  # fmt: skip

MODULES = (
    "delegate:agent_spawned", "delegate:agent_resumed", "delegate:agent_completed",
    "delegate:agent_cancelled", "delegate:error",
    "task:agent_spawned", "task:agent_resumed", "task:agent_completed",
)  # fmt: skip
"""Sent by modules that are part of most bundles."""

DELTAS = frozenset({"content_block:start", "content_block:delta", "thinking:delta"})
"""Pieces of what another event brings whole: left alone, a stream has thousands of them."""

WATCHED = tuple(name for name in (*KERNEL, *MODULES) if name not in DELTAS)
"""Events that a hook registers for. There is no wildcard."""
