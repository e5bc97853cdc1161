"""Google's Agent Development Kit, both schemas of its spans.

Source: google-adk 2.13.0 `google/adk/telemetry/{tracing,node_tracing,_experimental_semconv}.py`.
Schema 1 keeps Google's own requests and responses as JSON in `gcp.vertex.agent.*`; schema 2 follows
the GenAI conventions. A tool's `<not specified>` call id and an empty `{}` request mean that
nothing was captured. Until 1.15 a run has nothing but a name, `agent_run [weather]`, and until 1.1
so has a tool, `tool_call [get_weather]`. ADK for Java (1.8.0 `Tracing`) writes schema 1 with the
members in camel case and calls the operation `call_llm`. ADK for Go (google.golang.org/adk/v2
2.2.0, `internal/telemetry/{telemetry,logger,node_tracing}.go`) has tools as in schema 1 and agents
as in schema 2; prompts and answers are log records, each with one of Google's contents.
"""

from __future__ import annotations

from typing import Any

from msgspec import structs

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
from agentool_otel.dialects.kit.provider_messages import json_or_text, message_from, messages_from
from agentool_otel.dialects.kit.quoted_agents import with_quoted_agents
from agentool_otel.dialects.kit.reading import PLACEHOLDERS, Reader
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.operations import Inference, Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.providers.google import usage_of
from agentool_otel.semconv import agentool, core, gen_ai

__all__ = ["ADK"]

_OURS = "gcp.vertex.agent."
_SCOPE = "gcp.vertex.agent"
_REQUEST = "gcp.vertex.agent.llm_request"
_RESPONSE = "gcp.vertex.agent.llm_response"
_ARGUMENTS = "gcp.vertex.agent.tool_call_args"
_RESULT = "gcp.vertex.agent.tool_response"
_PLUMBING = (
    *("invocation", "execute_tool (merged", "send_data", "invoke_node", "compact_events"),
    "tool_response",  # what the next call tells the model
)
_NAMES = {
    "gcp.vertex.agent.session_id": gen_ai.CONVERSATION_ID,
    "gen_ai.tool_call.id": gen_ai.TOOL_CALL_ID,
}
_NAMED = re.compile(r"(agent_run|tool_call) \[(.+)\]")
_SETTINGS = {
    "temperature": gen_ai.REQUEST_TEMPERATURE,
    "top_p": gen_ai.REQUEST_TOP_P,
    "top_k": gen_ai.REQUEST_TOP_K,
    "max_output_tokens": gen_ai.REQUEST_MAX_TOKENS,
    "stop_sequences": gen_ai.REQUEST_STOP_SEQUENCES,
    "seed": gen_ai.REQUEST_SEED,
}


