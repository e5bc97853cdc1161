"""Copilot CLI's sessions on this machine.

Source: Copilot CLI 1.0.102; `COPILOT_HOME` from microsoft/vscode pull request 314917.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from agentool_otel.reading.sources.session_folder import SessionFolder

__all__ = ["CopilotSessions"]


class CopilotSessions(SessionFolder):
    """The source."""

    place = "~/.copilot/session-state/*/events.jsonl"
    product = "Copilot CLI"

    @classmethod
    def folder(cls) -> Path:
        return Path(os.environ.get("COPILOT_HOME") or Path.home() / ".copilot") / "session-state"

    @classmethod
    def session_files(cls, folder: Path) -> Iterator[Path]:
        yield from folder.glob("*/events.jsonl")

    @classmethod
    def session_of(cls, file: Path) -> str:
        return file.parent.name
