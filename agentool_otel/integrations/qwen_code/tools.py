"""The tools of Qwen Code that run commands and change files."""

from __future__ import annotations

from agentool_otel.dialects.kit.agent_tools import AgentTools

__all__ = ["TOOLS"]

TOOLS = AgentTools(
    commands=(("run_shell_command", "command"),),
    edits=tuple((name, "file_path") for name in ("replace", "edit", "write_file")),
    exit_codes=(("run_shell_command", r"^Exit Code: (-?\d+)\b"),),
)
