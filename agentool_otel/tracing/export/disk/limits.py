"""The limits of a folder of recordings: a size and an age."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from agentool_otel.ground import environment

__all__ = ["NO_LIMITS", "Limits"]

_PARTS = 16
"""Files of a recording that fill the folder."""
_OF_A_WRITER = 4
"""The share of the size that files may have which are still written, as a divisor."""
_SMALLEST = 16 << 10
"""Bytes of a file below which a recording does not continue in a new one."""


class Limits(NamedTuple):
    """A size and an age that the files of a folder do not exceed; None for no limit."""

    size: int | None = None
    """Bytes."""
    age_ns: int | None = None
    """Time since the last write, in nanoseconds."""

    @classmethod
    def requested(cls, environ: Mapping[str, str] | None = None) -> Limits:
        """Return the limits that the environment sets."""
        return cls(environment.size_limit(environ), environment.age_limit(environ))

    def part_size(self, writers: int = 1) -> int | None:
        """Return the size at which a recording continues in a new file; None for no size.

        A sixteenth of the limit, and less where many processes write: the files that they write
        have a quarter of it together.
        """
        if self.size is None:
            return None
        return max(_SMALLEST, self.size // max(_PARTS, _OF_A_WRITER * writers))

    @property
    def part_age_ns(self) -> int | None:
        """Return the age at which a recording continues in a new file; None for no age."""
        return None if self.age_ns is None else max(1, self.age_ns // _PARTS)

    def as_variables(self) -> dict[str, str]:
        """Return the limits as variables, for child processes that record into the folder."""
        variables: dict[str, str] = {}
        if self.size is not None:
            variables[environment.MAX_SIZE] = str(self.size)
        if self.age_ns is not None:
            variables[environment.MAX_AGE] = f"{self.age_ns / 1e9:.9f}s"
        return variables


NO_LIMITS = Limits()
