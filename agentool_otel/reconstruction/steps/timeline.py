"""The timeline that our own spans carry: an event per step, whatever spans are missing."""

from __future__ import annotations

from typing import Any

from agentool_otel.reconstruction.steps.order import Draft
from agentool_otel.reconstruction.tree import Node
from agentool_otel.reconstruction.values import json_or, number, set_known, text
from agentool_otel.semconv import agentool, core, gen_ai

__all__ = ["untold"]


def untold(holders: list[Node], drafts: list[Draft], merged: set[int | None]) -> list[Draft]:
    """Return the steps that only the timeline knows: hand-reported ones, and those whose span is
    missing.

    Args:
        holders: the nodes whose events are the timeline.
        drafts: the steps that are known from spans.
        merged: places on the timeline of what turned out to be part of another step.
    """
    told = {draft.index for draft in drafts if draft.index is not None} | merged
    found: list[Draft] = []
    for node in holders:
        for event in node.span.events:
            if event.name != agentool.STEP_EVENT:
                continue
            said = event.attributes
            place = said.get(agentool.STEP_INDEX)
            place = int(place) if isinstance(place, (int, str)) else None
            if place is not None and place in told:
                continue
            body = {"step_id": None, "type": str(said.get(agentool.STEP_TYPE, "unknown"))}
            draft = Draft(body, event.time_ns, 1, node)
            draft.index = place
            draft.id = text(said.get(agentool.STEP_ID))
            _fill(draft, said)
            found.append(draft)
    return found


def _fill(draft: Draft, said: dict[str, Any]) -> None:
    body, kind = draft.body, draft.body["type"]
    if agentool.STEP_CONTENT in said:
        body["content"] = said[agentool.STEP_CONTENT]
    elif agentool.STEP_EXTRA not in said:
        draft.note("lost", "content", None, "its span is missing or holds no content")
    set_known(body, "context_tokens", number(said.get(agentool.STEP_CONTEXT_TOKENS)))
    name, call_id = said.get(gen_ai.TOOL_NAME), text(said.get(gen_ai.TOOL_CALL_ID))
    if kind == "tool_call" and name is not None:
        body["tool_call"] = {"name": name}
        set_known(body["tool_call"], "id", call_id)
    elif kind == "tool_result":
        body["tool_result"] = {}
        set_known(body["tool_result"], "call_id", call_id)
        if core.ERROR_TYPE in said:
            body["tool_result"]["error"] = said[core.ERROR_TYPE]
    elif kind == "handoff":
        set_known(body, "to_agent", said.get(agentool.TRANSFER_TARGET))
    draft.residue = json_or(said.get(agentool.STEP_EXTRA), None)
