"""A cache of answers on disk, a file for each, readable by its owner only.

They hold what judges wrote about traces, which is content of the users of an agent. The names of
the files end in nothing that recordings end in, so that a folder of recordings may hold them.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentool_otel.ground import json_codec
from agentool_otel.ground.environment import recordings_folder
from agentool_otel.ground.ownership import create_own, open_own, why_untrusted
from agentool_otel.ground.private_folders import make_private_folder
from agentool_otel.ground.untrusted_text import logger

__all__ = ["Cache", "default_folder"]

_log = logger(__name__)

_SUFFIX = ".verdict"
_LARGEST = 1 << 20
"""Bytes of an entry that is read."""


def default_folder() -> Path:
    """Return where answers are kept: `judge` in the folder that programs record into."""
    return recordings_folder() / "judge"


class Cache:
    """A folder of answers. Any failure costs a repeated question, never a verdict."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._warned = False

    def get(self, key: Any) -> Any:
        """Return the cached answer; None if there is none, or the entry is damaged."""
        path = self._path(key)
        try:
            if why_untrusted(self.folder):
                return None
            file = open_own(path, os.O_RDONLY)
            with os.fdopen(file, "rb") as stream:
                return json_codec.loads(stream.read(_LARGEST))
        except (OSError, ValueError):
            return None

    def put(self, key: Any, answer: Any) -> None:
        """Keep an answer. It is written to a temporary file and renamed, so no reader sees half of
        it."""
        path = self._path(key)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            if recordings_folder() not in self.folder.parents:
                self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            make_private_folder(self.folder, root=recordings_folder())
            path.parent.mkdir(mode=0o700, exist_ok=True)
            if why := why_untrusted(self.folder):
                raise OSError(why)
            file = create_own(temporary, os.O_WRONLY)
            try:
                with os.fdopen(file, "wb") as stream:
                    stream.write(json_codec.dumps(answer).encode())
                os.replace(temporary, path)
            except BaseException:
                with suppress(OSError):
                    temporary.unlink()
                raise
        except OSError as error:
            if not self._warned:
                self._warned = True
                _log.warning("the answers of the judge are not kept in %s: %s", self.folder, error)

    def _path(self, key: Any) -> Path:
        name = hashlib.sha256(json_codec.canonical(key).encode(errors="surrogatepass")).hexdigest()
        return self.folder / name[:2] / f"{name}{_SUFFIX}"
