"""Codex' sessions on this machine.

Source: Codex 0.171.0; `CODEX_HOME` from its documentation of environment variables.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from agentool_otel.reading.sources.session_folder import SessionFolder

__all__ = ["CodexSessions"]


class CodexSessions(SessionFolder):
    """The source."""

    place = "~/.codex/sessions/Y/M/D/rollout-*.jsonl"
    product = "Codex"

    @classmethod
    def folder(cls) -> Path:
        return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "sessions"

    @classmethod
    def session_files(cls, folder: Path) -> Iterator[Path]:
        return folder.glob("**/rollout-*.jsonl")
