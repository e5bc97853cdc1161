"""Ends of invocations as values of `error.type`, which are those of Agent Tool's errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["STATE_OF_EVENT", "TERMINAL", "error_type_of"]

TERMINAL: Mapping[str, str | None] = {
    "succeeded": None,
    "failed": "execution_failed",
    "timed_out": "timeout",
    "canceled": "canceled",
    "denied": "permission_denied",
    "blocked": "policy_blocked",
    "schema_parse_failed": "schema_validation_failed",
    "validation_failed": "schema_validation_failed",
}
"""States in which an invocation has ended, and what that is as an error."""

_RESULTS: Mapping[str, str | None] = {
    "succeeded": None,
    "partial_succeeded": None,
    "failed": "execution_failed",
    "denied": "permission_denied",
    "rejected": "approval_rejected",
    "redacted": None,
    "too_large": "result_too_large",
    "canceled": "canceled",
    "timed_out": "timeout",
    "synthetic_error": "execution_failed",
    "discarded": "streaming_fallback_discarded",
}
"""Error type for each status of a result; None for no error."""

_IF_ERROR = {"partial_succeeded": "partial_failure", "redacted": "result_redacted"}
"""Of a result that is an error though its status is not one."""

STATE_OF_EVENT: Mapping[str, str] = {
    "tool.invocation.planned": "planned",
    "tool.invocation.selected": "selected",
    "tool.invocation.arguments_ready": "arguments_ready",
    "tool.invocation.validation_failed": "validation_failed",
    "tool.hook.pre.started": "pre_hooks_running",
    "tool.permission.requested": "awaiting_approval",
    "tool.invocation.queued": "queued",
    "tool.invocation.started": "running",
    "tool.invocation.partial_result": "partial_result",
    "tool.hook.post.started": "post_hooks_running",
    "tool.invocation.yielded": "yielded",
    "tool.invocation.succeeded": "succeeded",
    "tool.invocation.failed": "failed",
    "tool.invocation.canceled": "canceled",
    "tool.invocation.timed_out": "timed_out",
}
"""The state that an event reports."""


def error_type_of(result: Mapping[str, Any], state: str | None) -> str | None:
    """Return the class of a failure, None if there is none.

    The class that the result's error names counts most, then the result's status, then the state.

    Args:
        result: the Result, empty where there is none.
        state: the state in which the invocation has ended.
    """
    error = result.get("error")
    named = error.get("error_class") if isinstance(error, Mapping) else None
    if isinstance(named, str) and named:
        return named
    status, failed = result.get("status"), result.get("is_error") is True
    if not isinstance(status, str):
        of_state = TERMINAL.get(state or "")
        return of_state or ("execution_failed" if failed else None)
    if status in _RESULTS and (error_type := _RESULTS[status]) is not None:
        return error_type if result.get("is_error") is not False else None
    return _IF_ERROR.get(status, "execution_failed") if failed else None
