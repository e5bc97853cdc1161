"""The generations of the conventions: earlier names, for reading, and the full definition of an
older generation, for writing it.

Spec: semantic-conventions v1.26 to v1.41, then the conventions' own changelog.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from agentool_otel.errors import ConfigurationError
from agentool_otel.semconv import core, gen_ai, mcp, openai
from agentool_otel.semconv._attributes import ATTRIBUTES, PREFIXES
from agentool_otel.semconv._metrics import METRICS
from agentool_otel.semconv._shapes import SHAPES, Schema, shapes_in

__all__ = [
    "GENERATIONS",
    "NAMED_BY_US",
    "OURS",
    "RENAMES",
    "STRUCTURAL",
    "Generation",
    "Rename",
    "generation",
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


class Generation(NamedTuple):
    """Differences of one generation of the conventions, keyed by the baseline's names."""

    schema_url: str
    """Schema URL on the scopes of its spans, metrics and log records."""
    metrics: Mapping[str, str]
    """Metric to the name it has here; a metric that is not among them does not exist here."""
    events: frozenset[str]
    """The events of `gen_ai.*` that exist here."""
    names: Mapping[str, str] = {}
    """Attribute to the name it has here; equal ones left out."""
    values: Mapping[str, Mapping[str, str]] = {}
    """Attribute to its renamed values, new to old."""
    doubles: frozenset[str] = frozenset()
    """Attributes that are doubles here."""
    absent: frozenset[str] = frozenset()
    """Attributes, and prefixes of attributes, for which there is no name here."""
    required: frozenset[str] = frozenset()
    """Attributes that each metric which may have them must have here: a value without one has no
    place."""
    shapes: Mapping[str, Schema] = SHAPES
    """Attribute to the shape that its JSON has here."""

    def name_of(self, attribute: str) -> str:
        """Return the name of an attribute in this generation; where it has none, one of ours."""
        if attribute in self.absent or (
            attribute.startswith(_PREFIXES) and not self.absent.isdisjoint(PREFIXES)
        ):
            return f"{OURS}{attribute}"
        return self.names.get(attribute, attribute)


OURS = "agentool."
"""Prefix of a baseline attribute in a generation that has no name for it."""
NAMED_BY_US = tuple(f"{OURS}{namespace}." for namespace in ("gen_ai", "mcp", "openai"))
"""Prefixes of such names."""
_PREFIXES = tuple(prefix for prefix in PREFIXES if not prefix.startswith(OURS))
_LATEST = "latest"


def generation(name: str) -> Generation:
    """Return a generation by its name; `latest` is the baseline.

    Raises:
        ConfigurationError: if it is not known.
    """
    match = GENERATIONS.get(gen_ai.BASELINE if name == _LATEST else name)
    if match is None:
        names = ", ".join([_LATEST, *GENERATIONS])
        raise ConfigurationError(f"unknown semconv generation {name!r}; known are {names}")
    return match


_CORE_METRICS = (
    *(gen_ai.METRIC_OPERATION_DURATION, gen_ai.METRIC_CLIENT_TOKEN_USAGE),
    *(gen_ai.METRIC_SERVER_REQUEST_DURATION, gen_ai.METRIC_SERVER_TIME_PER_OUTPUT_TOKEN),
    gen_ai.METRIC_SERVER_TIME_TO_FIRST_TOKEN,
)
_CHUNK_METRICS = {
    gen_ai.METRIC_INFERENCE_TIME_TO_FIRST_CHUNK: gen_ai.METRIC_OPERATION_TIME_TO_FIRST_CHUNK,
    gen_ai.METRIC_INFERENCE_TIME_PER_OUTPUT_CHUNK: gen_ai.METRIC_OPERATION_TIME_PER_OUTPUT_CHUNK,
}
_MCP_METRICS = (
    *(mcp.METRIC_CLIENT_OPERATION_DURATION, mcp.METRIC_SERVER_OPERATION_DURATION),
    *(mcp.METRIC_CLIENT_SESSION_DURATION, mcp.METRIC_SERVER_SESSION_DURATION),
)
_AGENT_METRICS = (
    *(gen_ai.METRIC_INVOKE_AGENT_DURATION, gen_ai.METRIC_INVOKE_AGENT_INFERENCE_CALLS),
    *(gen_ai.METRIC_INVOKE_AGENT_TOOL_CALLS, gen_ai.METRIC_EXECUTE_TOOL_DURATION),
)


