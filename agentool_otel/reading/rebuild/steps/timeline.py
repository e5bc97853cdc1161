"""The timeline on our own spans: an event per step, even where the step's span is missing."""

from __future__ import annotations

from typing import Any

from agentool_otel.model.times import in_calendar
from agentool_otel.reading.rebuild.steps.order import Draft
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import json_or, number, set_known, text
from agentool_otel.semconv import agentool, core, gen_ai

__all__ = ["steps_without_spans"]


def steps_without_spans(
    holders: list[Node], drafts: list[Draft], merged: set[int | None]
) -> list[Draft]:
    """Return the steps that are on the timeline alone: those reported by hand, and those whose span
    is missing.

    Args:
        holders: the nodes whose events are the timeline.
        drafts: the steps that are known from spans.
        merged: the places on the timeline that belong to another step.
    """
    known = {draft.index for draft in drafts if draft.index is not None} | merged
    steps: list[Draft] = []
    for node in holders:
        for event in node.span.events:
            if event.name != agentool.STEP_EVENT:
                continue
            attributes = event.attributes
            place = attributes.get(agentool.STEP_INDEX)
            place = number(place)
            place = place if isinstance(place, int) else None
            if place is not None and place in known:
                continue
            body = {"step_id": None, "type": str(attributes.get(agentool.STEP_TYPE, "unknown"))}
            time_ns = event.time_ns
            if time_ns is not None and not in_calendar(time_ns):
                time_ns = None
            draft = Draft(body, time_ns, 1, node)
            draft.index = place
            draft.id = text(attributes.get(agentool.STEP_ID))
            _fill(draft, attributes)
            steps.append(draft)
    return steps


def _fill(draft: Draft, attributes: dict[str, Any]) -> None:
    body, kind = draft.body, draft.body["type"]
    if agentool.STEP_CONTENT in attributes:
        body["content"] = attributes[agentool.STEP_CONTENT]
    elif agentool.STEP_EXTRA not in attributes:
        draft.note("lost", "content", None, "its span is missing or holds no content")
    set_known(body, "context_tokens", number(attributes.get(agentool.STEP_CONTEXT_TOKENS)))
    name, call_id = attributes.get(gen_ai.TOOL_NAME), text(attributes.get(gen_ai.TOOL_CALL_ID))
    if kind == "tool_call" and name is not None:
        body["tool_call"] = {"name": name}
        set_known(body["tool_call"], "id", call_id)
    elif kind == "tool_result":
        body["tool_result"] = {}
        set_known(body["tool_result"], "call_id", call_id)
        if core.ERROR_TYPE in attributes:
            body["tool_result"]["error"] = attributes[core.ERROR_TYPE]
    elif kind == "handoff":
        set_known(body, "to_agent", attributes.get(agentool.TRANSFER_TARGET))
    draft.residue = json_or(attributes.get(agentool.STEP_EXTRA), None)
