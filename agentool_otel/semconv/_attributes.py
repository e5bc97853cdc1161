"""Table of attributes: type, known values, stability, and whether it is content.

Spec: `model/gen-ai/registry.yaml` and `model/mcp` of the conventions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from agentool_otel.semconv import agent_tool, agentool, core, gen_ai, mcp, openai

__all__ = [
    "ATTRIBUTES",
    "AT_START",
    "CONTENT",
    "EVENTS",
    "PREFIXES",
    "RESERVED",
    "Attribute",
    "Mark",
]

RESERVED = ("gen_ai.", "mcp.", "agentool.", "agenttool.")
"""Namespaces in which every name must be one of ours."""

Type = Literal["s", "s[]", "i", "d", "b", "e", "any"]
"""String, strings, integer, double, boolean, enum of strings, or any JSON value.

JSON values are written as JSON text, because structured attributes cost up to 35 times more to
export and SDKs before 1.45 drop them; both forms are read.
"""
Mark = Literal["A", "B", "P", "U", "ours", "core"]
"""A: in the registry at its last full checkout (2026-08-03). B: merged since. P: proposed, or never
part of it: read where found, not written. U: written by OpenTelemetry's own Python utilities though
the registry does not have it."""


class Attribute(NamedTuple):
    type: Type
    mark: Mark
    members: tuple[str, ...] = ()
    """Known values of an enum."""
    only: tuple[object, ...] = ()
    """The values allowed, where the set is closed; the enums of gen_ai are open."""
    content: bool = False
    """Opt-in because it has texts of people and models. We count stop sequences among them, which
    the conventions recommend: a program may stop a model at a name, or at a line of a prompt."""


_OPERATIONS = tuple(value for name, value in vars(gen_ai).items() if name.startswith("OP_"))
_PROVIDERS = tuple(value for name, value in vars(gen_ai.Provider).items() if name.isupper())
_METHODS = (
    *("initialize", "ping", "tools/list", "tools/call", "prompts/list", "prompts/get"),
    *("resources/list", "resources/templates/list", "resources/read", "resources/subscribe"),
    *("resources/unsubscribe", "roots/list", "logging/setLevel", "completion/complete"),
    *("sampling/createMessage", "elicitation/create"),
    *("notifications/initialized", "notifications/cancelled", "notifications/progress"),
    *("notifications/message", "notifications/tools/list_changed"),
    *("notifications/prompts/list_changed", "notifications/roots/list_changed"),
    *("notifications/resources/list_changed", "notifications/resources/updated"),
)
_STATUSES = ("queued", "in_progress", "completed", "incomplete", "failed", "cancelled")

_GEN_AI = {
    gen_ai.OPERATION_NAME: Attribute("e", "A", _OPERATIONS),
    gen_ai.PROVIDER_NAME: Attribute("e", "A", _PROVIDERS),
    gen_ai.CONVERSATION_ID: Attribute("s", "A"),
    gen_ai.CONVERSATION_COMPACTED: Attribute("b", "A", only=(True,)),
    gen_ai.OUTPUT_TYPE: Attribute("e", "A", ("text", "json", "image", "speech")),
    gen_ai.DATA_SOURCE_ID: Attribute("s", "A"),
    gen_ai.REQUEST_MODEL: Attribute("s", "A"),
    gen_ai.REQUEST_MAX_TOKENS: Attribute("i", "A"),
    gen_ai.REQUEST_TEMPERATURE: Attribute("d", "A"),
    gen_ai.REQUEST_TOP_P: Attribute("d", "A"),
    gen_ai.REQUEST_TOP_K: Attribute("i", "A"),  # double up to 1.41
    gen_ai.REQUEST_FREQUENCY_PENALTY: Attribute("d", "A"),
    gen_ai.REQUEST_PRESENCE_PENALTY: Attribute("d", "A"),
    gen_ai.REQUEST_STOP_SEQUENCES: Attribute("s[]", "A", content=True),
    gen_ai.REQUEST_SEED: Attribute("i", "A"),
    gen_ai.REQUEST_CHOICE_COUNT: Attribute("i", "A"),
    gen_ai.REQUEST_STREAM: Attribute("b", "A", only=(True,)),
    gen_ai.REQUEST_REASONING_LEVEL: Attribute("s", "A"),
    gen_ai.REQUEST_PREVIOUS_RESPONSE_ID: Attribute("s", "A"),
    gen_ai.REQUEST_STREAM_CURSOR: Attribute("s", "A"),
    gen_ai.REQUEST_ENCODING_FORMATS: Attribute("s[]", "A"),
    gen_ai.RESPONSE_ID: Attribute("s", "A"),
    gen_ai.RESPONSE_MODEL: Attribute("s", "A"),
    gen_ai.RESPONSE_FINISH_REASONS: Attribute("s[]", "A"),
    gen_ai.RESPONSE_STATUS: Attribute("e", "A", _STATUSES),
    gen_ai.RESPONSE_TIME_TO_FIRST_CHUNK: Attribute("d", "A"),
    gen_ai.USAGE_INPUT_TOKENS: Attribute("i", "A"),
    gen_ai.USAGE_OUTPUT_TOKENS: Attribute("i", "A"),
    gen_ai.USAGE_CACHE_READ_INPUT_TOKENS: Attribute("i", "A"),
    gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS: Attribute("i", "B"),
    gen_ai.USAGE_REASONING_OUTPUT_TOKENS: Attribute("i", "A"),
    gen_ai.USAGE_TEXT_INPUT_TOKENS: Attribute("i", "B"),
    gen_ai.USAGE_IMAGE_INPUT_TOKENS: Attribute("i", "B"),
    gen_ai.USAGE_AUDIO_INPUT_TOKENS: Attribute("i", "B"),
    gen_ai.USAGE_TEXT_OUTPUT_TOKENS: Attribute("i", "B"),
    gen_ai.USAGE_IMAGE_OUTPUT_TOKENS: Attribute("i", "B"),
    gen_ai.USAGE_AUDIO_OUTPUT_TOKENS: Attribute("i", "B"),
    gen_ai.USAGE_TEXT_CACHE_READ_INPUT_TOKENS: Attribute("i", "B"),
    gen_ai.USAGE_IMAGE_CACHE_READ_INPUT_TOKENS: Attribute("i", "B"),
    gen_ai.USAGE_AUDIO_CACHE_READ_INPUT_TOKENS: Attribute("i", "B"),
    gen_ai.TOKEN_TYPE: Attribute("e", "A", ("input", "output")),
    gen_ai.TOKEN_MODALITY: Attribute("e", "B", ("text", "image", "audio", "unknown")),
    gen_ai.AGENT_NAME: Attribute("s", "A"),
    gen_ai.AGENT_ID: Attribute("s", "A"),
    gen_ai.AGENT_DESCRIPTION: Attribute("s", "A"),
    gen_ai.AGENT_VERSION: Attribute("s", "A"),
    gen_ai.MAIN_AGENT_ID: Attribute("s", "B"),
    gen_ai.MAIN_AGENT_NAME: Attribute("s", "B"),
    gen_ai.MAIN_AGENT_DESCRIPTION: Attribute("s", "B"),
    gen_ai.WORKFLOW_NAME: Attribute("s", "A"),
    gen_ai.PROMPT_NAME: Attribute("s", "A"),
    gen_ai.PROMPT_VERSION: Attribute("s", "A"),
    gen_ai.SKILL_NAME: Attribute("s", "B"),
    gen_ai.SKILL_DESCRIPTION: Attribute("s", "B"),
    gen_ai.SKILL_SOURCE_URI: Attribute("s", "B"),
    gen_ai.SKILL_RESOURCE_NAME: Attribute("s", "B"),
    gen_ai.TOOL_NAME: Attribute("s", "A"),
    gen_ai.TOOL_CALL_ID: Attribute("s", "A"),
    gen_ai.TOOL_DESCRIPTION: Attribute("s", "A"),
    gen_ai.TOOL_TYPE: Attribute("s", "A"),
    gen_ai.TOOL_CALL_ARGUMENTS: Attribute("any", "A", content=True),
    gen_ai.TOOL_CALL_RESULT: Attribute("any", "A", content=True),
    gen_ai.TOOL_DEFINITIONS: Attribute("any", "A", content=True),
    gen_ai.SYSTEM_INSTRUCTIONS: Attribute("any", "A", content=True),
    gen_ai.INPUT_MESSAGES: Attribute("any", "A", content=True),
    gen_ai.OUTPUT_MESSAGES: Attribute("any", "A", content=True),
    gen_ai.RETRIEVAL_QUERY_TEXT: Attribute("s", "A", content=True),
    gen_ai.RETRIEVAL_TOP_K: Attribute("i", "A"),
    gen_ai.RETRIEVAL_DOCUMENTS: Attribute("any", "A", content=True),
    gen_ai.MEMORY_STORE_ID: Attribute("s", "A"),
    gen_ai.MEMORY_RECORD_ID: Attribute("s", "A"),
    gen_ai.MEMORY_RECORD_COUNT: Attribute("i", "A"),
    gen_ai.MEMORY_QUERY_TEXT: Attribute("s", "A", content=True),
    gen_ai.MEMORY_RECORDS: Attribute("any", "A", content=True),
    gen_ai.EVALUATION_NAME: Attribute("s", "A"),
    gen_ai.EVALUATION_SCORE_VALUE: Attribute("d", "A"),
    gen_ai.EVALUATION_SCORE_LABEL: Attribute("s", "A"),
    gen_ai.EVALUATION_EXPLANATION: Attribute("s", "A", content=True),
    gen_ai.EMBEDDINGS_DIMENSION_COUNT: Attribute("i", "A"),
    gen_ai.INPUT_MESSAGES_REF: Attribute("s", "U"),
    gen_ai.OUTPUT_MESSAGES_REF: Attribute("s", "U"),
    gen_ai.SYSTEM_INSTRUCTIONS_REF: Attribute("s", "U"),
    gen_ai.TOOL_DEFINITIONS_REF: Attribute("s", "U"),
    gen_ai.USAGE_TOTAL_TOKENS: Attribute("i", "P"),
    gen_ai.INVOCATION_IS_NESTED: Attribute("b", "P"),
    gen_ai.TRANSFER_TARGET_NAME: Attribute("s", "P"),
    gen_ai.TRANSFER_MODE: Attribute("e", "P", ("return_to_caller", "pass_control")),
    gen_ai.CALLER_TYPE: Attribute("e", "P", ("agent", "workflow")),
    gen_ai.CALLER_NAME: Attribute("s", "P"),
    gen_ai.AGENT_HANDOFF_SOURCE_NAME: Attribute("s", "P"),
    gen_ai.AGENT_HANDOFF_TARGET_NAME: Attribute("s", "P"),
}

_OTHERS = {
    mcp.METHOD_NAME: Attribute("e", "A", _METHODS),
    mcp.SESSION_ID: Attribute("s", "A"),
    mcp.RESOURCE_URI: Attribute("s", "A"),
    mcp.PROTOCOL_VERSION: Attribute("s", "A"),
    openai.REQUEST_SERVICE_TIER: Attribute("e", "A", ("auto", "default")),
    openai.RESPONSE_SERVICE_TIER: Attribute("s", "A"),
    openai.RESPONSE_SYSTEM_FINGERPRINT: Attribute("s", "A"),
    openai.API_TYPE: Attribute("e", "A", ("chat_completions", "responses")),
    core.ERROR_TYPE: Attribute("e", "core", (core.ERROR_TYPE_OTHER,)),
    core.SERVER_ADDRESS: Attribute("s", "core"),
    core.SERVER_PORT: Attribute("i", "core"),
    core.CLIENT_ADDRESS: Attribute("s", "core"),
    core.CLIENT_PORT: Attribute("i", "core"),
    core.NETWORK_TRANSPORT: Attribute("e", "core", ("tcp", "udp", "pipe", "unix", "quic")),
    core.NETWORK_PROTOCOL_NAME: Attribute("s", "core"),
    core.NETWORK_PROTOCOL_VERSION: Attribute("s", "core"),
    core.JSONRPC_REQUEST_ID: Attribute("s", "core"),
    core.JSONRPC_PROTOCOL_VERSION: Attribute("s", "core"),
    core.RPC_RESPONSE_STATUS_CODE: Attribute("s", "core"),
    core.SERVICE_NAME: Attribute("s", "core"),
    core.SERVICE_VERSION: Attribute("s", "core"),
    core.SERVICE_INSTANCE_ID: Attribute("s", "core"),
    core.SESSION_ID: Attribute("s", "core"),
    core.USER_ID: Attribute("s", "core"),
    core.PROCESS_EXIT_CODE: Attribute("i", "core"),
    core.EXCEPTION_TYPE: Attribute("s", "core"),
    core.EXCEPTION_MESSAGE: Attribute("s", "core"),
    core.EXCEPTION_STACKTRACE: Attribute("s", "core"),
    core.EXCEPTION_ESCAPED: Attribute(
        "any", "core"
    ),  # a boolean that the Python SDK writes as text
}

# Values taken over from a document (metrics, durations, token counts, contents) are `any`: they
# have to come back exactly as they were, whatever number or type they were.
_OURS = {
    agentool.TRACE_ID: Attribute("s", "ours"),
    agentool.AGENT_ID: Attribute("s", "ours"),
    agentool.SESSION_ID: Attribute("s", "ours"),
    agentool.CASE_ID: Attribute("s", "ours"),
    agentool.TAGS: Attribute("s[]", "ours"),
    agentool.STATUS: Attribute("s", "ours"),
    agentool.INPUT: Attribute("any", "ours", content=True),
    agentool.OUTPUT: Attribute("any", "ours", content=True),
    agentool.FILE_INPUT: Attribute("any", "ours", content=True),
    agentool.FILE_OUTPUT: Attribute("any", "ours", content=True),
    agentool.FILE_STATUS: Attribute("s", "ours"),
    agentool.METADATA: Attribute("any", "ours"),
    agentool.EXTRA: Attribute("any", "ours", content=True),
    agentool.SCHEMA_VERSION: Attribute("s", "ours"),
    agentool.DOCUMENT: Attribute("any", "ours", content=True),
    agentool.DOCUMENT_TYPE: Attribute("s", "ours"),
    agentool.MESSAGE: Attribute("any", "ours", content=True),
    agentool.SYSTEM_INSTRUCTIONS: Attribute("any", "ours", content=True),
    agentool.STEP_INDEX: Attribute("i", "ours"),
    agentool.STEP_ID: Attribute("s", "ours"),
    agentool.STEP_TYPE: Attribute("s", "ours"),
    agentool.STEP_CONTENT: Attribute("any", "ours", content=True),
    agentool.STEP_CONTEXT_TOKENS: Attribute("any", "ours"),
    agentool.STEP_EXTRA: Attribute("any", "ours", content=True),
    agentool.STEP_SPAN_ID: Attribute("s", "ours"),
    agentool.STEP_RESULT_INDEX: Attribute("i", "ours"),
    agentool.STEP_RESULT_ID: Attribute("s", "ours"),
    agentool.STEP_RESULT_EXTRA: Attribute("any", "ours", content=True),
    agentool.METRICS_TOTAL_TOKENS: Attribute("any", "ours"),
    agentool.METRICS_TOTAL_COST_USD: Attribute("any", "ours"),
    agentool.METRICS_TOTAL_DURATION_MS: Attribute("any", "ours"),
    agentool.METRICS_STEP_COUNT: Attribute("any", "ours"),
    agentool.METRICS_TOOL_CALL_COUNT: Attribute("any", "ours"),
    agentool.TOOL_DURATION_MS: Attribute("any", "ours"),
    agentool.TOOL_COST_TOKENS: Attribute("any", "ours"),
    agentool.TOOL_ERROR: Attribute("any", "ours", content=True),
    agentool.TOOL_WRAPPED: Attribute("s[]", "ours"),
    agentool.CALLS_REQUESTED: Attribute("s[]", "ours"),
    agentool.CALLS_ANSWERED: Attribute("s[]", "ours"),
    agentool.TOOL_INCOMPLETE: Attribute("e", "ours", only=("call_only", "result_only")),
    agentool.TRANSFER_TARGET: Attribute("s", "ours"),
    agentool.TRANSFER_MESSAGE: Attribute("any", "ours", content=True),
    agentool.MEMORY_WRAPPED: Attribute("e", "ours", only=("each", "whole")),
    agentool.MEMORY_KEY: Attribute("any", "ours"),
    agentool.MEMORY_CONTENT: Attribute("any", "ours", content=True),
    agentool.MEMORY_RESULTS: Attribute("any", "ours", content=True),
    agentool.EVAL_RESULT_ID: Attribute("s", "ours"),
    agentool.EVAL_ID: Attribute("s", "ours"),
    agentool.EVAL_CASE_ID: Attribute("s", "ours"),
    agentool.EVAL_TRACE_ID: Attribute("s", "ours"),
    agentool.EVAL_JUDGE_MODEL: Attribute("s", "ours"),
    agentool.EVAL_EVALUATED_AT: Attribute("s", "ours"),
    agentool.EVAL_INDEX: Attribute("i", "ours"),
    agentool.EVAL_PASSED: Attribute("b", "ours"),
    agentool.EVAL_EVALUATED: Attribute("i", "ours"),
    agentool.EVAL_TOTAL: Attribute("i", "ours"),
    agentool.EVAL_STEP_IDS: Attribute("s[]", "ours"),
    agentool.EVAL_NOTES: Attribute("s", "ours", content=True),
    agentool.EVAL_EXTRA: Attribute("any", "ours", content=True),
    agentool.EVAL_SPAN_ID: Attribute("s", "ours"),
    agentool.COST_USD: Attribute("d", "ours"),
    agentool.INCOMPLETE: Attribute("b", "ours"),
    agentool.UNCAUGHT: Attribute("b", "ours"),
    agentool.ATTEMPT_OF: Attribute("s", "ours"),
    agentool.INFERRED: Attribute("e", "ours", only=("run", "times")),
    agentool.INTERRUPTED: Attribute("s", "ours"),
    agentool.SPAN_KIND: Attribute("s", "ours"),
    agentool.SPAN_PARENT_ID: Attribute("s", "ours"),
    agentool.SPAN_START_NS: Attribute("i", "ours"),
    agentool.SPAN_END_NS: Attribute("i", "ours"),
    agentool.ALSO: Attribute("s", "ours"),
    agentool.DIALECT: Attribute("s", "ours"),
    agentool.CONTENT_REDACTED: Attribute("s[]", "ours"),
    agentool.CONTENT_SHORTENED: Attribute("any", "ours"),
}

_AGENT_TOOL = {
    agent_tool.INVOCATION_ID: Attribute("s", "ours"),
    agent_tool.INVOCATION_STATUS: Attribute("s", "ours"),
    agent_tool.INVOCATION_FACTS: Attribute("any", "ours"),
    agent_tool.INVOCATION_CONTENT: Attribute("any", "ours", content=True),
    agent_tool.TOOL_ID: Attribute("s", "ours"),
    agent_tool.TOOL_NAMESPACE: Attribute("s", "ours"),
    agent_tool.TOOL_KIND: Attribute("s", "ours"),
    agent_tool.SURFACE_ID: Attribute("s", "ours"),
    agent_tool.INPUT_MODEL: Attribute("any", "ours", content=True),
    agent_tool.INPUT_OBSERVABLE: Attribute("any", "ours", content=True),
    agent_tool.INPUT_PERMISSION: Attribute("any", "ours", content=True),
    agent_tool.INPUT_CALL: Attribute("any", "ours", content=True),
    agent_tool.INPUT_MUTATED: Attribute("b", "ours"),
    agent_tool.INPUT_MUTATED_BY: Attribute("s[]", "ours"),
    agent_tool.QUEUE_MS: Attribute("d", "ours"),
    agent_tool.RUN_MS: Attribute("d", "ours"),
    agent_tool.APPROVAL_MS: Attribute("d", "ours"),
    agent_tool.PROGRESS_COUNT: Attribute("i", "ours"),
    agent_tool.PROGRESS_DROPPED: Attribute("i", "ours"),
    agent_tool.EVENTS_DROPPED: Attribute("i", "ours"),
    agent_tool.WITHHELD: Attribute("s", "ours"),
    agent_tool.RESULT_ID: Attribute("s", "ours"),
    agent_tool.RESULT_STATUS: Attribute("s", "ours"),
    agent_tool.RESULT_IS_ERROR: Attribute("b", "ours"),
    agent_tool.RESULT_REDACTION_STATE: Attribute("s", "ours"),
    agent_tool.RESULT_PAYLOAD: Attribute("s", "ours"),
    agent_tool.RESULT_SIZE_BYTES: Attribute("i", "ours"),
    agent_tool.RESULT_FACTS: Attribute("any", "ours"),
    agent_tool.RESULT_CONTENT: Attribute("any", "ours", content=True),
    agent_tool.ERROR_CODE: Attribute("s", "ours"),
    agent_tool.ERROR_RECOVERABILITY: Attribute("s", "ours"),
    agent_tool.OBJECT_KIND: Attribute("s", "ours"),
    agent_tool.OBJECT_FACTS: Attribute("any", "ours"),
    agent_tool.OBJECT_CONTENT: Attribute("any", "ours", content=True),
    agent_tool.PERMISSION_BEHAVIOR: Attribute("s", "ours"),
    agent_tool.PERMISSION_SOURCE: Attribute("s", "ours"),
    agent_tool.PERMISSION_REASON: Attribute("s", "ours"),
    agent_tool.PROGRESS_SEQUENCE: Attribute("any", "ours"),
    agent_tool.PROGRESS_STATUS: Attribute("s", "ours"),
    agent_tool.PERSISTENCE_STRATEGY: Attribute("s", "ours"),
    agent_tool.MUTATION_SOURCE: Attribute("s", "ours"),
}

ATTRIBUTES: Mapping[str, Attribute] = {**_GEN_AI, **_OTHERS, **_OURS, **_AGENT_TOOL}

PREFIXES: Mapping[str, Attribute] = {
    gen_ai.PROMPT_VARIABLE_PREFIX: Attribute("s", "A", content=True),
    agentool.METRICS_PREFIX: Attribute("any", "ours"),
}
"""Names that are completed by a key: prompt variables, and metrics a document has beyond ours."""

CONTENT: frozenset[str] = frozenset(
    name for name, attribute in ATTRIBUTES.items() if attribute.content
)

EVENTS: frozenset[str] = frozenset(
    {
        gen_ai.EVENT_INFERENCE_DETAILS,
        gen_ai.EVENT_EVALUATION_RESULT,
        gen_ai.EVENT_OPERATION_EXCEPTION,
        agentool.EVENT_DETAILS,
        agentool.STEP_EVENT,
        *(name for name, value in agent_tool.MEANING.items() if value.startswith("event name: ")),
    }
)
"""Event names of the reserved namespaces."""

AT_START: frozenset[str] = frozenset(
    {
        *(gen_ai.OPERATION_NAME, gen_ai.PROVIDER_NAME, gen_ai.REQUEST_MODEL),
        *(gen_ai.AGENT_NAME, gen_ai.TOOL_NAME, gen_ai.TOOL_TYPE),
        *(gen_ai.SKILL_NAME, gen_ai.SKILL_RESOURCE_NAME),
        *(core.SERVER_ADDRESS, core.SERVER_PORT),
    }
)
"""Attributes a sampler may look at: they are given when the span is made."""
