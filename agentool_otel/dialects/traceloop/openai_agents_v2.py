"""Placeholders of the contrib instrumentation of the OpenAI Agents SDK.

An agent that it has no name of has those of its settings, and the calls that a model asks for are
printed as text.

Source: opentelemetry-instrumentation-openai-agents-v2 0.1.0, `__init__.py`, `span_processor.py`; it
shares its scope with Traceloop's.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.python_text import call_in
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.messages import parts_of, tool_call
from agentool_otel.semconv import gen_ai

__all__ = ["SCOPE", "mend"]

SCOPE = "opentelemetry.instrumentation.openai_agents"
_DEFAULTS = {
    gen_ai.AGENT_NAME: "OpenAI Agent",
    gen_ai.AGENT_ID: "agent",
    gen_ai.AGENT_DESCRIPTION: "OpenAI Agents instrumentation",
}
_CALL = "ResponseFunctionToolCall"


def mend(span: Reader) -> None:
    """Drop the default names of an agent, and take the calls out of the messages of a span."""
    attributes = span.rest
    onto.drop(span, *(key for key, default in _DEFAULTS.items() if attributes.get(key) == default))
    for key in (gen_ai.INPUT_MESSAGES, gen_ai.OUTPUT_MESSAGES):
        text = attributes.get(key)
        if isinstance(text, str) and f'"{_CALL}(' in text:
            messages = span.json(key)
            if isinstance(messages, list):
                attributes[key] = [_with_calls(message) for message in messages]


def _with_calls(message: Any) -> Any:
    parts = [_call(part) or part for part in parts_of(message)]
    return {**message, "parts": parts} if parts else message


def _call(part: dict[str, Any]) -> dict[str, Any] | None:
    """Return the call that a text is the `repr` of."""
    members = call_in(part.get("content"), _CALL)
    name, arguments = members.get("name"), members.get("arguments")
    if not isinstance(name, str):
        return None
    call_id = members.get("call_id")
    return tool_call(name, json_or_text(arguments), call_id if isinstance(call_id, str) else None)
