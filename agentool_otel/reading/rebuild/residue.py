"""Residues: parts of a document that ordinary attributes of spans cannot carry.

A replayed trace is read back from ordinary attributes: names, ids, times, messages. Where the
result would differ from the document (a time written with `+00:00`, an unknown member, a null), the
difference is stored beside them as a *residue*, and the rebuild applies it. Spans of ordinary
traces need none.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.ground.json_codec import canonical

__all__ = ["apply", "difference"]

Residue = dict[str, Any]
"""{"set": {member: value}, "absent": [member], "in": {member: residue of that object}}"""

_NESTED = frozenset({"metadata", "metrics", "tool_call", "tool_result"})
"""Members whose objects are compared member by member; all others as a whole."""


def difference(natural: dict[str, Any], wanted: dict[str, Any]) -> Residue | None:
    """Return the residue that turns `natural` into `wanted`; None if they are the same."""
    changed: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for key, value in wanted.items():
        if key not in natural:
            changed[key] = value
        elif key in _NESTED and isinstance(value, dict) and isinstance(natural[key], dict):
            if (nested := difference(natural[key], value)) is not None:
                inner[key] = nested
        elif not _same(natural[key], value):
            changed[key] = value
    absent = [key for key in natural if key not in wanted]
    residue: Residue = {}
    if changed:
        residue["set"] = changed
    if absent:
        residue["absent"] = absent
    if inner:
        residue["in"] = inner
    return residue or None


def apply(natural: dict[str, Any], residue: Any) -> dict[str, Any]:
    """Return `natural` with a residue applied; anything that is not a residue changes nothing."""
    if not isinstance(residue, dict):
        return natural
    document = dict(natural)
    for key in residue.get("absent") or ():
        document.pop(key, None)
    changed = residue.get("set")
    if isinstance(changed, dict):
        document.update(changed)
    inner = residue.get("in")
    if isinstance(inner, dict):
        for key, nested in inner.items():
            if isinstance(document.get(key), dict):
                document[key] = apply(document[key], nested)
    return document


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON text: 1 and 1.0, true and 1, 0.0 and -0.0 are different."""
    return type(one) is type(other) and (one is other or canonical(one) == canonical(other))
