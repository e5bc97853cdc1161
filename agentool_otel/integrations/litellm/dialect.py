"""LiteLLM: the spans of its OpenTelemetry callback.

Source: BerriAI/litellm `litellm/integrations/opentelemetry.py` v1.106. A call is a span of mostly
GenAI names. Where content is captured, another one below it has what went to the provider and what
came back, each member printed by Python under `llm.<provider>.`; only there have tool calls ids.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    NOT_MINE,
    OWN_ROLE,
    SCOPE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.flattened import tree
from agentool_otel.dialects.kit.provider_messages import calls_from, json_or_text
from agentool_otel.dialects.kit.python_text import value_in
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import read_call, set_usage
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["LiteLLM"]

_SCOPE = "litellm"
_CALL_ID = "litellm.call_id"
_TYPE = "llm.request.type"
_OPERATIONS = {
    "completion": "chat",
    "responses": "chat",
    "anthropic_messages": "chat",
    "generate_content": "generate_content",
    "text_completion": "text_completion",
    "embedding": "embeddings",
    "chat": "chat",
    "embeddings": "embeddings",
}
"""By the function that was called; each has an asynchronous twin with an `a` before its name."""
_PROVIDER = ("gen_ai.system", gen_ai.PROVIDER_NAME)
_RAW = re.compile(r"llm\.([^.]+)\.([^.]+)")
_OF_CALLS = frozenset({"cost", "request", "token_count", "usage"})
"""Suffixes after `llm.` in names of the call's own span."""
_REQUEST_KEYS = frozenset({"messages", "input", "contents"})
_RESPONSE_KEYS = frozenset({"choices", "output", "content", "candidates"})
_REQUEST, _RESPONSE = "llm.request", "llm.response"
_CONTENT = (
    *sorted(_REQUEST_KEYS | _RESPONSE_KEYS),
    *("instructions", "system", "system_instruction", "tools", "functions", "text_input"),
    *("stop", "stopSequences", "prediction", "extra_body", "response_format"),
    *("documents", "stringified_raw_response"),
)
"""Members of requests and responses that hold content, whichever the provider."""


class LiteLLM:
    """The dialect."""

    name = "litellm"
    markers = Markers(keys=("litellm.",), scopes=(_SCOPE,))
    content = Content(
        attributes=(
            *(f"llm.*.{name}" for name in _CONTENT),
            *("llm.request.functions", "llm.request.functions.", "litellm.request.body_parsed"),
            *("litellm.guardrail.response", "litellm.user_email"),
        ),
        keeps=tuple(f"llm.{name}." for name in ("cost", "token_count", "usage")),
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        if _CALL_ID in span.attributes:
            return Confidence(OWN_ROLE, f"has {_CALL_ID}")
        if span.scope != _SCOPE:
            return NOT_MINE
        called = _TYPE in span.attributes  # older releases give the call no id
        return Confidence(OWN_ROLE if called else SCOPE, "LiteLLM's scope")

    def read(self, span: Reader) -> Operation:
        if _CALL_ID in span.rest or _TYPE in span.rest:
            return _read_request(span)
        raw = _raw_members(span)
        if raw.keys().isdisjoint(_RESPONSE_KEYS):
            return onto.unclassified(span)
        return _read_raw(span, raw)


def _read_request(span: Reader) -> Operation:
    attributes = span.rest
    called = str(attributes.get(_TYPE) or attributes.get(gen_ai.OPERATION_NAME))
    operation = _OPERATIONS.get(called) or _OPERATIONS.get(called.removeprefix("a"))
    if operation is None:
        return onto.unclassified(span)
    onto.drop(span, _TYPE)
    onto.drop(span, *(key for key in _PROVIDER if attributes.get(key) == ""))
    if attributes.get(gen_ai.RESPONSE_ID) == attributes.get(_CALL_ID):  # what stands for one
        onto.drop(span, gen_ai.RESPONSE_ID)
    onto.rename(span, {"gen_ai.cost.total_cost": agentool.COST_USD})
    used = attributes.get("metadata.usage_object")
    set_usage(span, value_in(used) if isinstance(used, str) else None)
    onto.move_functions(span, "llm.request.functions")
    onto.mend_tool_messages(span)
    _add_calls(span)
    return onto.as_operation(span, operation)


def _add_calls(span: Reader) -> None:
    """Add the tool calls to the answer, which has its text only."""
    choices = tree(span, "gen_ai.completion")
    calls = calls_from(
        [choice["function_call"] for choice in choices if "function_call" in choice]
        if choices
        else None
    )
    answer = json_or_text(span.rest.get(gen_ai.OUTPUT_MESSAGES))
    if calls and isinstance(answer, list) and answer and isinstance(answer[-1], dict):
        last = answer[-1]
        span.rest[gen_ai.OUTPUT_MESSAGES] = [
            *answer[:-1],
            {**last, "parts": [*last.get("parts", ()), *calls]},
        ]


def _raw_members(span: Reader) -> dict[str, Any]:
    """Return the members of the request and the response; an empty text is a member that
    is null.
    """
    members: dict[str, Any] = {}
    for key, value in span.rest.items():
        match = _RAW.fullmatch(key)
        if match and match[1] not in _OF_CALLS and value not in ("", "None"):
            printed = isinstance(value, str) and value[:1] in ("[", "{")
            members[match[2]] = value_in(value) if printed else value
    return members


def _read_raw(span: Reader, raw: dict[str, Any]) -> Operation:
    for key in [key for key in span.rest if _RAW.fullmatch(key)]:
        del span.rest[key]
    span.rest[_RESPONSE] = raw
    if not raw.keys().isdisjoint(_REQUEST_KEYS):
        span.rest[_REQUEST] = {key: raw[key] for key in raw.keys() - _RESPONSE_KEYS - {"model"}}
    else:  # of a response, whose request is told by the span above
        onto.set_system(span, raw.get("instructions"))
    return read_call(span, "chat", None, _REQUEST, _RESPONSE)
