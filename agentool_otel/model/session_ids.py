"""Ids of sessions that nobody named: messages alone prove that their runs belong together."""

from __future__ import annotations

from uuid import uuid4

from agentool_otel.ground.stable_hash import stable_hash

__all__ = ["is_inferred_session", "new_session", "session_of"]

_INFERRED = "inferred-"
_MASK = (1 << 64) - 1


def new_session() -> str:
    """Return a random id."""
    return f"{_INFERRED}{uuid4().hex}"


def session_of(first_run: str) -> str:
    """Return the id of the session that begins with a run, the same each time."""
    return f"{_INFERRED}{stable_hash(first_run) & _MASK:016x}"


def is_inferred_session(session: object) -> bool:
    """Return whether a session has an id of these."""
    return isinstance(session, str) and session.startswith(_INFERRED)
