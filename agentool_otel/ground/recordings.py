"""Where programs record."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

__all__ = ["recordings_folder"]


def recordings_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of `AGENTOOL_DIR`, or `.agentool` in the current one; it may not exist."""
    return Path(environ.get("AGENTOOL_DIR") or ".agentool")