def _metrics(*same: str) -> dict[str, str]:
    """The metrics of a generation before the baseline, in which a model call is a client operation
    like any other."""
    return {
        gen_ai.METRIC_INFERENCE_DURATION: gen_ai.METRIC_OPERATION_DURATION,
        **{name: name for name in (*_CORE_METRICS, *same)},
    }


_EVENTS = frozenset(
    {
        *(gen_ai.EVENT_INFERENCE_DETAILS, gen_ai.EVENT_EVALUATION_RESULT),
        gen_ai.EVENT_OPERATION_EXCEPTION,
    }
)
_MESSAGE_EVENTS = frozenset(
    {
        *("gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message"),
        *("gen_ai.tool.message", "gen_ai.choice"),
    }
)
_CACHE_WRITE = {gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS: "gen_ai.usage.cache_creation.input_tokens"}

_NOT_IN_2026_08 = frozenset(name for name, attribute in ATTRIBUTES.items() if attribute.mark == "B")
_NOT_IN_1_41 = _NOT_IN_2026_08 | frozenset(
    {
        *(gen_ai.CONVERSATION_COMPACTED, gen_ai.RESPONSE_STATUS, gen_ai.PROMPT_VERSION),
        *(gen_ai.REQUEST_REASONING_LEVEL, gen_ai.REQUEST_PREVIOUS_RESPONSE_ID),
        *(gen_ai.REQUEST_STREAM_CURSOR, gen_ai.PROMPT_VARIABLE_PREFIX),
        *(gen_ai.MEMORY_STORE_ID, gen_ai.MEMORY_RECORD_ID, gen_ai.MEMORY_RECORD_COUNT),
        *(gen_ai.MEMORY_QUERY_TEXT, gen_ai.MEMORY_RECORDS),
    }
)
_NOT_IN_1_36 = _NOT_IN_1_41 | frozenset(
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

GENERATIONS: Mapping[str, Generation] = {
    gen_ai.BASELINE: Generation(
        schema_url="https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev",
        metrics={
            name: name
            for name in METRICS
            if name not in {gen_ai.METRIC_CLIENT_TOKEN_USAGE, *_CHUNK_METRICS.values()}
        },
        events=_EVENTS,
    ),
    "2026-08": Generation(
        schema_url="https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev",
        metrics={
            **_metrics(*_AGENT_METRICS, *_MCP_METRICS),
            **_CHUNK_METRICS,
            gen_ai.METRIC_INVOKE_WORKFLOW_DURATION: "gen_ai.workflow.duration",
        },
        events=_EVENTS,
        shapes=shapes_in("2026-08"),
        names=_CACHE_WRITE,
        absent=_NOT_IN_2026_08 - _CACHE_WRITE.keys(),
    ),
    "1.41": Generation(
        schema_url="https://opentelemetry.io/schemas/1.41.0",
        metrics={**_metrics(*_MCP_METRICS), **_CHUNK_METRICS},
        events=_EVENTS,
        shapes=shapes_in("1.41"),
        names={**_CACHE_WRITE, gen_ai.RETRIEVAL_TOP_K: gen_ai.REQUEST_TOP_K},
        doubles=frozenset({gen_ai.REQUEST_TOP_K, gen_ai.RETRIEVAL_TOP_K}),
        absent=_NOT_IN_1_41 - _CACHE_WRITE.keys(),
        required=frozenset({gen_ai.PROVIDER_NAME}),
    ),
    "1.36": Generation(
        schema_url="https://opentelemetry.io/schemas/1.36.0",
        metrics=_metrics(),
        events=_MESSAGE_EVENTS,
        names={
            gen_ai.PROVIDER_NAME: "gen_ai.system",
            openai.REQUEST_SERVICE_TIER: "gen_ai.openai.request.service_tier",
            openai.RESPONSE_SERVICE_TIER: "gen_ai.openai.response.service_tier",
            openai.RESPONSE_SYSTEM_FINGERPRINT: "gen_ai.openai.response.system_fingerprint",
        },
        values={gen_ai.PROVIDER_NAME: {gen_ai.Provider.X_AI: "xai"}},
        doubles=frozenset({gen_ai.REQUEST_TOP_K}),
        absent=_NOT_IN_1_36,
        required=frozenset({gen_ai.PROVIDER_NAME}),
    ),
}
"""Those that can be written, the baseline first.

2026-08 is the registry that the official Python packages of that autumn follow, before the counters
of tokens; 1.41 (2026-04) is the last in the core repository, 1.36 (2025-07) the last with
`gen_ai.system` and with messages as log records.
"""
