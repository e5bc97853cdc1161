"""What the names were called before the baseline, for reading and for writing older generations.

Spec: semantic-conventions v1.26 to v1.41, then the conventions' own changelog.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from agentool_otel.semconv import core, gen_ai, mcp, openai

__all__ = [
    "METRIC_RENAMES",
    "OLDER",
    "OLDER_ABSENT",
    "OLDER_VALUES",
    "RENAMES",
    "SCHEMA_URLS",
    "STRUCTURAL",
    "Rename",
]


class Rename(NamedTuple):
    new: str
    values: Mapping[str, str] = {}
    """Old value to new, for the values that were renamed too."""


RENAMES: Mapping[str, Rename] = {
    "gen_ai.system": Rename(
        gen_ai.PROVIDER_NAME,
        {
            "vertex_ai": gen_ai.Provider.GCP_VERTEX_AI,
            "gemini": gen_ai.Provider.GCP_GEMINI,
            "az.ai.inference": gen_ai.Provider.AZURE_AI_INFERENCE,
            "az.ai.openai": gen_ai.Provider.AZURE_AI_OPENAI,
            "xai": gen_ai.Provider.X_AI,
        },
    ),
    "gen_ai.request.type": Rename(
        gen_ai.OPERATION_NAME,
        {"completion": gen_ai.OP_TEXT_COMPLETION, "embedding": gen_ai.OP_EMBEDDINGS},
    ),
    "gen_ai.request.reasoning_effort": Rename(gen_ai.REQUEST_REASONING_LEVEL),
    "gen_ai.request.streaming": Rename(gen_ai.REQUEST_STREAM),
    "gen_ai.is_streaming": Rename(gen_ai.REQUEST_STREAM),
    "llm.is_streaming": Rename(gen_ai.REQUEST_STREAM),
    "gen_ai.usage.prompt_tokens": Rename(gen_ai.USAGE_INPUT_TOKENS),
    "gen_ai.usage.completion_tokens": Rename(gen_ai.USAGE_OUTPUT_TOKENS),
    "llm.usage.prompt_tokens": Rename(gen_ai.USAGE_INPUT_TOKENS),
    "llm.usage.completion_tokens": Rename(gen_ai.USAGE_OUTPUT_TOKENS),
    "llm.usage.total_tokens": Rename(gen_ai.USAGE_TOTAL_TOKENS),
    "gen_ai.usage.cache_creation.input_tokens": Rename(gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS),
    "gen_ai.usage.cache_creation_input_tokens": Rename(gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS),
    "gen_ai.usage.cache_write_input_tokens": Rename(gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS),
    "gen_ai.usage.cache_read_input_tokens": Rename(gen_ai.USAGE_CACHE_READ_INPUT_TOKENS),
    "gen_ai.usage.reasoning_tokens": Rename(gen_ai.USAGE_REASONING_OUTPUT_TOKENS),
    "llm.usage.reasoning_tokens": Rename(gen_ai.USAGE_REASONING_OUTPUT_TOKENS),
    "gen_ai.openai.request.seed": Rename(gen_ai.REQUEST_SEED),
    "gen_ai.openai.request.response_format": Rename(
        gen_ai.OUTPUT_TYPE, {"json_object": "json", "json_schema": "json"}
    ),
    "gen_ai.openai.request.service_tier": Rename(openai.REQUEST_SERVICE_TIER),
    "gen_ai.openai.response.service_tier": Rename(openai.RESPONSE_SERVICE_TIER),
    "gen_ai.openai.response.system_fingerprint": Rename(openai.RESPONSE_SYSTEM_FINGERPRINT),
    "gen_ai.request.messages": Rename(gen_ai.INPUT_MESSAGES),
    "gen_ai.request.available_tools": Rename(gen_ai.TOOL_DEFINITIONS),
    "gen_ai.tool.input": Rename(gen_ai.TOOL_CALL_ARGUMENTS),
    "gen_ai.tool.output": Rename(gen_ai.TOOL_CALL_RESULT),
    "mcp.request.argument": Rename(gen_ai.TOOL_CALL_ARGUMENTS),
    "mcp.response.value": Rename(gen_ai.TOOL_CALL_RESULT),
    "mcp.request.id": Rename(core.JSONRPC_REQUEST_ID),
}
"""Names that only moved; the value stays as it is, apart from the listed ones."""

STRUCTURAL: Mapping[str, str] = {
    "gen_ai.prompt": gen_ai.INPUT_MESSAGES,
    "gen_ai.completion": gen_ai.OUTPUT_MESSAGES,
    "gen_ai.response.text": gen_ai.OUTPUT_MESSAGES,
    "gen_ai.response.tool_calls": gen_ai.OUTPUT_MESSAGES,
    "gen_ai.response.finish_reason": gen_ai.RESPONSE_FINISH_REASONS,
    "gen_ai.response.stop_reason": gen_ai.RESPONSE_FINISH_REASONS,
    "llm.response.finish_reason": gen_ai.RESPONSE_FINISH_REASONS,
    "llm.request.type": gen_ai.OPERATION_NAME,
}
"""Older names whose value changed its shape too: the dialect translates them."""

METRIC_RENAMES: Mapping[str, str] = {
    gen_ai.METRIC_OPERATION_TIME_TO_FIRST_CHUNK: gen_ai.METRIC_INFERENCE_TIME_TO_FIRST_CHUNK,
    gen_ai.METRIC_OPERATION_TIME_PER_OUTPUT_CHUNK: gen_ai.METRIC_INFERENCE_TIME_PER_OUTPUT_CHUNK,
    "gen_ai.workflow.duration": gen_ai.METRIC_INVOKE_WORKFLOW_DURATION,
}
"""Not here: `gen_ai.client.operation.duration` stays for all but inference, and
`gen_ai.client.token.usage` became one counter per direction."""

OLDER: Mapping[str, Mapping[str, str]] = {
    "1.36": {
        gen_ai.PROVIDER_NAME: "gen_ai.system",
        openai.REQUEST_SERVICE_TIER: "gen_ai.openai.request.service_tier",
        openai.RESPONSE_SERVICE_TIER: "gen_ai.openai.response.service_tier",
        openai.RESPONSE_SYSTEM_FINGERPRINT: "gen_ai.openai.response.system_fingerprint",
    },
    "1.41": {
        gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS: "gen_ai.usage.cache_creation.input_tokens",
        gen_ai.RETRIEVAL_TOP_K: gen_ai.REQUEST_TOP_K,
    },
}
"""Per generation of the core conventions, baseline name to the name it had; equal ones left out.

