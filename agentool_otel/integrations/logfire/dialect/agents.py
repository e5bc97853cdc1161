"""OpenAI's Agents SDK as Logfire records it: the members of the SDK's own spans, under a template.

Source: pydantic/logfire `logfire/_internal/integrations/openai_agents.py`, 3.16 to 5.2.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.operations import Operation
from agentool_otel.semconv import agentool, core, gen_ai

__all__ = ["SCOPE", "read"]

SCOPE = "logfire.openai_agents"


def read(span: Reader) -> Operation:
    """Read a span; a task, a turn, a guardrail or a list of tools is no operation."""
    kind = span.span.name.partition(":")[0]
    error = span.json("error") if "error" in span.rest else None
    if kind == "Function":
        onto.rename(
            span,
            {
                "name": gen_ai.TOOL_NAME,
                "input": gen_ai.TOOL_CALL_ARGUMENTS,
                "output": gen_ai.TOOL_CALL_RESULT,
            },
        )
        onto.put(span, agentool.TOOL_ERROR, _error_text(error))
        return onto.as_operation(span, "execute_tool")
    onto.put(span, core.ERROR_TYPE, error.get("message") if isinstance(error, dict) else None)
    if kind == "OpenAI Agents trace":
        onto.rename(span, {"name": gen_ai.WORKFLOW_NAME})
        group = span.json("group_id")
        onto.put(span, gen_ai.CONVERSATION_ID, group if isinstance(group, str) else None)
        return onto.as_operation(span, "invoke_workflow")
    if kind == "Agent run":
        onto.rename(span, {"name": gen_ai.AGENT_NAME})
        onto.put(span, gen_ai.TOOL_DEFINITIONS, onto.definitions(span.json("tools")) or None)
        return onto.as_operation(span, "invoke_agent")
    if kind == "Handoff":
        onto.rename(
            span,
            {
                "from_agent": "gen_ai.handoff.from_agent",
                "to_agent": "gen_ai.handoff.to_agent",
            },
        )
        return onto.as_operation(span, "handoff")
    if kind.startswith(("Responses API", "Chat completion")):
        _read_model_call(span)
        return onto.as_operation(span, "chat")
    return onto.unclassified(span)


def _error_text(error: Any) -> str | None:
    """Return the error of a failed tool; the message only states that it failed."""
    match error:
        case {"data": {"error": str(said)}} | {"message": str(said)}:
            return said
        case _:
            return None


def _read_model_call(span: Reader) -> None:
    if "request_data" in span.rest:  # input and output once more, as one list
        onto.drop(span, "request_data")
        onto.move_messages(span, gen_ai.INPUT_MESSAGES, "user", "input")
        onto.move_messages(span, gen_ai.OUTPUT_MESSAGES, "assistant", "output")
    if "events" in span.rest:
        onto.set_from_events(span, "events")
    onto.rename(span, {"response_id": gen_ai.RESPONSE_ID, "operation.cost": agentool.COST_USD})
