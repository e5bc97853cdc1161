"""The convention's metrics, recorded only when somebody collects them.

Spec: GenAI conventions, metrics. Names, units, buckets and attributes are those of `semconv.table`;
a metric that the generation in force does not have is not recorded. Every value is recorded in the
context of the span that was measured, so that its exemplar leads there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from opentelemetry.context import Context

from agentool_otel.emit.identity import agent_of
from agentool_otel.emit.session import SCOPE, session
from agentool_otel.model.operations import (
    AgentCreation,
    AgentInvocation,
    Embeddings,
    FetchResponse,
    Inference,
    McpRequest,
    MemoryOperation,
    Operation,
    Retrieval,
    ToolExecution,
    Usage,
    WorkflowInvocation,
)
from agentool_otel.semconv import core, gen_ai, mcp, openai
from agentool_otel.semconv.table import METRICS, Generation

if TYPE_CHECKING:
    from opentelemetry import metrics as otel

    from agentool_otel.emit.run import Run

__all__ = ["chunk_gaps", "collected", "configure", "provider", "record", "refresh"]

_Attributes = dict[str, Any]
"""Attributes under the baseline's names: all that any metric of an operation may have."""
_UNKNOWN = "_OTHER"
"""Spec: the provider of a model where it is none that is known; metrics always have one."""
_DURATIONS: Mapping[type[Operation], str] = {
    Inference: gen_ai.METRIC_INFERENCE_DURATION,
    Embeddings: gen_ai.METRIC_OPERATION_DURATION,
    Retrieval: gen_ai.METRIC_OPERATION_DURATION,
    FetchResponse: gen_ai.METRIC_OPERATION_DURATION,
    MemoryOperation: gen_ai.METRIC_OPERATION_DURATION,
    AgentCreation: gen_ai.METRIC_OPERATION_DURATION,
    AgentInvocation: gen_ai.METRIC_INVOKE_AGENT_DURATION,
    WorkflowInvocation: gen_ai.METRIC_INVOKE_WORKFLOW_DURATION,
    ToolExecution: gen_ai.METRIC_EXECUTE_TOOL_DURATION,
}
_NAMES: Mapping[type[Operation], str] = {
    Embeddings: gen_ai.OP_EMBEDDINGS,
    Retrieval: gen_ai.OP_RETRIEVAL,
    FetchResponse: gen_ai.OP_FETCH_RESPONSE,
    AgentCreation: gen_ai.OP_CREATE_AGENT,
}
"""Operations that are always called the same."""
_ATTRIBUTES = {
    "operation": gen_ai.OPERATION_NAME,
    "provider": gen_ai.PROVIDER_NAME,
    "request_model": gen_ai.REQUEST_MODEL,
    "response_model": gen_ai.RESPONSE_MODEL,
    "server_address": core.SERVER_ADDRESS,
    "server_port": core.SERVER_PORT,
    "error_type": core.ERROR_TYPE,
    "agent_name": gen_ai.AGENT_NAME,
    "workflow_name": gen_ai.WORKFLOW_NAME,
    "name": gen_ai.TOOL_NAME,
    "tool_type": gen_ai.TOOL_TYPE,
    "method": mcp.METHOD_NAME,
    "tool_name": gen_ai.TOOL_NAME,
    "prompt_name": gen_ai.PROMPT_NAME,
    "protocol_version": mcp.PROTOCOL_VERSION,
    "transport": core.NETWORK_TRANSPORT,
}
"""Field of an operation to the attribute of its metrics."""
_FIELDS = {
    cls: tuple(
        (field, _ATTRIBUTES[field]) for field in cls.__struct_fields__ if field in _ATTRIBUTES
    )
    for cls in (*_DURATIONS, McpRequest)
}
_OF_OPENAI = (openai.RESPONSE_SERVICE_TIER, openai.RESPONSE_SYSTEM_FINGERPRINT)
_COUNTERS = (
    (gen_ai.METRIC_INFERENCE_USAGE_INPUT_TOKENS, "input_tokens"),
    (gen_ai.METRIC_INFERENCE_USAGE_OUTPUT_TOKENS, "output_tokens"),
    (gen_ai.METRIC_INFERENCE_USAGE_CACHE_READ_INPUT_TOKENS, "cache_read_tokens"),
    (gen_ai.METRIC_INFERENCE_USAGE_CACHE_WRITE_INPUT_TOKENS, "cache_write_tokens"),
    (gen_ai.METRIC_INFERENCE_USAGE_REASONING_OUTPUT_TOKENS, "reasoning_tokens"),
)
_MODALITIES = ("text", "image", "audio")
_DIRECTIONS = (
    ("input", "input_tokens", gen_ai.METRIC_INFERENCE_OPERATION_INPUT_TOKENS),
    ("output", "output_tokens", gen_ai.METRIC_INFERENCE_OPERATION_OUTPUT_TOKENS),
)


