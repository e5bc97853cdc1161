"""Table of span types: names, allowed kinds and attributes.

Spec: `model/gen-ai/spans.yaml` and `model/mcp` of the conventions.
"""

from __future__ import annotations

from typing import NamedTuple

from agentool_otel.semconv import core, gen_ai, mcp

__all__ = [
    "SPAN_TYPES",
    "SpanType",
]

_Names = frozenset[str]


class SpanType(NamedTuple):
    id: str
    """Registry id; it is not visible in telemetry."""
    operations: tuple[str, ...]
    """Values of `gen_ai.operation.name`; empty for MCP spans, which have a method instead."""
    kinds: tuple[str, ...]
    """Allowed span kinds, the usual one first."""
    name_keys: tuple[str, ...]
    """The span name is operation (or method) and the first of these attributes that is present."""
    required: _Names
    conditional: _Names = frozenset()
    recommended: _Names = frozenset()
    opt_in: _Names = frozenset()
    must_not: _Names = frozenset()


_OPERATION = frozenset({gen_ai.OPERATION_NAME})
_CALLED = _OPERATION | {gen_ai.PROVIDER_NAME}
_ADDRESS = frozenset({core.SERVER_ADDRESS})
_SERVER = _ADDRESS | {core.SERVER_PORT}
_FAILED = frozenset({core.ERROR_TYPE})
_REMOTE_FAILED = _FAILED | {core.SERVER_PORT}
_TOKENS = frozenset({gen_ai.USAGE_INPUT_TOKENS, gen_ai.USAGE_OUTPUT_TOKENS})
_CACHE = frozenset(
    {
        gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
        gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS,
        gen_ai.USAGE_TEXT_CACHE_READ_INPUT_TOKENS,
        gen_ai.USAGE_IMAGE_CACHE_READ_INPUT_TOKENS,
        gen_ai.USAGE_AUDIO_CACHE_READ_INPUT_TOKENS,
    }
)
_MODALITY = frozenset(
    {
        *(gen_ai.USAGE_TEXT_INPUT_TOKENS, gen_ai.USAGE_TEXT_OUTPUT_TOKENS),
        *(gen_ai.USAGE_IMAGE_INPUT_TOKENS, gen_ai.USAGE_IMAGE_OUTPUT_TOKENS),
        *(gen_ai.USAGE_AUDIO_INPUT_TOKENS, gen_ai.USAGE_AUDIO_OUTPUT_TOKENS),
    }
)
_USAGE = _TOKENS | _CACHE | _MODALITY | {gen_ai.USAGE_REASONING_OUTPUT_TOKENS}
_PARAMETERS = frozenset(
    {
        *(gen_ai.REQUEST_MAX_TOKENS, gen_ai.REQUEST_TEMPERATURE, gen_ai.REQUEST_TOP_P),
        *(gen_ai.REQUEST_FREQUENCY_PENALTY, gen_ai.REQUEST_PRESENCE_PENALTY),
        gen_ai.REQUEST_STOP_SEQUENCES,
    }
)
_MESSAGES = frozenset({gen_ai.INPUT_MESSAGES, gen_ai.OUTPUT_MESSAGES})
_CONVERSED = _MESSAGES | {gen_ai.SYSTEM_INSTRUCTIONS, gen_ai.TOOL_DEFINITIONS}
_PAYLOAD = frozenset({gen_ai.TOOL_CALL_ARGUMENTS, gen_ai.TOOL_CALL_RESULT})
_ASKED = frozenset(
    {
        *(gen_ai.CONVERSATION_ID, gen_ai.OUTPUT_TYPE),
        *(gen_ai.REQUEST_CHOICE_COUNT, gen_ai.REQUEST_SEED),
    }
)
_MCP_TARGETS = (gen_ai.TOOL_NAME, gen_ai.PROMPT_NAME, mcp.RESOURCE_URI)
_MCP_CONDITIONAL = _FAILED | {
    *(*_MCP_TARGETS, core.JSONRPC_REQUEST_ID, core.RPC_RESPONSE_STATUS_CODE)
}
_MCP_RECOMMENDED = frozenset(
    {
        *(gen_ai.OPERATION_NAME, mcp.PROTOCOL_VERSION, mcp.SESSION_ID),
        *(core.NETWORK_TRANSPORT, core.NETWORK_PROTOCOL_NAME, core.NETWORK_PROTOCOL_VERSION),
        core.JSONRPC_PROTOCOL_VERSION,
    }
)

