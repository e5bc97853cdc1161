"""The facets by which traces are selected and grouped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentool_otel.evaluation.trace_view import or_none
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.times import from_ns, to_ns
from agentool_otel.reading.rebuild.trace import Rebuilt

__all__ = ["FACETS", "started_ns"]


def _agents(trace: ReasoningTrace, rebuilt: Rebuilt | None) -> list[Any]:
    return [or_none(trace.agent_id)]


def _models(trace: ReasoningTrace, rebuilt: Rebuilt | None) -> list[Any]:
    return rebuilt.models() if rebuilt is not None else [_metadata(trace).get("model")]


def _tags(trace: ReasoningTrace, rebuilt: Rebuilt | None) -> list[Any]:
    tags = _metadata(trace).get("tags")
    return tags if isinstance(tags, list) else []


def _days(trace: ReasoningTrace, rebuilt: Rebuilt | None) -> list[Any]:
    ns = started_ns(trace)
    return [] if ns is None else [from_ns(ns)[:10]]


FACETS: dict[str, Callable[[ReasoningTrace, Rebuilt | None], list[Any]]] = {
    "agent": _agents,
    "model": _models,
    "tag": _tags,
    "day": _days,
}
"""By name, what gives the values of a trace: none where it has none, several models or tags where
it has several. Days are UTC. Models are known of a rebuilt trace, else of `metadata.model`."""


def started_ns(trace: ReasoningTrace) -> int | None:
    """Return when a trace started, None if unknown."""
    started = or_none(trace.started_at)
    return to_ns(started) if isinstance(started, str) else None


def _metadata(trace: ReasoningTrace) -> dict[str, Any]:
    return or_none(trace.metadata) or {}