class _Instrument(NamedTuple):
    put: Callable[..., None]
    """Takes value, attributes and context."""
    attributes: tuple[tuple[str, str], ...]
    """The baseline's name of each attribute it may have, and the name written."""
    required: frozenset[str]
    """Those of them that every value must have."""


class _Meters:
    """The instruments of one meter provider and generation, made when first used."""

    def __init__(self, provider: otel.MeterProvider, generation: Generation):
        from agentool_otel.ground.version import __version__

        self.provider = provider
        self.generation = generation
        self._meter = provider.get_meter(SCOPE, __version__, generation.schema_url)
        self._instruments: dict[str, _Instrument | None] = {}

    def record(self, metric: str, value: float, attributes: _Attributes, context: Context) -> None:
        """Record a value under the name that a metric of the baseline has in this generation, if it
        has one, with those of the attributes that belong to it."""
        if (prepared := self.prepared(metric, attributes)) is not None:
            put, named = prepared
            put(value, named, context=context)

    def prepared(
        self, metric: str, attributes: _Attributes
    ) -> tuple[Callable[..., None], _Attributes] | None:
        """Return what takes values of a metric, and the attributes for them."""
        try:
            instrument = self._instruments[metric]
        except KeyError:
            instrument = self._instruments[metric] = self._make(metric)
        if instrument is None or not instrument.required <= attributes.keys():
            return None
        values = self.generation.values
        named = {}
        for key, name in instrument.attributes:
            if key in attributes:
                it = attributes[key]
                named[name] = values[key].get(it, it) if key in values else it
        return instrument.put, named

    def _make(self, metric: str) -> _Instrument | None:
        generation = self.generation
        name = generation.metrics.get(metric)
        if name is None:
            return None
        what = METRICS.get(name) or METRICS[metric]
        attributes = tuple(
            (key, generation.names.get(key, key))
            for key in what.attributes
            if key not in generation.absent
        )
        required = generation.required.intersection(what.attributes)
        if what.instrument == "counter":
            counter = self._meter.create_counter(name, what.unit, what.description)
            return _Instrument(counter.add, attributes, required)
        histogram = self._meter.create_histogram(
            name,
            what.unit,
            what.description,
            explicit_bucket_boundaries_advisory=list(what.buckets),
        )
        return _Instrument(histogram.record, attributes, required)


_meters: _Meters | None = None
_provider: otel.MeterProvider | None = None


def configure(provider: otel.MeterProvider | None = None) -> None:
    """Use a meter provider instead of the global one."""
    global _lookups, _meters, _provider
    _lookups, _meters, _provider = 0, None, provider


def provider() -> otel.MeterProvider | None:
    """Return what is used instead of the global meter provider, None where that is."""
    return _provider


def refresh() -> None:
    """Look for a meter provider again at the next call."""
    global _lookups
    _lookups = 0


_lookups = 0


def _active() -> _Meters | None:
    global _lookups, _meters
    if _meters is None:
        # Nobody collects so far. Looking is dear beside a traced call, and a meter provider comes
        # once in a program's life: look at every 64th call only.
        _lookups += 1
        if _lookups & 63 != 1:
            return None
        api = sys.modules.get("opentelemetry.metrics")
        if api is None:
            return None  # nobody has as much as imported the metrics API
        provider = _provider or api.get_meter_provider()
        if type(provider).__module__.startswith("opentelemetry.metrics"):
            return None  # the API's own stand-in
        _meters = _Meters(provider, session.dialect.generation)
    elif _meters.generation is not session.dialect.generation:
        _meters = _Meters(_meters.provider, session.dialect.generation)
    return _meters


def collected() -> bool:
    """True if a metric that is recorded now goes anywhere."""
    return _active() is not None


