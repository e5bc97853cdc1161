"""The metrics: instrument, unit, buckets and attributes.

Spec: `model/gen-ai/metrics.yaml`, `token-metrics.yaml` and `model/mcp` of the conventions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from agentool_otel.semconv import core, gen_ai, mcp
from agentool_otel.semconv._attributes import Mark

__all__ = [
    "METRICS",
    "Metric",
]


class Metric(NamedTuple):
    instrument: Literal["histogram", "counter"]
    unit: str
    buckets: tuple[float, ...]
    attributes: Mapping[str, Literal["required", "conditional", "recommended"]]
    mark: Mark
    older: bool = False
    """Of the generation before the baseline: recorded only when asked for."""


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

_Levels = Mapping[str, Literal["required", "conditional", "recommended"]]
_ERROR: _Levels = {core.ERROR_TYPE: "conditional"}
_CALL: _Levels = {
    gen_ai.OPERATION_NAME: "required",
    gen_ai.PROVIDER_NAME: "required",
    gen_ai.REQUEST_MODEL: "conditional",
    core.SERVER_PORT: "conditional",
    gen_ai.RESPONSE_MODEL: "recommended",
    core.SERVER_ADDRESS: "recommended",
}
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

_TOKEN_COUNTER = Metric("counter", "{token}", (), {**_CALL, gen_ai.TOKEN_MODALITY: "required"}, "B")
_TOKEN_HISTOGRAM = Metric("histogram", "{token}", _B2, {**_CALL, **_ERROR}, "B")
_CHUNK_TIME = Metric("histogram", "s", _B1, _CALL, "B")

METRICS: Mapping[str, Metric] = {
    gen_ai.METRIC_INFERENCE_DURATION: Metric("histogram", "s", _B1, {**_CALL, **_ERROR}, "B"),
    gen_ai.METRIC_OPERATION_DURATION: Metric(
        "histogram", "s", _B1, {**_CALL, gen_ai.PROVIDER_NAME: "conditional", **_ERROR}, "A"
    ),
    gen_ai.METRIC_INFERENCE_USAGE_INPUT_TOKENS: _TOKEN_COUNTER,
    gen_ai.METRIC_INFERENCE_USAGE_OUTPUT_TOKENS: _TOKEN_COUNTER,
    gen_ai.METRIC_INFERENCE_USAGE_CACHE_READ_INPUT_TOKENS: _TOKEN_COUNTER,
    gen_ai.METRIC_INFERENCE_USAGE_CACHE_WRITE_INPUT_TOKENS: _TOKEN_COUNTER,
    gen_ai.METRIC_INFERENCE_USAGE_REASONING_OUTPUT_TOKENS: _TOKEN_COUNTER,
    gen_ai.METRIC_INFERENCE_OPERATION_INPUT_TOKENS: _TOKEN_HISTOGRAM,
    gen_ai.METRIC_INFERENCE_OPERATION_OUTPUT_TOKENS: _TOKEN_HISTOGRAM,
    gen_ai.METRIC_INFERENCE_TIME_TO_FIRST_CHUNK: _CHUNK_TIME,
    gen_ai.METRIC_INFERENCE_TIME_PER_OUTPUT_CHUNK: _CHUNK_TIME,
    gen_ai.METRIC_SERVER_REQUEST_DURATION: Metric("histogram", "s", _B1, {**_CALL, **_ERROR}, "A"),
    gen_ai.METRIC_SERVER_TIME_PER_OUTPUT_TOKEN: Metric("histogram", "s", _PER_TOKEN, _CALL, "A"),
    gen_ai.METRIC_SERVER_TIME_TO_FIRST_TOKEN: Metric("histogram", "s", _FIRST_TOKEN, _CALL, "A"),
    gen_ai.METRIC_INVOKE_AGENT_DURATION: Metric(
        "histogram", "s", _B3, {**_OF_AGENT, gen_ai.REQUEST_MODEL: "recommended", **_ERROR}, "A"
    ),
    gen_ai.METRIC_INVOKE_AGENT_INFERENCE_CALLS: Metric(
        "histogram", "{inference_call}", _B5, _OF_AGENT, "A"
    ),
    gen_ai.METRIC_INVOKE_AGENT_TOOL_CALLS: Metric("histogram", "{tool_call}", _B5, _OF_AGENT, "A"),
    gen_ai.METRIC_EXECUTE_TOOL_DURATION: Metric("histogram", "s", _B1, {**_OF_TOOL, **_ERROR}, "A"),
    gen_ai.METRIC_INVOKE_WORKFLOW_DURATION: Metric(
        "histogram", "s", _B4, {gen_ai.WORKFLOW_NAME: "conditional", **_ERROR}, "B"
    ),
    gen_ai.METRIC_CLIENT_TOKEN_USAGE: Metric(
        "histogram", "{token}", _B2, {**_CALL, gen_ai.TOKEN_TYPE: "required"}, "A", older=True
    ),
    gen_ai.METRIC_OPERATION_TIME_TO_FIRST_CHUNK: Metric(
        "histogram", "s", _B1, _CALL, "A", older=True
    ),
    gen_ai.METRIC_OPERATION_TIME_PER_OUTPUT_CHUNK: Metric(
        "histogram", "s", _B1, _CALL, "A", older=True
    ),
    mcp.METRIC_CLIENT_OPERATION_DURATION: Metric(
        "histogram", "s", _B6, {**_OF_REQUEST, **_TO_SERVER}, "A"
    ),
    mcp.METRIC_SERVER_OPERATION_DURATION: Metric("histogram", "s", _B6, _OF_REQUEST, "A"),
    mcp.METRIC_CLIENT_SESSION_DURATION: Metric(
        "histogram", "s", _B6, {**_OF_SESSION, **_TO_SERVER}, "A"
    ),
    mcp.METRIC_SERVER_SESSION_DURATION: Metric("histogram", "s", _B6, _OF_SESSION, "A"),
}