class ADK:
    """The dialect."""

    name = "adk"
    agent_tools = AgentTools(handoffs=("transfer_to_agent",))
    markers = Markers(keys=(_OURS,), scopes=(_SCOPE,), namespaces=(_OURS,))
    content = Content(
        attributes=(_REQUEST, _RESPONSE, _ARGUMENTS, _RESULT, "gcp.vertex.agent.data")
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        attributes = span.attributes
        for key in (_REQUEST, _ARGUMENTS, "gcp.vertex.agent.event_id"):
            if key in attributes:
                return Confidence(EXTENDS, f"has {key}")
        if span.scope == _SCOPE:
            level = EXTENDS if gen_ai.OPERATION_NAME in attributes else SCOPE
            return Confidence(level, f"scope {_SCOPE}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        name = span.span.name
        if name.startswith(_PLUMBING):
            return onto.unclassified(span)
        # The framework names itself as the provider.
        if span.rest.get("gen_ai.system") == _SCOPE:
            onto.drop(span, "gen_ai.system")
        onto.rename(span, _NAMES)
        operation = span.rest.get(gen_ai.OPERATION_NAME)
        if operation is None and (named := _NAMED.fullmatch(name)):
            if named[1] == "agent_run":
                span.rest[gen_ai.AGENT_NAME] = named[2]
                return onto.as_operation(span, "invoke_agent")
            span.rest[gen_ai.TOOL_NAME] = named[2]
            operation = "execute_tool"
        if operation == "execute_tool" or name.startswith("execute_tool"):
            _read_tool(span)
            return onto.as_operation(span, "execute_tool")
        if name == "call_llm" or _REQUEST in span.rest:
            _read_model_call(span)
            new_operation = "chat" if operation in (None, "call_llm") else None
            return _with_quoted_agents(onto.as_operation(span, new_operation))
        return _with_quoted_agents(onto.as_operation(span))


def _with_quoted_agents(operation: Operation) -> Operation:
    if not isinstance(operation, Inference) or not operation.input:
        return operation
    messages = with_quoted_agents(operation.input)
    return operation if messages is operation.input else structs.replace(operation, input=messages)


def _read_tool(span: Reader) -> None:
    for key in (_REQUEST, _RESPONSE):  # of a tool they are always empty
        if span.rest.get(key) in ("{}", {}):
            onto.drop(span, key)
    arguments, result = span.json(_ARGUMENTS), span.json(_RESULT)
    if core.ERROR_TYPE in span.rest and result is onto.UNSET:
        recorded = json_or_text(span.rest.get(gen_ai.TOOL_CALL_RESULT))
        onto.put(
            span, agentool.TOOL_ERROR, _error_in(recorded) if isinstance(recorded, dict) else None
        )
    if arguments == {} and result == {}:  # what both say when content is not captured
        return
    onto.put(span, gen_ai.TOOL_CALL_ARGUMENTS, _known_value(arguments))
    if isinstance(arguments, dict) and span.rest.get(gen_ai.TOOL_NAME) == "transfer_to_agent":
        onto.put(span, agentool.TRANSFER_TARGET, _member(arguments, "agent_name"))
    if isinstance(result, dict):
        if core.ERROR_TYPE in span.rest:
            onto.put(span, agentool.TOOL_ERROR, _error_in(result))
        if result.keys() == {"result"} and not isinstance(result["result"], dict):
            result = result["result"]  # ADK puts what is no object into one
            if result in PLACEHOLDERS:
                return
    if gen_ai.TOOL_CALL_RESULT not in span.rest and (
        result is None or _known_value(result) is not None
    ):
        onto.set_result(span, result)


def _known_value(value: Any) -> Any:
    return None if value is onto.UNSET else value


def _error_in(result: dict[str, Any]) -> str | None:
    if isinstance(result.get("error"), str):
        return str(result["error"])
    content = result.get("content")  # of an MCP tool
    blocks = content if isinstance(content, list) else []
    texts = [str(block["text"]) for block in blocks if isinstance(block, dict) and "text" in block]
    return "\n".join(texts) or None


def _read_model_call(span: Reader) -> None:
    request, response = (span.json(key, keep_text=False) for key in (_REQUEST, _RESPONSE))
    if isinstance(request, dict) and request:
        _read_request(span, request)
    if isinstance(response, dict) and response:
        _read_response(span, response)


def _read_request(span: Reader, request: dict[str, Any]) -> None:
    onto.put(span, gen_ai.REQUEST_MODEL, request.get("model"))
    onto.put(span, gen_ai.INPUT_MESSAGES, messages_from(request.get("contents"), "user") or None)
    config = request.get("config")
    if isinstance(config, dict):
        system = _member(config, "system_instruction")
        onto.set_system(span, system.get("parts") if isinstance(system, dict) else system)
        onto.put(span, gen_ai.TOOL_DEFINITIONS, onto.definitions(config.get("tools")) or None)
        for key, attribute in _SETTINGS.items():
            onto.put(span, attribute, _member(config, key))


def _read_response(span: Reader, response: dict[str, Any]) -> None:
    reason = _member(response, "finish_reason")
    content = response.get("content")
    if isinstance(content, dict):
        answer = message_from(content, "model")
        if isinstance(reason, str):
            answer = {**answer, "finish_reason": finish_reason(reason)}
        onto.put(span, gen_ai.OUTPUT_MESSAGES, [answer])
    if isinstance(reason, str):
        onto.put(span, gen_ai.RESPONSE_FINISH_REASONS, [finish_reason(reason)])
    onto.put(span, gen_ai.RESPONSE_MODEL, _member(response, "model_version"))
    onto.put(span, core.ERROR_TYPE, _member(response, "error_code"))
    if (usage := usage_of(_member(response, "usage_metadata"))) is not None:
        onto.put(span, gen_ai.USAGE_INPUT_TOKENS, usage.input_tokens)
        onto.put(span, gen_ai.USAGE_OUTPUT_TOKENS, usage.output_tokens)
        onto.put(span, gen_ai.USAGE_REASONING_OUTPUT_TOKENS, usage.reasoning_tokens)
        onto.put(span, gen_ai.USAGE_CACHE_READ_INPUT_TOKENS, usage.cache_read_tokens)


def _member(members: dict[str, Any], name: str) -> Any:
    """Return a member under its name in Python or in Java."""
    first, *remainder = name.split("_")
    return members.get(name, members.get(first + "".join(map(str.title, remainder))))
