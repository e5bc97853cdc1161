"""An object of a file that should be a case or an assertion, with its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from agentool_otel.ground.json_places import Path

__all__ = ["Entry"]


class Entry(NamedTuple):
    """A value that should be an EvalCase or an Assertion, as JSON."""

    value: Any
    path: Path
    """Path of the entry, or of the value it is made of, in its document."""
    assertion_paths: Sequence[Path] = ()
    """Path of the value that each assertion is made of, if not written as an assertion."""
    fault: str | None = None
    """Why it is no case."""
    left_out: str | None = None
    """Why it cannot be evaluated here, though it is right."""

    def place_of(self, n: int) -> Path:
        """Return the path in the document of the assertion with index `n`."""
        if self.assertion_paths:
            return self.assertion_paths[n]
        return (*self.path, "assertions", n)
