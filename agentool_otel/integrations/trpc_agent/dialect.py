"""tRPC-Agent-Go: GenAI names, with a whole response where a tool's result should be.

Source: trpc-group/trpc-agent-go v1.9.1 `internal/telemetry/trace.go`,
`telemetry/semconv/trace/{trace,workflow}.go`. A graph and its nodes are spans inside an agent's,
and `(merged tools)` repeats the results of parallel calls for a user interface.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    OWN_ROLE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["TRPCAgent"]

_SCOPE = "trpc.agent.go"
_REQUEST, _RESPONSE = "trpc.go.agent.llm_request", "trpc.go.agent.llm_response"
_NAMES = {
    "gen_ai.usage.input_tokens.cached": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
    "gen_ai.usage.input_tokens.cache_read": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
    "gen_ai.usage.input_tokens.cache_creation": gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS,
    "gen_ai.request.is_stream": gen_ai.REQUEST_STREAM,
}


class TRPCAgent:
    """The dialect."""

    name = "trpc_agent"
    markers = Markers(keys=("trpc.go.agent.",), scopes=(_SCOPE,))
    content = Content(attributes=(_REQUEST, _RESPONSE, "gen_ai.request.tool.definitions"))

    def recognise(self, span: SpanRecord) -> Confidence:
        if span.scope == _SCOPE:  # whose workflows have the names of OpenLIT's
            return Confidence(OWN_ROLE, f"scope {_SCOPE}")
        if any(key.startswith("trpc.go.agent.") for key in span.attributes):
            return Confidence(EXTENDS, "has trpc.go.agent.*")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        operation = span.rest.get(gen_ai.OPERATION_NAME)
        if operation == "workflow" or span.rest.get(gen_ai.TOOL_NAME) == "(merged tools)":
            return onto.unclassified(span)
        onto.drop(span, "gen_ai.system")  # the framework names itself
        onto.rename(span, _NAMES)
        tools = onto.definitions(span.rest.pop("gen_ai.request.tool.definitions", None))
        onto.put(span, gen_ai.TOOL_DEFINITIONS, tools or None)
        if operation == "execute_tool":
            onto.drop(span, _REQUEST, _RESPONSE)  # always `{}`
            _read_result(span)
        return onto.as_operation(span)


def _read_result(span: Reader) -> None:
    response = span.json(gen_ai.TOOL_CALL_RESULT)
    match response:
        case {"object": "tool.response", "choices": [{"message": {**said}}]}:
            onto.put(span, gen_ai.TOOL_CALL_ID, _id(said.get("tool_id")))
            onto.set_result(span, said.get("content", ""))
        case "<not json serializable>":
            pass
        case _:
            onto.set_result(span, response)


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