SPAN_TYPES: tuple[SpanType, ...] = (
    SpanType(
        "gen_ai.client.inference",
        (gen_ai.OP_CHAT, gen_ai.OP_GENERATE_CONTENT, gen_ai.OP_TEXT_COMPLETION),
        ("CLIENT", "INTERNAL"),  # a model in this process
        (gen_ai.REQUEST_MODEL,),
        required=_CALLED,
        conditional=_REMOTE_FAILED
        | _ASKED
        | {
            *(gen_ai.REQUEST_MODEL, gen_ai.REQUEST_STREAM, gen_ai.REQUEST_TOP_K),
            *(gen_ai.PROMPT_NAME, gen_ai.PROMPT_VERSION),
        },
        recommended=_ADDRESS
        | _PARAMETERS
        | _USAGE
        | {
            *(gen_ai.REQUEST_REASONING_LEVEL, gen_ai.REQUEST_PREVIOUS_RESPONSE_ID),
            *(gen_ai.RESPONSE_ID, gen_ai.RESPONSE_MODEL, gen_ai.RESPONSE_FINISH_REASONS),
            *(gen_ai.RESPONSE_TIME_TO_FIRST_CHUNK, gen_ai.CONVERSATION_COMPACTED),
        },
        opt_in=_CONVERSED,
    ),
    SpanType(
        "gen_ai.embeddings.client",
        (gen_ai.OP_EMBEDDINGS,),
        ("CLIENT",),
        (gen_ai.REQUEST_MODEL,),
        required=_CALLED,
        conditional=_REMOTE_FAILED | {gen_ai.REQUEST_MODEL},
        recommended=_ADDRESS
        | {
            *(gen_ai.REQUEST_ENCODING_FORMATS, gen_ai.EMBEDDINGS_DIMENSION_COUNT),
            *(gen_ai.USAGE_INPUT_TOKENS, gen_ai.RESPONSE_MODEL),
        },
    ),
    SpanType(
        "gen_ai.retrieval.client",
        (gen_ai.OP_RETRIEVAL,),
        ("CLIENT",),
        (gen_ai.DATA_SOURCE_ID,),
        required=_OPERATION,
        conditional=_REMOTE_FAILED
        | {gen_ai.REQUEST_MODEL, gen_ai.PROVIDER_NAME, gen_ai.DATA_SOURCE_ID},
        recommended=_ADDRESS | {gen_ai.RETRIEVAL_TOP_K},
        opt_in=frozenset({gen_ai.RETRIEVAL_QUERY_TEXT, gen_ai.RETRIEVAL_DOCUMENTS}),
    ),
    SpanType(
        "gen_ai.fetch_response.client",
        (gen_ai.OP_FETCH_RESPONSE,),
        ("CLIENT",),
        (),
        required=_CALLED | {gen_ai.RESPONSE_ID},
        conditional=_REMOTE_FAILED | {gen_ai.REQUEST_STREAM_CURSOR},
        recommended=_ADDRESS
        | {gen_ai.RESPONSE_MODEL, gen_ai.RESPONSE_STATUS, gen_ai.RESPONSE_FINISH_REASONS},
        opt_in=_CONVERSED - {gen_ai.INPUT_MESSAGES},
        must_not=_USAGE | {gen_ai.INPUT_MESSAGES},  # nothing is inferred, so nothing is used
    ),
    SpanType(
        "gen_ai.memory.client",
        (
            *(gen_ai.OP_SEARCH_MEMORY, gen_ai.OP_CREATE_MEMORY, gen_ai.OP_UPDATE_MEMORY),
            *(gen_ai.OP_UPSERT_MEMORY, gen_ai.OP_DELETE_MEMORY),
            *(gen_ai.OP_CREATE_MEMORY_STORE, gen_ai.OP_DELETE_MEMORY_STORE),
        ),
        ("CLIENT", "INTERNAL"),  # a store in this process
        (),
        required=_OPERATION,
        conditional=_REMOTE_FAILED
        | {gen_ai.PROVIDER_NAME, gen_ai.MEMORY_STORE_ID, gen_ai.MEMORY_RECORD_ID},
        recommended=_ADDRESS | {gen_ai.MEMORY_RECORD_COUNT},
        opt_in=frozenset({gen_ai.MEMORY_QUERY_TEXT, gen_ai.MEMORY_RECORDS}),
    ),
    SpanType(
        "gen_ai.create_agent.client",
        (gen_ai.OP_CREATE_AGENT,),
        ("CLIENT",),
        (gen_ai.AGENT_NAME,),
        required=_CALLED,
        conditional=_REMOTE_FAILED
        | {
            *(gen_ai.REQUEST_MODEL, gen_ai.AGENT_NAME, gen_ai.AGENT_ID),
            *(gen_ai.AGENT_DESCRIPTION, gen_ai.AGENT_VERSION),
        },
        recommended=_ADDRESS,
        opt_in=frozenset({gen_ai.SYSTEM_INSTRUCTIONS}),
    ),
    SpanType(
        "gen_ai.invoke_agent.client",
        (gen_ai.OP_INVOKE_AGENT,),
        ("CLIENT",),
        (gen_ai.AGENT_NAME,),
        required=_CALLED,
        conditional=_REMOTE_FAILED
        | _ASKED
        | {
            *(gen_ai.AGENT_NAME, gen_ai.AGENT_ID, gen_ai.AGENT_VERSION),
            *(gen_ai.AGENT_DESCRIPTION, gen_ai.DATA_SOURCE_ID),
        },
        recommended=_ADDRESS
        | _PARAMETERS
        | _TOKENS
        | _CACHE
        | _MODALITY
        | {
            *(gen_ai.REQUEST_MODEL, gen_ai.REQUEST_PREVIOUS_RESPONSE_ID),
            gen_ai.RESPONSE_FINISH_REASONS,
        },
        opt_in=_CONVERSED,
    ),
    SpanType(
        "gen_ai.invoke_agent.internal",
        (gen_ai.OP_INVOKE_AGENT,),
        ("INTERNAL",),
        (gen_ai.AGENT_NAME,),
        required=_OPERATION,
        conditional=_FAILED
        | _ASKED
        | {gen_ai.AGENT_NAME, gen_ai.AGENT_DESCRIPTION, gen_ai.DATA_SOURCE_ID},
        recommended=_PARAMETERS | _TOKENS | {gen_ai.REQUEST_MODEL, gen_ai.RESPONSE_FINISH_REASONS},
        opt_in=_CONVERSED,
        # An agent in this process is not a service: #242, #289, #322, #469.
        must_not=_SERVER | _CACHE | {gen_ai.PROVIDER_NAME, gen_ai.AGENT_ID, gen_ai.AGENT_VERSION},
    ),
    SpanType(
        "gen_ai.execute_tool.internal",
        (gen_ai.OP_EXECUTE_TOOL,),
        ("INTERNAL",),
        (gen_ai.TOOL_NAME,),
        required=_OPERATION | {gen_ai.TOOL_NAME},
        conditional=_FAILED
        | {
            *(gen_ai.AGENT_NAME, gen_ai.CONVERSATION_ID),
            *(gen_ai.SKILL_NAME, gen_ai.SKILL_RESOURCE_NAME),
        },
        recommended=frozenset(
            {
                *(gen_ai.TOOL_CALL_ID, gen_ai.TOOL_TYPE, gen_ai.TOOL_DESCRIPTION),
                *(gen_ai.SKILL_DESCRIPTION, gen_ai.SKILL_SOURCE_URI),
            }
        ),
        opt_in=_PAYLOAD,
        must_not=_SERVER | {gen_ai.PROVIDER_NAME},
    ),
    SpanType(
        "gen_ai.invoke_workflow.internal",
        (gen_ai.OP_INVOKE_WORKFLOW,),
        ("INTERNAL",),
        (gen_ai.WORKFLOW_NAME,),
        required=_OPERATION,
        conditional=_FAILED | {gen_ai.WORKFLOW_NAME, gen_ai.CONVERSATION_ID},
        opt_in=_MESSAGES,
    ),
    SpanType(
        "gen_ai.plan.internal",
        (gen_ai.OP_PLAN,),
        ("INTERNAL",),
        (gen_ai.AGENT_NAME,),
        required=_OPERATION,
        conditional=_FAILED | {gen_ai.AGENT_NAME},
        must_not=_CONVERSED,  # the text of the plan is on the model call below
    ),
    SpanType(
        "mcp.client",
        (),
        ("CLIENT",),
        _MCP_TARGETS[:2],  # the resource URI is not for names
        required=frozenset({mcp.METHOD_NAME}),
        conditional=_MCP_CONDITIONAL,
        recommended=_MCP_RECOMMENDED | _SERVER,
        opt_in=_PAYLOAD,
    ),
    SpanType(
        "mcp.server",
        (),
        ("SERVER",),
        _MCP_TARGETS[:2],
        required=frozenset({mcp.METHOD_NAME}),
        conditional=_MCP_CONDITIONAL,
        recommended=_MCP_RECOMMENDED | {core.CLIENT_ADDRESS, core.CLIENT_PORT},
        opt_in=_PAYLOAD,
    ),
)
