"""The tools of opencode that run commands and change files."""

from __future__ import annotations

from agentool_otel.dialects.kit.agent_tools import AgentTools

__all__ = ["TOOLS"]

TOOLS = AgentTools(
    commands=(("bash", "command"),),
    edits=(
        *((name, "filePath") for name in ("edit", "write")),
        *((name, "patchText") for name in ("patch", "apply_patch")),
    ),
)
