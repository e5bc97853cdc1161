"""Map the fields of an operation to attributes of the GenAI conventions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from agentool_otel.dialects.kit.reading import LazyJson, Reader
from agentool_otel.ground.json_codec import dumps_as_utf8
from agentool_otel.model.operations import (
    AgentCreation,
    AgentInvocation,
    Embeddings,
    EvaluationResult,
    FetchResponse,
    Inference,
    McpRequest,
    MemoryOperation,
    Plan,
    Retrieval,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.semconv import agentool, core, gen_ai, mcp

__all__ = [
    "COMMON_TABLE",
    "FIELDS",
    "NULLABLE",
    "TABLES",
    "USAGE",
    "Entry",
    "Field",
    "payload_text",
]


class Field(NamedTuple):
    """One field of an operation and the attribute that carries it."""

    name: str
    attribute: str
    read: Callable[[Reader, str], Any]
    encode: Callable[[Any], Any] | None = None


def _text(name: str, attribute: str) -> Field:
    return Field(name, attribute, Reader.text)


def _int(name: str, attribute: str) -> Field:
    return Field(name, attribute, Reader.integer)


def _double(name: str, attribute: str) -> Field:
    return Field(name, attribute, Reader.number, float)


def _flag(name: str, attribute: str) -> Field:
    """A flag the convention knows as true or absent, never as false."""
    return Field(name, attribute, Reader.boolean, lambda value: value or None)


def _texts(name: str, attribute: str) -> Field:
    return Field(name, attribute, Reader.texts)


def _array(name: str, attribute: str) -> Field:
    return Field(name, attribute, Reader.array, dumps_as_utf8)


def _lazy(name: str, attribute: str) -> Field:
    return Field(name, attribute, Reader.lazy_array, payload_text)


def payload_text(value: Any) -> str:
    return value.text if isinstance(value, LazyJson) else dumps_as_utf8(value)


def _json(name: str, attribute: str) -> Field:
    return Field(name, attribute, Reader.json, dumps_as_utf8)


SERVER = (_text("server_address", core.SERVER_ADDRESS), _int("server_port", core.SERVER_PORT))
_PROVIDER = _text("provider", gen_ai.PROVIDER_NAME)
_MODEL = _text("request_model", gen_ai.REQUEST_MODEL)
_SYSTEM = _lazy("system", gen_ai.SYSTEM_INSTRUCTIONS)
_INPUT = Field("input", gen_ai.INPUT_MESSAGES, Reader.lazy_messages, payload_text)
_OUTPUT = Field("output", gen_ai.OUTPUT_MESSAGES, Reader.messages, dumps_as_utf8)
_TOOLS = _lazy("tools", gen_ai.TOOL_DEFINITIONS)
_FINISH = _texts("finish_reasons", gen_ai.RESPONSE_FINISH_REASONS)
_OUTPUT_TYPE = _text("output_type", gen_ai.OUTPUT_TYPE)
_PREVIOUS = _text("previous_response_id", gen_ai.REQUEST_PREVIOUS_RESPONSE_ID)
_COST = _double("cost_usd", agentool.COST_USD)
_AGENT_NAME = _text("agent_name", gen_ai.AGENT_NAME)
_AGENT = (
    _AGENT_NAME,
    _text("agent_id", gen_ai.AGENT_ID),
    _text("agent_version", gen_ai.AGENT_VERSION),
    _text("agent_description", gen_ai.AGENT_DESCRIPTION),
)
_COMMON = (_text("conversation_id", gen_ai.CONVERSATION_ID),)

FIELDS: dict[type, tuple[Field, ...]] = {
    Inference: (
        _PROVIDER,
        _MODEL,
        _text("response_model", gen_ai.RESPONSE_MODEL),
        _text("response_id", gen_ai.RESPONSE_ID),
        _PREVIOUS,
        _FINISH,
        _SYSTEM,
        _INPUT,
        _OUTPUT,
        _TOOLS,
        _COST,
        _flag("stream", gen_ai.REQUEST_STREAM),
        _double("time_to_first_chunk_s", gen_ai.RESPONSE_TIME_TO_FIRST_CHUNK),
        _OUTPUT_TYPE,
        _double("temperature", gen_ai.REQUEST_TEMPERATURE),
        _double("top_p", gen_ai.REQUEST_TOP_P),
        _int("top_k", gen_ai.REQUEST_TOP_K),
        _int("max_tokens", gen_ai.REQUEST_MAX_TOKENS),
        _double("frequency_penalty", gen_ai.REQUEST_FREQUENCY_PENALTY),
        _double("presence_penalty", gen_ai.REQUEST_PRESENCE_PENALTY),
        _texts("stop_sequences", gen_ai.REQUEST_STOP_SEQUENCES),
        _int("seed", gen_ai.REQUEST_SEED),
        _int("choice_count", gen_ai.REQUEST_CHOICE_COUNT),
        _text("reasoning_level", gen_ai.REQUEST_REASONING_LEVEL),
        _flag("compacted", gen_ai.CONVERSATION_COMPACTED),
        *SERVER,
    ),
    Embeddings: (
        _PROVIDER,
        _MODEL,
        _text("response_model", gen_ai.RESPONSE_MODEL),
        _int("dimensions", gen_ai.EMBEDDINGS_DIMENSION_COUNT),
        _texts("encoding_formats", gen_ai.REQUEST_ENCODING_FORMATS),
        _COST,
        *SERVER,
    ),
    Retrieval: (
        _PROVIDER,
        _MODEL,
        _text("data_source_id", gen_ai.DATA_SOURCE_ID),
        _text("query", gen_ai.RETRIEVAL_QUERY_TEXT),
        _array("documents", gen_ai.RETRIEVAL_DOCUMENTS),
        _int("top_k", gen_ai.RETRIEVAL_TOP_K),
        *SERVER,
    ),
    FetchResponse: (
        _PROVIDER,
        _text("response_id", gen_ai.RESPONSE_ID),
        _text("response_model", gen_ai.RESPONSE_MODEL),
        _text("response_status", gen_ai.RESPONSE_STATUS),
        _FINISH,
        _OUTPUT,
        *SERVER,
    ),
    ToolExecution: (
        _text("call_id", gen_ai.TOOL_CALL_ID),
        _text("tool_type", gen_ai.TOOL_TYPE),
        _text("description", gen_ai.TOOL_DESCRIPTION),
        _AGENT_NAME,
        _text("transfer_target", agentool.TRANSFER_TARGET),
        _text("transfer_message", agentool.TRANSFER_MESSAGE),
        _text("tool_error", agentool.TOOL_ERROR),
        Field("duration_ms", agentool.TOOL_DURATION_MS, Reader.number),
        _int("cost_tokens", agentool.TOOL_COST_TOKENS),
        _int("exit_code", core.PROCESS_EXIT_CODE),
    ),
    AgentInvocation: (
        _PROVIDER,
        *_AGENT,
        _MODEL,
        _SYSTEM,
        _INPUT,
        _OUTPUT,
        _TOOLS,
        _FINISH,
        _OUTPUT_TYPE,
        _text("data_source_id", gen_ai.DATA_SOURCE_ID),
        _PREVIOUS,
        *SERVER,
    ),
    WorkflowInvocation: (_text("workflow_name", gen_ai.WORKFLOW_NAME), _INPUT, _OUTPUT),
    Plan: (_AGENT_NAME,),
    AgentCreation: (_PROVIDER, _MODEL, *_AGENT, _SYSTEM, *SERVER),
    MemoryOperation: (
        _PROVIDER,
        _text("store_id", gen_ai.MEMORY_STORE_ID),
        _text("record_id", gen_ai.MEMORY_RECORD_ID),
        _int("record_count", gen_ai.MEMORY_RECORD_COUNT),
        _text("query", gen_ai.MEMORY_QUERY_TEXT),
        _array("records", gen_ai.MEMORY_RECORDS),
        _json("content", agentool.MEMORY_CONTENT),
        _json("results", agentool.MEMORY_RESULTS),
        *SERVER,
    ),
    McpRequest: (
        _text("tool_name", gen_ai.TOOL_NAME),
        _text("tool_type", gen_ai.TOOL_TYPE),
        _text("call_id", gen_ai.TOOL_CALL_ID),
        _text("prompt_name", gen_ai.PROMPT_NAME),
        _text("resource_uri", mcp.RESOURCE_URI),
        _text("request_id", core.JSONRPC_REQUEST_ID),
        _text("session_id", mcp.SESSION_ID),
        _text("protocol_version", mcp.PROTOCOL_VERSION),
        _text("transport", core.NETWORK_TRANSPORT),
    ),
    EvaluationResult: (
        _text("name", gen_ai.EVALUATION_NAME),
        _double("score", gen_ai.EVALUATION_SCORE_VALUE),
        _text("label", gen_ai.EVALUATION_SCORE_LABEL),
        _text("explanation", gen_ai.EVALUATION_EXPLANATION),
        _text("response_id", gen_ai.RESPONSE_ID),
    ),
}
"""Every field that maps one to one onto an attribute, per operation."""

USAGE = (
    _int("input_tokens", gen_ai.USAGE_INPUT_TOKENS),
    _int("output_tokens", gen_ai.USAGE_OUTPUT_TOKENS),
    _int("cache_read_tokens", gen_ai.USAGE_CACHE_READ_INPUT_TOKENS),
    _int("cache_write_tokens", gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS),
    _int("reasoning_tokens", gen_ai.USAGE_REASONING_OUTPUT_TOKENS),
    _int("text_input_tokens", gen_ai.USAGE_TEXT_INPUT_TOKENS),
    _int("image_input_tokens", gen_ai.USAGE_IMAGE_INPUT_TOKENS),
    _int("audio_input_tokens", gen_ai.USAGE_AUDIO_INPUT_TOKENS),
    _int("text_output_tokens", gen_ai.USAGE_TEXT_OUTPUT_TOKENS),
    _int("image_output_tokens", gen_ai.USAGE_IMAGE_OUTPUT_TOKENS),
    _int("audio_output_tokens", gen_ai.USAGE_AUDIO_OUTPUT_TOKENS),
)


class Entry(NamedTuple):
    """A field of an operation and the way its attribute is read."""

    name: str
    read: Callable[[Reader, str], Any]
    plain: type | None
    """Type of the values that are taken as they are, which nearly all are."""
    of_usage: bool = False
    """Whether it is a field of `Usage`."""


_PLAIN: dict[Callable[[Reader, str], Any], type] = {
    Reader.text: str,
    Reader.integer: int,
    Reader.number: float,
    Reader.boolean: bool,
}


def _table(*groups: tuple[Field, ...], of_usage: bool = False) -> dict[str, Entry]:
    return {
        field.attribute: Entry(field.name, field.read, _PLAIN.get(field.read), of_usage)
        for group in groups
        for field in group
    }


TABLES: dict[type, dict[str, Entry]] = {
    cls: _table(fields, _COMMON) for cls, fields in FIELDS.items()
}
_PAYLOAD = (
    Field("arguments", gen_ai.TOOL_CALL_ARGUMENTS, Reader.lazy_json),
    Field("result", gen_ai.TOOL_CALL_RESULT, Reader.lazy_json),
)
NULLABLE = (Reader.json, Reader.lazy_json)
_PROPOSED = (
    _text("transfer_target", gen_ai.TRANSFER_TARGET_NAME),
    _text("transfer_target", gen_ai.AGENT_HANDOFF_TARGET_NAME),
    _text("agent_name", gen_ai.AGENT_HANDOFF_SOURCE_NAME),
)
TABLES[ToolExecution] |= _table((_text("name", gen_ai.TOOL_NAME),), _PAYLOAD, _PROPOSED)
TABLES[McpRequest] = _table(FIELDS[McpRequest], _COMMON, SERVER, _PAYLOAD)
for _cls in (Inference, Embeddings, AgentInvocation):
    TABLES[_cls] |= _table(USAGE, of_usage=True)
TABLES[MemoryOperation] |= _table((_text("record_id", agentool.MEMORY_KEY),))  # its name before
TABLES[Retrieval] |= _table((_int("top_k", gen_ai.REQUEST_TOP_K),))  # its name up to 1.41
COMMON_TABLE = _table(_COMMON)
