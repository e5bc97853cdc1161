"""Gemini CLI's sessions on this machine.

Source: Gemini CLI 0.61.0; `GEMINI_CLI_HOME` from `utils/paths.ts` of 0.56.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.ownership import read_regular
from agentool_otel.reading.sources.session_folder import SessionFolder

__all__ = ["GeminiCLISessions"]

_ID = re.compile(rb'"sessionId"\s*:\s*"([\w-]+)"')
_HEAD = 4 << 10


class GeminiCLISessions(SessionFolder):
    """The source."""

    place = "~/.gemini/tmp/*/chats/session-*.jsonl"
    product = "Gemini CLI"

    @classmethod
    def folder(cls) -> Path:
        return Path(os.environ.get("GEMINI_CLI_HOME") or Path.home()) / ".gemini" / "tmp"

    @classmethod
    def session_files(cls, folder: Path) -> Iterator[Path]:
        yield from folder.glob("*/chats/**/*.jsonl")
        yield from folder.glob("*/chats/session-*.json")

    @classmethod
    def session_of(cls, file: Path) -> str:
        if file.parent.name != "chats":
            return file.parent.name
        try:
            with file.open("rb") as stream:
                found = _ID.search(stream.read(_HEAD))
        except OSError:
            found = None
        return file.stem if found is None else found[1].decode()  # the name has its beginning

    @classmethod
    def project_of(cls, file: Path) -> str | None:
        folder = next((above.parent for above in file.parents if above.name == "chats"), None)
        if folder is None:
            return None
        try:
            path = read_regular(folder / ".project_root", _HEAD)
            named = path.decode("utf-8", "replace").strip()
        except OSError:
            named = ""
        return named or folder.name  # earlier versions have a hash of the path alone
