"""Claude Code's sessions on this machine.

Source: Claude Code 2.1.332; `CLAUDE_CONFIG_DIR` from its documentation of environment variables.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from agentool_otel.reading.sources.session_folder import SessionFolder

__all__ = ["ClaudeCodeSessions"]


class ClaudeCodeSessions(SessionFolder):
    """The source."""

    place = "~/.claude/projects/*/*.jsonl"
    product = "Claude Code"

    @classmethod
    def folder(cls) -> Path:
        return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "projects"

    @classmethod
    def session_files(cls, folder: Path) -> Iterator[Path]:
        yield from folder.glob("*/*.jsonl")
        yield from folder.glob("*/*/subagents/**/*.jsonl")

    @classmethod
    def session_of(cls, file: Path) -> str:
        return file.stem if file.parent.name != "subagents" else file.parent.parent.name
