"""The command that adds an extra of this package, from the place that it was installed from.

Spec: PEP 610, `direct_url.json`.
"""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from agentool_otel.ground.urls import without_credentials
from agentool_otel.ground.version import __version__

__all__ = ["install_command"]

_NAME = "agentool-otel"


def install_command(extra: str, *libraries: str) -> str:
    """Return the command that installs this package with an extra.

    Args:
        extra: the extra.
        libraries: what the extra brings. They are installed by their names where it is not known
            where this package came from, as no index has it before its release.
    """
    place = _place(extra)
    if place is None and "dev" not in __version__:
        place = quote(f"{_NAME}[{extra}]")
    return f"pip install {place or ' '.join(map(quote, libraries))}"


def _place(extra: str) -> str | None:
    """Return the argument for pip that installs from the same place; None if unknown."""
    origin = _origin()
    url = str(origin.get("url", ""))
    if isinstance(directory := origin.get("dir_info"), dict):
        path = url2pathname(urlsplit(url).path)
        if not Path(path).is_dir():
            return None
        return f"{'-e ' if directory.get('editable') else ''}{quote(f'{path}[{extra}]')}"
    shown = without_credentials(url)
    if isinstance(vcs := origin.get("vcs_info"), dict):
        shown = f"{vcs.get('vcs')}+{shown}@{vcs.get('commit_id')}"
    if folder := origin.get("subdirectory"):
        shown = f"{shown}#subdirectory={folder}"
    return quote(f"{_NAME}[{extra}] @ {shown}") if url else None


def _origin() -> dict[str, Any]:
    try:
        text = distribution(_NAME).read_text("direct_url.json")
        origin = json.loads(text or "{}")
    except (PackageNotFoundError, ValueError, OSError):
        return {}
    return origin if isinstance(origin, dict) else {}
