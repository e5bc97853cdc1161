"""What could not be read, said so that a person can mend it."""

from __future__ import annotations

import msgspec

__all__ = ["Problem"]


class Problem(msgspec.Struct, frozen=True):
    """A piece of input that was left out. The rest of the input was read all the same."""

    where: str
    """The place, such as `traces.jsonl line 17`."""
    message: str
    """What was found there and how to mend it."""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"