def record(operation: Operation, duration_s: float, run: Run | None, context: Context) -> None:
    """Record what the conventions ask for one finished operation.

    Args:
        operation: what was measured.
        duration_s: how long it took.
        run: the run it is a part of; of an agent, its own.
        context: that of its span.
    """
    meters = _active()
    if meters is None:
        return
    metric = _DURATIONS.get(type(operation))
    if isinstance(operation, McpRequest):
        metric = mcp.METRIC_CLIENT_OPERATION_DURATION
        if operation.side == "server":
            metric = mcp.METRIC_SERVER_OPERATION_DURATION
    if metric is None:
        return
    attributes = _attributes_of(operation, context)
    meters.record(metric, duration_s, attributes, context)
    if isinstance(operation, Inference):
        _record_inference(meters, operation, attributes, context)
    elif isinstance(operation, AgentInvocation) and run is not None:
        calls = gen_ai.METRIC_INVOKE_AGENT_INFERENCE_CALLS
        meters.record(calls, run.inference_calls, attributes, context)
        meters.record(gen_ai.METRIC_INVOKE_AGENT_TOOL_CALLS, run.tool_calls, attributes, context)


def chunk_gaps(operation: Operation, context: Context) -> Callable[[float], None] | None:
    """Return what takes the seconds from each chunk of a streamed answer to the next; None where
    they go nowhere.

    Args:
        operation: the call as far as it is known.
        context: that of its span.
    """
    meters = _active()
    if meters is None or not isinstance(operation, Inference):
        return None
    attributes = _attributes_of(operation, context)
    prepared = meters.prepared(gen_ai.METRIC_INFERENCE_TIME_PER_OUTPUT_CHUNK, attributes)
    if prepared is None:
        return None
    put, named = prepared
    return lambda seconds: put(seconds, named, context=context)


def _attributes_of(operation: Operation, context: Context) -> _Attributes:
    cls = type(operation)
    attributes: _Attributes = {}
    if cls in _NAMES:
        attributes[gen_ai.OPERATION_NAME] = _NAMES[cls]
    for field, attribute in _FIELDS[cls]:
        value = getattr(operation, field)
        if value is not None:
            attributes[attribute] = value
    if isinstance(operation, (Inference, Embeddings)):
        attributes.setdefault(gen_ai.PROVIDER_NAME, _UNKNOWN)
        for key in _OF_OPENAI:
            if key in operation.extra:
                attributes[key] = operation.extra[key]
    elif isinstance(operation, ToolExecution) and (agent := agent_of(context)) is not None:
        attributes.setdefault(gen_ai.AGENT_NAME, agent)
    elif isinstance(operation, McpRequest) and operation.method == mcp.METHOD_TOOLS_CALL:
        attributes[gen_ai.OPERATION_NAME] = gen_ai.OP_EXECUTE_TOOL
    return attributes


def _by_modality(usage: Usage | None, field: str) -> list[tuple[str, int]]:
    """Return a count of tokens by their modality. What the provider has not broken down is
    unknown, and so is all of it where the parts exceed the whole."""
    total = getattr(usage, field, None) or 0
    parts = [
        (modality, count)
        for modality in _MODALITIES
        if (count := getattr(usage, f"{modality}_{field}", None))
    ]
    rest = total - sum(count for _, count in parts)
    if rest < 0:
        return [("unknown", total)]
    return [*parts, ("unknown", rest)] if rest or not parts else parts


def _record_inference(
    meters: _Meters, operation: Inference, attributes: _Attributes, context: Context
) -> None:
    if operation.time_to_first_chunk_s is not None:
        first = operation.time_to_first_chunk_s
        meters.record(gen_ai.METRIC_INFERENCE_TIME_TO_FIRST_CHUNK, first, attributes, context)
    usage = operation.usage
    # Spec: counted for every call, failed ones too, with 0 where no usage came.
    for metric, field in _COUNTERS:
        for modality, part in _by_modality(usage, field):
            meters.record(metric, part, {**attributes, gen_ai.TOKEN_MODALITY: modality}, context)
    for direction, field, metric in _DIRECTIONS:
        count = getattr(usage, field, None)
        meters.record(metric, count or 0, attributes, context)
        if count is not None:
            attributes[gen_ai.TOKEN_TYPE] = direction
            meters.record(gen_ai.METRIC_CLIENT_TOKEN_USAGE, count, attributes, context)
