"""Problems in reading, worded so that a person can mend them."""

from __future__ import annotations

import msgspec

__all__ = ["Problem"]


class Problem(msgspec.Struct, frozen=True):
    """A piece of input that was left out. The rest of the input was read all the same."""

    where: str
    """The place, such as `traces.jsonl line 17`."""
    message: str
    """The problem and its remedy."""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"
