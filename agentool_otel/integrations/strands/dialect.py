"""Strands Agents: GenAI names, with the content in span events and in Bedrock's blocks.

Source: strands-agents/sdk-python `src/strands/telemetry/tracer.py`. Before 0.2 the content is in
attributes, a span's name is its operation, and a tool has names of its own.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.agent_tools import AgentTools
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    SCOPE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.messages import only_block
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import STATUS_ERROR, SpanEvent, SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Strands"]

_SCOPE = "strands.telemetry.tracer"
_FRAMEWORK = "strands-agents"
_CYCLE = "event_loop.cycle_id"
_AGENT_TOOLS = "gen_ai.agent.tools"
_STARTED = "gen_ai.event.start_time"
_OLDER_TOOL = {
    "tool.name": gen_ai.TOOL_NAME,
    "tool.id": gen_ai.TOOL_CALL_ID,
    "tool.parameters": gen_ai.TOOL_CALL_ARGUMENTS,
}


class Strands:
    """The dialect."""

    name = "strands"
    agent_tools = AgentTools(handoffs=("handoff_to_agent",))
    markers = Markers(keys=(_CYCLE, _STARTED), scopes=(_SCOPE, _FRAMEWORK))
    content = Content(
        attributes=("system_prompt", "tool.parameters", "tool.result", "gen_ai.tool.json_schema")
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        attributes = span.attributes
        if _FRAMEWORK in (attributes.get("gen_ai.system"), attributes.get(gen_ai.PROVIDER_NAME)):
            return Confidence(EXTENDS, f"the provider is {_FRAMEWORK}")
        if span.scope in (_SCOPE, _FRAMEWORK):
            level = EXTENDS if gen_ai.OPERATION_NAME in attributes else SCOPE
            return Confidence(level, f"scope {span.scope}")
        if _CYCLE in attributes:
            return Confidence(EXTENDS, f"has {_CYCLE}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        for key in ("gen_ai.system", gen_ai.PROVIDER_NAME):  # the framework, not a provider
            if span.rest.get(key) == _FRAMEWORK:
                onto.drop(span, key)
        onto.rename(span, {"session.id": gen_ai.CONVERSATION_ID})
        name = span.span.name
        operation = span.rest.get(gen_ai.OPERATION_NAME)
        if name.startswith("execute_event_loop_cycle") or operation == "execute_event_loop_cycle":
            return onto.unclassified(span)
        if operation is None:
            operation = _older_operation(span)
            if operation is None:
                return onto.unclassified(span)
            span.rest[gen_ai.OPERATION_NAME] = operation
        if operation in ("invoke_swarm", "invoke_graph"):
            onto.rename(span, {gen_ai.AGENT_NAME: gen_ai.WORKFLOW_NAME})
            return onto.as_operation(span, "invoke_workflow")
        if operation == "execute_tool":
            _read_tool(span)
            read = onto.as_operation(span)
            for key in (gen_ai.INPUT_MESSAGES, gen_ai.OUTPUT_MESSAGES):
                if key not in span.span.attributes:  # the same events, taken for messages
                    read.extra.pop(key, None)
            return read
        onto.move_messages(span, gen_ai.SYSTEM_INSTRUCTIONS, "system", "system_prompt")
        _take_system(span)
        if _AGENT_TOOLS in span.rest:
            tools = onto.definitions(span.json(_AGENT_TOOLS))
            onto.put(span, gen_ai.TOOL_DEFINITIONS, tools or None)
        onto.move_milliseconds(
            span, "gen_ai.server.time_to_first_token", gen_ai.RESPONSE_TIME_TO_FIRST_CHUNK
        )
        onto.rename(
            span,
            {
                "gen_ai.usage.cache_read_input_tokens": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
                "gen_ai.usage.cache_write_input_tokens": gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS,
                "gen_ai.usage.cache_creation_input_tokens": gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS,
            },
        )
        onto.include_cache(span)
        return onto.as_operation(span)


def _older_operation(span: Reader) -> str | None:
    """Return the operation of a span that has no name of one; a cycle of the loop is none."""
    if "tool.name" in span.rest:
        return "execute_tool"
    if span.span.name == "Model invoke":
        return "chat"
    return "invoke_agent" if _AGENT_TOOLS in span.rest or "system_prompt" in span.rest else None


def _take_system(span: Reader) -> None:
    """A system prompt is content blocks, not a message."""
    system = span.rest.get(gen_ai.SYSTEM_INSTRUCTIONS)
    if isinstance(system, list) and system and isinstance(system[0], dict):
        parts = system[0].get("parts")
        if isinstance(parts, list):
            span.rest[gen_ai.SYSTEM_INSTRUCTIONS] = parts


def _read_tool(span: Reader) -> None:
    """Take arguments and result from the events; the span's attributes have neither, but those of
    the oldest spans."""
    result: Any = onto.UNSET
    onto.rename(span, _OLDER_TOOL)
    if "tool.result" in span.rest:
        result = only_block(span.json("tool.result"))
        onto.set_result(span, result)
        for key in ("gen_ai.prompt", "gen_ai.completion"):  # the same once more
            onto.drop(span, key)
    for event in span.span.events:
        if event.name == "gen_ai.tool.message":
            onto.put(span, gen_ai.TOOL_CALL_ARGUMENTS, _content(event, "content"))
        elif event.name == "gen_ai.choice":
            result = only_block(_content(event, "message"))
            onto.set_result(span, result)
        elif event.name == gen_ai.EVENT_INFERENCE_DETAILS:
            for part in _parts(event, gen_ai.INPUT_MESSAGES):
                onto.put(span, gen_ai.TOOL_CALL_ARGUMENTS, part.get("arguments"))
            for part in _parts(event, gen_ai.OUTPUT_MESSAGES):
                result = only_block(part.get("response", onto.UNSET))
                onto.set_result(span, result)
    # Of a tool that raised, the span has the exception; what the model was told is a wording of it.
    status = span.one_of(span.text, "gen_ai.tool.status", "tool.status")
    if status == "error" and span.span.status != STATUS_ERROR:
        onto.put(span, agentool.TOOL_ERROR, result if isinstance(result, str) else "error")


def _content(event: SpanEvent, key: str) -> Any:
    body = event.attributes
    if key not in body and isinstance(body.get("body"), dict):  # a log record
        body = body["body"]
    return json_or_text(body[key]) if key in body else onto.UNSET


def _parts(event: SpanEvent, key: str) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    messages = json_or_text(event.attributes.get(key))
    for message in messages if isinstance(messages, list) else ():
        inner = message.get("parts") if isinstance(message, dict) else None
        parts += [part for part in inner or () if isinstance(part, dict)]
    return parts
