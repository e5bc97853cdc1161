"""Pictures of the pages, for people: nothing is judged by them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

__all__ = ["take"]

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_PATIENCE_S = 120


def take(pages: Mapping[str, str], folder: Path, size: tuple[int, int] = (1600, 1200)) -> list[str]:
    """Take a picture of each page and return remarks on it, a line each.

    Args:
        pages: name to address.
        folder: where the pictures go, as `<name>.png`; made if it is missing.
        size: width and height of a picture in pixels.
    """
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        return [f"no pictures: none of {', '.join(_BROWSERS)} is on PATH"]
    folder.mkdir(parents=True, exist_ok=True)
    window = f"--window-size={size[0]},{size[1]}"
    return [
        _take(browser, page, url, folder / f"{page}.png", window) for page, url in pages.items()
    ]


def _take(browser: str, page: str, url: str, path: Path, window: str) -> str:
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    options += ["--no-first-run", "--disable-background-networking", "--disable-sync"]
    options += [window, "--virtual-time-budget=20000", "--force-prefers-reduced-motion"]
    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, *options, f"--user-data-dir={profile}", f"--screenshot={path}", url]
        try:
            subprocess.run(
                command,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=_PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"no picture of {page}: {browser} took more than {_PATIENCE_S} s"
    return str(path) if path.exists() else f"no picture of {page}: {browser} made none of {url}"
