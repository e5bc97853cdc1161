"""Comparison of a requested call with an executed one, the same live and in a rebuild.

A model requests a call by a tool's name and its arguments. The function that executes it has
defaults and arguments of its own (`search(db, **arguments)`), or takes all that the model requested
as one dict or model. Which calls are compared is the caller's business; this module compares two.

`Fingerprint` holds hashes, for those that keep no content or many calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from agentool_otel.ground.json_codec import canonical

__all__ = [
    "Fingerprint",
    "Hashes",
    "contains",
    "fingerprint",
    "fits",
    "is_contained",
    "is_equal",
    "is_equal_value",
    "is_only_value",
]

_MEMBERS = 64
"""Limit of the arguments by which a call is compared."""


class Hashes(Protocol):
    """Hashes of the arguments of a call."""

    @property
    def arguments(self) -> int:
        """Of all of them; 0 if they are unknown."""
        ...

    @property
    def members(self) -> tuple[int, ...]:
        """Of each argument with its name, sorted; empty where the arguments are no object."""
        ...

    @property
    def values(self) -> tuple[int, ...]:
        """Of the values alone."""
        ...


class Fingerprint(NamedTuple):
    """The arguments of a call as `Hashes`."""

    arguments: int = 0
    members: tuple[int, ...] = ()
    values: tuple[int, ...] = ()


def fingerprint(arguments: Any) -> Fingerprint:
    """Return the hashes of arguments, as JSON. They are those of this process alone."""
    values: list[int] = []
    members: tuple[int, ...] = ()
    if isinstance(arguments, Mapping):
        pairs = [*arguments.items()][:_MEMBERS]
        values = [_hash(value) for _, value in pairs]
        names = [str(key) for key, _ in pairs]
        members = tuple(sorted(map(hash, zip(names, values, strict=True))))
    return Fingerprint(_hash(arguments), members, tuple(values))


def fits(requested: Hashes, executed: Hashes) -> bool:
    """Return whether a call has the arguments that were requested, perhaps among others."""
    return is_equal(requested, executed) or is_contained(requested, executed)


def is_equal(requested: Hashes, executed: Hashes) -> bool:
    return bool(requested.arguments) and requested.arguments == executed.arguments


def is_contained(requested: Hashes, executed: Hashes) -> bool:
    """Return whether the arguments of a request are among those of a call, or are one of them."""
    if requested.arguments in executed.values:
        return True
    return bool(requested.members) and {*requested.members} <= {*executed.members}


def contains(executed: Any, requested: Any) -> bool:
    """Return for arguments themselves what `is_contained` returns for their hashes; False where
    either are no object."""
    if not isinstance(executed, Mapping) or not isinstance(requested, Mapping) or not requested:
        return False
    if all(
        key in executed and is_equal_value(executed[key], value) for key, value in requested.items()
    ):
        return True
    objects = (value for value in executed.values() if isinstance(value, Mapping))
    return any(is_equal_value(value, requested) for value in objects)


def is_equal_value(one: Any, other: Any) -> bool:
    return bool(one == other) or canonical(one) == canonical(other)


def is_only_value(text: Any, arguments: Any) -> bool:
    """Return whether a call has only the value of a request's single argument, as LangChain's spans
    do.
    """
    return (
        isinstance(text, str)
        and isinstance(arguments, Mapping)
        and len(arguments) == 1
        and next(iter(arguments.values())) == text
    )


def _hash(value: Any) -> int:
    """Return the hash of a value, never 0."""
    return hash(canonical(value)) or 1
