"""How the files of a process are called, for those who look for them and read none."""

from __future__ import annotations

from typing import Final

__all__ = ["JOURNAL", "RECORDING_SUFFIX"]

JOURNAL: Final = ".open"
"""What the name of a journal ends in."""

RECORDING_SUFFIX: Final = ".jsonl"
"""What the name of a recording ends in."""
