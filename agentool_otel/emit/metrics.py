"""The convention's metrics, recorded only when somebody collects them.

Spec: GenAI conventions, metrics, baseline 2026-10. With `older=True` the pair that the
conventions replaced (`gen_ai.client.operation.duration`, `gen_ai.client.token.usage`) is recorded
as well, because the dashboards in use read it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    Inference,
    McpRequest,
    Operation,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.semconv import core, gen_ai, mcp
from agentool_otel.semconv.table import SCHEMA_URLS

if TYPE_CHECKING:
    from opentelemetry import metrics as otel

    from agentool_otel.emit.run import Run

__all__ = ["collected", "configure", "record", "refresh"]

_SECONDS = [0.01 * 2**n for n in range(14)]
_AGENT_SECONDS = [0.1 * 2**n for n in range(13)]
_WORKFLOW_SECONDS = [1.0, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200]
_MCP_SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
_CALLS = [1.0, 2, 4, 8, 16, 32, 64, 128]
_TOKENS = [4.0**n for n in range(14)]


class _Meters:
    """The instruments of one meter provider, made when first used."""

    def __init__(self, provider: otel.MeterProvider, older: bool):
        from agentool_otel._version import __version__

        self.older = older
        self._meter = provider.get_meter("agentool_otel", __version__, SCHEMA_URLS[gen_ai.BASELINE])
        self._made: dict[str, Any] = {}

    def histogram(self, name: str, value: float, attributes: dict[str, Any], buckets: list[float],
                  unit: str = "s") -> None:  # fmt: skip
        instrument = self._made.get(name)
        if instrument is None:
            instrument = self._meter.create_histogram(
                name, unit, explicit_bucket_boundaries_advisory=buckets
            )
            self._made[name] = instrument
        instrument.record(value, attributes)

    def counter(self, name: str, value: int, attributes: dict[str, Any]) -> None:
        instrument = self._made.get(name)
        if instrument is None:
            instrument = self._made[name] = self._meter.create_counter(name, "{token}")
        instrument.add(value, attributes)


_meters: _Meters | None = None
_provider: otel.MeterProvider | None = None
_older = False


def configure(provider: otel.MeterProvider | None = None, older: bool = False) -> None:
    """Use a meter provider instead of the global one, and choose whether to record older names."""
    global _asked, _meters, _provider, _older
    _asked, _meters, _provider, _older = 0, None, provider, older


def refresh() -> None:
    """Look for a meter provider again at the next call."""
    global _asked
    _asked = 0


_asked = 0


def _active() -> _Meters | None:
    global _asked, _meters
    if _meters is None:
        # Nobody collects so far. Looking is dear beside a traced call, and a meter provider comes
        # once in a program's life: look at every 64th call only.
        _asked += 1
        if _asked & 63 != 1:
            return None
        api = sys.modules.get("opentelemetry.metrics")
        if api is None:
            return None  # nobody has as much as imported the metrics API
        provider = _provider or api.get_meter_provider()
        if type(provider).__module__.startswith("opentelemetry.metrics"):
            return None  # the API's own stand-in
        _meters = _Meters(provider, _older)
    return _meters


def collected() -> bool:
    """True if a metric that is recorded now goes anywhere."""
    return _active() is not None


def record(operation: Operation, duration_s: float, run: Run | None) -> None:
    """Record what the conventions ask for one finished operation."""
    meters = _active()
    if meters is None:
        return
    failed = {core.ERROR_TYPE: operation.error_type} if operation.error_type else {}
    if isinstance(operation, ToolExecution):
        said = {gen_ai.TOOL_NAME: operation.name, **failed}
        _put(said, gen_ai.TOOL_TYPE, operation.tool_type)
        _put(said, gen_ai.AGENT_NAME, operation.agent_name)
        meters.histogram("gen_ai.execute_tool.duration", duration_s, said, _SECONDS)
    elif isinstance(operation, Inference):
        _record_inference(meters, operation, duration_s, failed)
    elif isinstance(operation, Embeddings):
        said = {gen_ai.OPERATION_NAME: "embeddings", **failed}
        _put(said, gen_ai.PROVIDER_NAME, operation.provider)
        _put(said, gen_ai.REQUEST_MODEL, operation.request_model)
        meters.histogram("gen_ai.client.operation.duration", duration_s, said, _SECONDS)
    elif isinstance(operation, AgentInvocation):
        said = dict(failed)
        _put(said, gen_ai.AGENT_NAME, operation.agent_name)
        meters.histogram("gen_ai.invoke_agent.duration", duration_s, said, _AGENT_SECONDS)
        said.pop(core.ERROR_TYPE, None)
        if run is not None:
            meters.histogram("gen_ai.invoke_agent.inference_calls", run.inference_calls, said,
                             _CALLS, "{inference_call}")  # fmt: skip
            meters.histogram("gen_ai.invoke_agent.tool_calls", run.tool_calls, said,
                             _CALLS, "{tool_call}")  # fmt: skip
    elif isinstance(operation, WorkflowInvocation):
        said = dict(failed)
        _put(said, gen_ai.WORKFLOW_NAME, operation.workflow_name)
        meters.histogram("gen_ai.invoke_workflow.duration", duration_s, said, _WORKFLOW_SECONDS)
    elif isinstance(operation, McpRequest):
        said = {mcp.METHOD_NAME: operation.method, **failed}
        _put(said, gen_ai.TOOL_NAME, operation.tool_name)
        name = f"mcp.{operation.side}.operation.duration"
        meters.histogram(name, duration_s, said, _MCP_SECONDS)


def _record_inference(
    meters: _Meters, operation: Inference, duration_s: float, failed: dict[str, str]
) -> None:
    said: dict[str, Any] = {gen_ai.OPERATION_NAME: operation.operation}
    _put(said, gen_ai.PROVIDER_NAME, operation.provider)
    _put(said, gen_ai.REQUEST_MODEL, operation.request_model)
    _put(said, gen_ai.RESPONSE_MODEL, operation.response_model)
    _put(said, core.SERVER_ADDRESS, operation.server_address)
    _put(said, core.SERVER_PORT, operation.server_port)
    base = "gen_ai.client.inference."
    meters.histogram(f"{base}duration", duration_s, {**said, **failed}, _SECONDS)
    if operation.time_to_first_chunk_s is not None:
        first = operation.time_to_first_chunk_s
        meters.histogram(f"{base}time_to_first_chunk", first, said, _SECONDS)
    usage = operation.usage
    tokens = {**said, "gen_ai.token.modality": "unknown"}
    for name, value in (
        ("input_tokens", None if usage is None else usage.input_tokens),
        ("output_tokens", None if usage is None else usage.output_tokens),
    ):
        meters.histogram(f"{base}operation.{name}", value or 0, {**said, **failed}, _TOKENS,
                         "{token}")  # fmt: skip
        if value is not None:
            meters.counter(f"{base}usage.{name}", value, tokens)
            if meters.older:
                kind = name.removesuffix("_tokens")
                meters.histogram("gen_ai.client.token.usage", value,
                                 {**said, gen_ai.TOKEN_TYPE: kind}, _TOKENS, "{token}")  # fmt: skip
    if usage is not None:
        for name, value in (
            ("cache_read.input_tokens", usage.cache_read_tokens),
            ("cache_write.input_tokens", usage.cache_write_tokens),
            ("reasoning.output_tokens", usage.reasoning_tokens),
        ):
            if value:
                meters.counter(f"{base}usage.{name}", value, tokens)
    if meters.older:
        said |= failed
        meters.histogram("gen_ai.client.operation.duration", duration_s, said, _SECONDS)


def _put(attributes: dict[str, Any], key: str, value: Any) -> None:
    if value is not None:
        attributes[key] = value
