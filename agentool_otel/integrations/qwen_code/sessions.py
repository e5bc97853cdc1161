"""Qwen Code's sessions on this machine.

Source: Qwen Code 0.24.4; `QWEN_RUNTIME_DIR` from `config/storage.ts` of 2026-11.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from agentool_otel.reading.sources.session_folder import SessionFolder

__all__ = ["QwenCodeSessions"]


class QwenCodeSessions(SessionFolder):
    """The source."""

    place = "~/.qwen/projects/*/chats/*.jsonl"
    product = "Qwen Code"

    @classmethod
    def folder(cls) -> Path:
        return Path(os.environ.get("QWEN_RUNTIME_DIR") or Path.home() / ".qwen") / "projects"

    @classmethod
    def session_files(cls, folder: Path) -> Iterator[Path]:
        yield from folder.glob("*/chats/*.jsonl")
        yield from folder.glob("*/subagents/**/*.jsonl")

    @classmethod
    def session_of(cls, file: Path) -> str:
        return file.stem if file.parent.name == "chats" else file.parent.name
