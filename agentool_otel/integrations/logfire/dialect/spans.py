"""The Logfire SDK around provider clients, and its other spans.

Source: pydantic/logfire `logfire/_internal/integrations/llm_providers`. A call is the JSON of
its request and response. pydantic-ai's spans, which it collects, are a dialect of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    CENSUS,
    EXTENDS,
    NOT_MINE,
    OWN_ROLE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import set_usage
from agentool_otel.integrations.logfire.dialect import agents
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import STATUS_ERROR, SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Logfire"]

_REQUEST, _RESPONSE, _EVENTS = "request_data", "response_data", "events"
_MESSAGE = "logfire.msg"
"""The rendered template: content, as its arguments are."""
_TEMPLATE = "logfire.msg_template"
_ANSWER_KEYS = (
    *(_RESPONSE, _EVENTS, gen_ai.OUTPUT_MESSAGES, gen_ai.RESPONSE_ID),
    gen_ai.USAGE_INPUT_TOKENS,
)
"""One of these is on every call that has its answer."""


class Logfire:
    """The dialect."""

    name = "logfire"
    markers = Markers(keys=(_MESSAGE, _TEMPLATE), scopes=("logfire",))
    content = Content(
        attributes=(
            _REQUEST,
            _RESPONSE,
            _EVENTS,
            "input",
            "output",
            "response",
            "tools",
            "error",
            "raw_input",
            "instructions",
            *("logfire.logging_args", "logfire.print_args", "logfire.feedback.comment"),
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        attributes = span.attributes
        named = _MESSAGE in attributes or _TEMPLATE in attributes
        if not named and not span.scope.startswith("logfire"):
            return NOT_MINE
        if span.scope == agents.SCOPE:
            return Confidence(OWN_ROLE, f"scope {span.scope}")
        if _REQUEST in attributes:
            return Confidence(EXTENDS, f"has {_REQUEST}")
        is_call = _is_call(attributes) and span.scope.startswith("logfire")
        return Confidence(EXTENDS if is_call else CENSUS, "a span of Logfire")

    def read(self, span: Reader) -> Operation:
        attributes = span.rest
        if span.span.scope == agents.SCOPE:
            return agents.read(span)
        has_request = _REQUEST in attributes
        if not (has_request or _is_call(attributes)) or _is_answered_elsewhere(span):
            return onto.unclassified(span)
        if has_request:
            _read_call(span)
        if _EVENTS in attributes:
            onto.set_from_events(span, _EVENTS)
        onto.rename(span, {"operation.cost": agentool.COST_USD})
        return onto.as_operation(span, str(attributes.get(gen_ai.OPERATION_NAME) or "chat"))


def _is_call(attributes: Mapping[str, Any]) -> bool:
    """Return whether a span is a model call; older spans of the responses API name no operation."""
    return gen_ai.OPERATION_NAME in attributes or gen_ai.REQUEST_MODEL in attributes


def _is_answered_elsewhere(span: Reader) -> bool:
    """Logfire records a streamed call twice: when it is sent, and with its answer at its end."""
    if (
        not span.span.scope.startswith("logfire")
        or span.rest.get("logfire.span_type") == "log"
        or span.span.status == STATUS_ERROR
    ):
        return False
    return not any(key in span.rest for key in _ANSWER_KEYS)


def _read_call(span: Reader) -> None:
    """Read a span of the Logfire SDK around a provider's client: request and response as JSON."""
    request = span.json(_REQUEST, keep_text=False)
    if isinstance(request, dict):
        onto.put(span, gen_ai.REQUEST_MODEL, request.get("model"))
        prompt = request.get("messages", request.get("input", request.get("prompt")))
        onto.put_input(span, prompt)
        onto.set_system(span, request.get("system", request.get("instructions")))
        tools = onto.definitions(request.get("tools", span.json(gen_ai.TOOL_DEFINITIONS)))
        onto.put(span, gen_ai.TOOL_DEFINITIONS, tools or None)
        onto.put(span, gen_ai.REQUEST_STREAM, True if request.get("stream") is True else None)
    response = span.json(_RESPONSE, keep_text=False)
    if isinstance(response, dict):
        answer = response.get("message", response.get("combined_chunk_content"))
        onto.put_output(span, answer)
        set_usage(span, response.get("usage"))
