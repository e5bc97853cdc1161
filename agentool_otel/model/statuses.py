"""Statuses of runs in the agentool spec."""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["FAILED_STATUSES", "INCOMPLETE_STREAM", "STATUSES", "Status"]

Status = Literal[
    "success", "error", "loop_detected", "context_overflow", "timeout", "refusal", "in_progress"
]
"""The known ways a run ends; `in_progress` is the reference package's, for a run that has not."""

STATUSES: tuple[str, ...] = get_args(Status)
FAILED_STATUSES = frozenset(STATUSES) - {"success", "in_progress"}
"""The statuses of a run that has ended without reaching its goal."""

INCOMPLETE_STREAM = "incomplete_stream"
"""`error.type` of a model call whose stream ended without its last event."""