1.36 (2025-07) is the last with `gen_ai.system`, 1.41 (2026-04) the last in the core repository.
"""

SCHEMA_URLS: Mapping[str, str] = {
    gen_ai.BASELINE: "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev",
    "1.41": "https://opentelemetry.io/schemas/1.41.0",
    "1.36": "https://opentelemetry.io/schemas/1.36.0",
}
"""Per generation, what the scope of its spans says; the baseline's is that of its manifest."""

OLDER_VALUES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "1.36": {gen_ai.PROVIDER_NAME: {gen_ai.Provider.X_AI: "xai"}},
    "1.41": {},
}
"""Per generation and baseline name, baseline value to the value it had."""

_SINCE_1_41 = frozenset(
    {
        *(gen_ai.CONVERSATION_COMPACTED, gen_ai.RESPONSE_STATUS, gen_ai.PROMPT_VERSION),
        *(gen_ai.REQUEST_REASONING_LEVEL, gen_ai.REQUEST_PREVIOUS_RESPONSE_ID),
        *(gen_ai.REQUEST_STREAM_CURSOR, gen_ai.TOKEN_MODALITY),
        *(gen_ai.USAGE_TEXT_INPUT_TOKENS, gen_ai.USAGE_TEXT_OUTPUT_TOKENS),
        *(gen_ai.USAGE_IMAGE_INPUT_TOKENS, gen_ai.USAGE_IMAGE_OUTPUT_TOKENS),
        *(gen_ai.USAGE_AUDIO_INPUT_TOKENS, gen_ai.USAGE_AUDIO_OUTPUT_TOKENS),
        gen_ai.USAGE_TEXT_CACHE_READ_INPUT_TOKENS,
        gen_ai.USAGE_IMAGE_CACHE_READ_INPUT_TOKENS,
        gen_ai.USAGE_AUDIO_CACHE_READ_INPUT_TOKENS,
        *(gen_ai.MAIN_AGENT_ID, gen_ai.MAIN_AGENT_NAME, gen_ai.MAIN_AGENT_DESCRIPTION),
        *(gen_ai.SKILL_NAME, gen_ai.SKILL_DESCRIPTION),
        *(gen_ai.SKILL_SOURCE_URI, gen_ai.SKILL_RESOURCE_NAME),
        *(gen_ai.MEMORY_STORE_ID, gen_ai.MEMORY_RECORD_ID, gen_ai.MEMORY_RECORD_COUNT),
        *(gen_ai.MEMORY_QUERY_TEXT, gen_ai.MEMORY_RECORDS),
    }
)
_SINCE_1_36 = frozenset(
    {
        *(gen_ai.SYSTEM_INSTRUCTIONS, gen_ai.INPUT_MESSAGES, gen_ai.OUTPUT_MESSAGES),
        *(gen_ai.TOOL_DEFINITIONS, gen_ai.TOOL_CALL_ARGUMENTS, gen_ai.TOOL_CALL_RESULT),
        *(gen_ai.USAGE_CACHE_READ_INPUT_TOKENS, gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS),
        *(gen_ai.USAGE_REASONING_OUTPUT_TOKENS, gen_ai.REQUEST_STREAM),
        *(gen_ai.RESPONSE_TIME_TO_FIRST_CHUNK, gen_ai.EMBEDDINGS_DIMENSION_COUNT),
        *(gen_ai.AGENT_VERSION, gen_ai.WORKFLOW_NAME, gen_ai.PROMPT_NAME),
        *(gen_ai.EVALUATION_NAME, gen_ai.EVALUATION_EXPLANATION),
        *(gen_ai.EVALUATION_SCORE_VALUE, gen_ai.EVALUATION_SCORE_LABEL),
        *(gen_ai.RETRIEVAL_QUERY_TEXT, gen_ai.RETRIEVAL_DOCUMENTS, gen_ai.RETRIEVAL_TOP_K),
        *(mcp.METHOD_NAME, mcp.SESSION_ID, mcp.RESOURCE_URI, mcp.PROTOCOL_VERSION),
        openai.API_TYPE,
    }
)

OLDER_ABSENT: Mapping[str, frozenset[str]] = {
    "1.36": _SINCE_1_36 | _SINCE_1_41,
    "1.41": _SINCE_1_41,
}
"""Baseline names for which a generation had no name. In 1.36, messages were log records."""
