"""Langtrace: GenAI names of 2024, content as events, and a few names of its own.

Source: Scale3-Labs/langtrace-python-sdk v3.8, `langtrace_python_sdk/instrumentation`. Its events
leave tool calls out: of an answer there is the text only.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    SCOPE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.provider_messages import json_or_text, messages_from
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["Langtrace"]

_SCOPE = "langtrace_python_sdk"
_OF = "langtrace."
_PROMPT, _PROMPT_EVENT = "gen_ai.prompt", "gen_ai.content.prompt"
_OPERATIONS = {
    "chat": "chat",
    "openai.responses.create": "chat",
    "generate": "text_completion",
    "embed": "embeddings",
}
_NAMES = {
    "gen_ai.response_id": gen_ai.RESPONSE_ID,
    "gen_ai.usage.cached_tokens": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
}


class Langtrace:
    """The dialect."""

    name = "langtrace"
    markers = Markers(keys=(_OF,), scopes=(_SCOPE,))
    content = Content(
        attributes=(
            *(_PROMPT, "gen_ai.request.tools", "instructions", "llm.responses"),
            "gen_ai.request.embedding_inputs",
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        if not any(key.startswith(_OF) for key in span.attributes):
            if span.scope.startswith(_SCOPE):
                return Confidence(SCOPE, "Langtrace's scope")
            return NOT_MINE
        return Confidence(EXTENDS, "has langtrace.*")

    def read(self, span: Reader) -> Operation:
        if span.span.scope.endswith(".with_root_span"):  # around what belongs together
            span.rest[gen_ai.WORKFLOW_NAME] = span.span.name
            return onto.as_operation(span, "invoke_workflow")
        operation = _OPERATIONS.get(str(span.rest.get(gen_ai.OPERATION_NAME)))
        if operation is None:
            return onto.unclassified(span)
        onto.rename(span, _NAMES)
        tools = _unwrap_tools(json_or_text(span.rest.get("gen_ai.request.tools")))
        if definitions := onto.definitions(tools):
            onto.drop(span, "gen_ai.request.tools")
            onto.put(span, gen_ai.TOOL_DEFINITIONS, definitions)
        if operation != "embeddings":
            onto.set_system(span, span.text("instructions"))
            _set_input(span)
        return onto.as_operation(span, operation)


def _unwrap_tools(tools: Any) -> Any:
    """Tools are the JSON of a list, or of a list with the JSON of one in it."""
    return json_or_text(tools[0]) if isinstance(tools, list) and len(tools) == 1 else tools


def _set_input(span: Reader) -> None:
    """Set a model's input, without the lists of empty objects in place of tool calls."""
    for event in span.span.events:
        prompt = json_or_text(event.attributes.get(_PROMPT))
        if event.name == _PROMPT_EVENT and isinstance(prompt, list):
            messages = [item for item in prompt if isinstance(item, dict)]
            onto.put(span, gen_ai.INPUT_MESSAGES, messages_from(messages, "user") or None)
