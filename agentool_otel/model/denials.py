"""Tool calls that the user, a policy or a hook denied.

The error of a denied call begins with `permission_denied` in a document, and is the `error.type` of
its span.
"""

from __future__ import annotations

__all__ = ["DENIALS", "DENIED", "denial_text"]

DENIED = "permission_denied"
"""Beginning of the error of a denied call."""
DENIALS = frozenset({DENIED, "approval_rejected", "policy_blocked", "hook_blocked"})
"""Values of `error.type` of a denied call; those but the first are Agent Tool's."""


def denial_text(kind: str, words: str | None) -> str:
    """Return the error of a denied call as a document has it.

    Args:
        kind: one of `DENIALS`.
        words: the reason, if one is known.
    """
    reason = words or (kind if kind != DENIED else "")
    if not reason or reason.startswith(DENIED):
        return reason or DENIED
    return f"{DENIED}: {reason}"
