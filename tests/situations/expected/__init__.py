"""Expected texts, `<framework>/<situation>.txt`."""

from __future__ import annotations

from pathlib import Path

__all__ = ["expected_text", "path_of"]


def path_of(framework: str, situation: str) -> Path:
    """Return where the expected text of a framework in a situation lies."""
    return Path(__file__).parent / framework / f"{situation}.txt"


def expected_text(framework: str, situation: str) -> str:
    """Return the expected text."""
    path = path_of(framework, situation)
    if not path.exists():
        return f"{path.name} is missing: python -m tests.situations {framework}"
    return path.read_text(encoding="utf-8")
