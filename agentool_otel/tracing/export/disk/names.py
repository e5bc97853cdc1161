"""Names of the files of a process, for code that only looks for them."""

from __future__ import annotations

from typing import Final

__all__ = ["JOURNAL", "RECORDING_SUFFIX"]

JOURNAL: Final = ".open"
"""Suffix of journals."""

RECORDING_SUFFIX: Final = ".jsonl"
"""Suffix of recordings."""
