"""Names of the files of a process, for code that only looks for them."""

from __future__ import annotations

from typing import Final

__all__ = ["JOURNAL", "TEXTS"]

JOURNAL: Final = ".open"
"""Suffix of journals."""

TEXTS: Final = "content"
"""The folder of the texts that are stored apart, beside the recordings."""
