"""End of a run in one word: its status, or the reason why it was stopped from outside.

The agentool spec has no status for a run that was stopped: it is an `error` with the reason as its
type.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.model.documents import UNSET, ReasoningTrace

__all__ = ["STOPPED", "ending_of", "error_text"]

STOPPED = ("cancelled", "interrupted", "exited")
"""Endings that are no failure of the run itself."""

_BY_ERROR = {
    "CancelledError": "cancelled",  # asyncio, concurrent.futures
    "Cancelled": "cancelled",  # trio
    "cancelled": "cancelled",  # a request that its MCP client took back
    "KeyboardInterrupt": "interrupted",
    "interrupted": "interrupted",  # a coding agent that its user stopped
    "SystemExit": "exited",
}


def ending_of(trace: ReasoningTrace) -> str | None:
    """Return the status of a run or, of one with an error that is no failure, one of `STOPPED`;
    None if nothing is known.
    """
    status = trace.status
    if status is UNSET or status is None:
        return None
    if status != "error":
        return status
    metadata: Any = trace.metadata
    error = metadata.get("error") if isinstance(metadata, dict) else None
    kind = error.get("type") if isinstance(error, dict) else None
    name = kind.rpartition(".")[2] if isinstance(kind, str) else ""
    return _BY_ERROR.get(name, status)


def error_text(error: Any) -> str | None:
    """Return type and message of the error in a trace's metadata; None if it has neither."""
    if not isinstance(error, dict):
        return None
    members = (error.get("type"), error.get("message"))
    return ": ".join(word for word in members if isinstance(word, str) and word) or None
