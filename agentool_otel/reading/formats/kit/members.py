"""The members of a trace, walked so that none is forgotten."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from agentool_otel.ground.json_codec import dumps
from agentool_otel.reading.formats.kit.format import Loss

__all__ = ["as_arguments", "as_text", "body_of", "left_over", "uncarried"]

_BODIES = {"tool_call": "tool_call", "tool_result": "tool_result"}
"""The member that holds the content of a step, by its type."""


def body_of(step: dict[str, Any]) -> dict[str, Any]:
    """Return the call or the result of a step; empty where there is none."""
    body = step.get(_BODIES.get(step["type"], ""))
    return body if isinstance(body, dict) else {}


def uncarried(document: dict[str, Any], carried: Collection[str], title: str) -> list[Loss]:
    """Return the losses of a format that carries some members only.

    Args:
        document: the trace as a JSON object. A member that is null is as good as absent here.
        carried: the members that have a place, named as in `Loss.member`; a step whose type is
            not among them is lost as a whole.
        title: the format's name in sentences.
    """
    reason = f"{title} has no place for it"
    losses: list[Loss] = []
    for name, value in document.items():
        if name == "metrics" and isinstance(value, dict):
            members = [f"metrics.{key}" for key, item in value.items() if item is not None]
            losses += [Loss("lost", key, reason) for key in members if key not in carried]
        elif name != "steps" and value is not None and name not in carried:
            losses.append(Loss("lost", name, reason))
    for step in document["steps"]:
        kind, step_id = step["type"], step.get("step_id")
        if kind not in carried:
            losses.append(Loss("lost", kind, f"{title} has no such step", step_id))
            continue
        losses += [
            Loss("lost", name, reason, step_id) for name in _members(step) if name not in carried
        ]
    return losses


def _members(step: dict[str, Any]) -> list[str]:
    kind = step["type"]
    body = _BODIES.get(kind)
    names = [f"{kind}.{name}" for name, value in body_of(step).items() if value is not None]
    for name, value in step.items():
        if name in ("step_id", "timestamp") and value is not None:
            names.append(name)
        elif value is not None and name not in ("type", "step_id", "timestamp", body):
            names.append(f"{kind}.{name}")
    return names


def left_over(step: dict[str, Any], carried: Collection[str]) -> dict[str, Any]:
    """Return the members of a step that are not carried, in their own shape."""
    kind = step["type"]
    body = _BODIES.get(kind)
    remaining: dict[str, Any] = {}
    for name, value in step.items():
        if name == body and isinstance(value, dict):
            members = {k: v for k, v in value.items() if f"{kind}.{k}" not in carried}
            if members:
                remaining[name] = members
        elif name != "type" and name not in carried and f"{kind}.{name}" not in carried:
            remaining[name] = value
    return remaining


def as_text(value: Any, member: str, losses: list[Loss], step_id: str | None = None) -> str:
    """Return a value as text; any other value as JSON text, which is noted as a loss."""
    if isinstance(value, str):
        return value
    losses.append(Loss("normalised", member, "written as JSON text", step_id))
    return dumps(value)


def as_arguments(step: dict[str, Any], losses: list[Loss]) -> dict[str, Any]:
    """Return the arguments of a call as an object, which they may not be."""
    arguments = body_of(step).get("arguments")
    if isinstance(arguments, dict):
        return arguments
    member, step_id = "tool_call.arguments", step.get("step_id")
    if "arguments" not in body_of(step):
        losses.append(Loss("normalised", member, "not captured, written as {}", step_id))
        return {}
    losses.append(Loss("normalised", member, "no object, written as its member `value`", step_id))
    return {"value": arguments}
