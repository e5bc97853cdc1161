"""The metrics: instrument, unit, buckets, attributes and meaning.

Spec: `model/gen-ai/metrics.yaml`, `token-metrics.yaml` and `model/mcp` of the conventions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from agentool_otel.semconv import core, gen_ai, mcp, openai
from agentool_otel.semconv._attributes import Mark

__all__ = [
    "METRICS",
    "Metric",
]


Level = Literal["required", "conditional", "recommended"]


class Metric(NamedTuple):
    instrument: Literal["histogram", "counter"]
    unit: str
    buckets: tuple[float, ...]
    attributes: Mapping[str, Level]
    mark: Mark
    description: str


_B1 = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_B2 = tuple(4.0**power for power in range(14))
_B3 = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6)
_B4 = (1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0)
_B5 = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
_B6 = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_PER_TOKEN = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5)
_FIRST_TOKEN = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0),
)

_Levels = Mapping[str, Level]
_ERROR: _Levels = {core.ERROR_TYPE: "conditional"}
_CALL: _Levels = {
    gen_ai.OPERATION_NAME: "required",
    gen_ai.PROVIDER_NAME: "required",
    gen_ai.REQUEST_MODEL: "conditional",
    core.SERVER_PORT: "conditional",
    gen_ai.RESPONSE_MODEL: "recommended",
    core.SERVER_ADDRESS: "recommended",
}
_OF_OPENAI: _Levels = {
    openai.RESPONSE_SERVICE_TIER: "recommended",
    openai.RESPONSE_SYSTEM_FINGERPRINT: "recommended",
}
_INFERENCE: _Levels = {**_CALL, **_OF_OPENAI}
_OF_AGENT: _Levels = {gen_ai.AGENT_NAME: "conditional"}
_OF_TOOL: _Levels = {
    gen_ai.TOOL_NAME: "required",
    gen_ai.TOOL_TYPE: "recommended",
    gen_ai.AGENT_NAME: "conditional",
}
_OF_SESSION: _Levels = {
    mcp.PROTOCOL_VERSION: "recommended",
    core.NETWORK_TRANSPORT: "recommended",
    core.NETWORK_PROTOCOL_NAME: "recommended",
    core.NETWORK_PROTOCOL_VERSION: "recommended",
    **_ERROR,
}
_OF_REQUEST: _Levels = {
    mcp.METHOD_NAME: "required",
    gen_ai.TOOL_NAME: "conditional",
    gen_ai.PROMPT_NAME: "conditional",
    core.RPC_RESPONSE_STATUS_CODE: "conditional",
    gen_ai.OPERATION_NAME: "recommended",
    **_OF_SESSION,
}
_TO_SERVER: _Levels = {core.SERVER_ADDRESS: "recommended", core.SERVER_PORT: "recommended"}


def _seconds(
    description: str, buckets: tuple[float, ...], attributes: _Levels, mark: Mark
) -> Metric:
    return Metric("histogram", "s", buckets, attributes, mark, description)


def _calls(unit: str, description: str) -> Metric:
    return Metric("histogram", unit, _B5, _OF_AGENT, "A", description)


def _token_counter(description: str) -> Metric:
    attributes: _Levels = {**_INFERENCE, gen_ai.TOKEN_MODALITY: "required"}
    return Metric("counter", "{token}", (), attributes, "B", description)


def _token_histogram(description: str) -> Metric:
    return Metric("histogram", "{token}", _B2, {**_INFERENCE, **_ERROR}, "B", description)


_FIRST_CHUNK = "Time from the request to the first chunk of a streamed answer."
_NEXT_CHUNK = "Time from one chunk of a streamed answer to the next."

METRICS: Mapping[str, Metric] = {
    gen_ai.METRIC_INFERENCE_DURATION: _seconds(
        "Duration of a model call, to its last chunk.", _B1, {**_INFERENCE, **_ERROR}, "B"
    ),
    gen_ai.METRIC_OPERATION_DURATION: _seconds(
        "Duration of a GenAI client operation.",
        _B1,
        {**_INFERENCE, gen_ai.PROVIDER_NAME: "conditional", **_ERROR},
        "A",
    ),
    gen_ai.METRIC_INFERENCE_USAGE_INPUT_TOKENS: _token_counter(
        "Input tokens used, cached ones included."
    ),
    gen_ai.METRIC_INFERENCE_USAGE_OUTPUT_TOKENS: _token_counter(
        "Output tokens used, those of reasoning included."
    ),
    gen_ai.METRIC_INFERENCE_USAGE_CACHE_READ_INPUT_TOKENS: _token_counter(
        "Input tokens that came from the provider's cache."
    ),
    gen_ai.METRIC_INFERENCE_USAGE_CACHE_WRITE_INPUT_TOKENS: _token_counter(
        "Input tokens that were written to the provider's cache."
    ),
    gen_ai.METRIC_INFERENCE_USAGE_REASONING_OUTPUT_TOKENS: _token_counter(
        "Output tokens spent on reasoning."
    ),
    gen_ai.METRIC_INFERENCE_OPERATION_INPUT_TOKENS: _token_histogram(
        "Input tokens of one model call."
    ),
    gen_ai.METRIC_INFERENCE_OPERATION_OUTPUT_TOKENS: _token_histogram(
        "Output tokens of one model call."
    ),
    gen_ai.METRIC_INFERENCE_TIME_TO_FIRST_CHUNK: _seconds(_FIRST_CHUNK, _B1, _INFERENCE, "B"),
    gen_ai.METRIC_INFERENCE_TIME_PER_OUTPUT_CHUNK: _seconds(_NEXT_CHUNK, _B1, _INFERENCE, "B"),
    gen_ai.METRIC_SERVER_REQUEST_DURATION: _seconds(
        "Duration of a request as the model's server sees it.", _B1, {**_CALL, **_ERROR}, "A"
    ),
    gen_ai.METRIC_SERVER_TIME_PER_OUTPUT_TOKEN: _seconds(
        "Time per output token after the first one.", _PER_TOKEN, _CALL, "A"
    ),
    gen_ai.METRIC_SERVER_TIME_TO_FIRST_TOKEN: _seconds(
        "Time to the first output token.", _FIRST_TOKEN, _CALL, "A"
    ),
    gen_ai.METRIC_INVOKE_AGENT_DURATION: _seconds(
        "Duration of an agent's run, to the end of its answer.",
        _B3,
        {**_OF_AGENT, gen_ai.REQUEST_MODEL: "recommended", **_ERROR},
        "A",
    ),
    gen_ai.METRIC_INVOKE_AGENT_INFERENCE_CALLS: _calls(
        "{inference_call}", "Model calls in an agent's run."
    ),
    gen_ai.METRIC_INVOKE_AGENT_TOOL_CALLS: _calls("{tool_call}", "Tool calls in an agent's run."),
    gen_ai.METRIC_EXECUTE_TOOL_DURATION: _seconds(
        "Duration of a tool call.", _B1, {**_OF_TOOL, **_ERROR}, "A"
    ),
    gen_ai.METRIC_INVOKE_WORKFLOW_DURATION: _seconds(
        "Duration of a workflow.", _B4, {gen_ai.WORKFLOW_NAME: "conditional", **_ERROR}, "B"
    ),
    gen_ai.METRIC_CLIENT_TOKEN_USAGE: Metric(
        "histogram",
        "{token}",
        _B2,
        {**_INFERENCE, gen_ai.TOKEN_TYPE: "required"},
        "A",
        "Input and output tokens used.",
    ),
    gen_ai.METRIC_OPERATION_TIME_TO_FIRST_CHUNK: _seconds(_FIRST_CHUNK, _B1, _CALL, "A"),
    gen_ai.METRIC_OPERATION_TIME_PER_OUTPUT_CHUNK: _seconds(_NEXT_CHUNK, _B1, _CALL, "A"),
    mcp.METRIC_CLIENT_OPERATION_DURATION: _seconds(
        "Duration of an MCP request as its sender sees it.",
        _B6,
        {**_OF_REQUEST, **_TO_SERVER},
        "A",
    ),
    mcp.METRIC_SERVER_OPERATION_DURATION: _seconds(
        "Duration of an MCP request as its receiver sees it.", _B6, _OF_REQUEST, "A"
    ),
    mcp.METRIC_CLIENT_SESSION_DURATION: _seconds(
        "Duration of an MCP session as its client sees it.",
        _B6,
        {**_OF_SESSION, **_TO_SERVER},
        "A",
    ),
    mcp.METRIC_SERVER_SESSION_DURATION: _seconds(
        "Duration of an MCP session as its server sees it.", _B6, _OF_SESSION, "A"
    ),
}
"""Those of the baseline, and those that it has replaced."""
