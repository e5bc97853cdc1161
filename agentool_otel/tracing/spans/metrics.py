"""The convention's metrics, recorded only when somebody collects them.

Spec: GenAI conventions, metrics. Names, units, buckets and attributes are those of `semconv.table`;
a metric that the generation in force does not have is not recorded. Every value is recorded in the
context of the span that was measured, so that its exemplar leads there.

A meter provider of ours gets what `metric_sums` has added up; one of the application's is called
for every value, since it may have views and readers that nobody here knows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from opentelemetry.context import Context

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
from agentool_otel.tracing.spans.identity import agent_of
from agentool_otel.tracing.spans.metric_sums import Instrument, Scope, Sums
from agentool_otel.tracing.spans.settings import SCOPE, settings

if TYPE_CHECKING:
    from opentelemetry import metrics as otel

    from agentool_otel.tracing.spans.run import Run

__all__ = [
    "ToolDuration",
    "add_up",
    "chunk_gaps",
    "configure",
    "is_collected",
    "provider",
    "record",
    "refresh",
]

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
_VALUES: Mapping[type[Operation], Callable[[Operation], Any]] = {
    cls: attrgetter(*(field for field, _ in fields)) for cls, fields in _FIELDS.items() if fields
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


class _Named(NamedTuple):
    """A metric as it is called in a generation."""

    instrument: Instrument
    attributes: tuple[tuple[str, str], ...]
    """The baseline's name of each attribute it may have, and the name written."""
    required: frozenset[str]
    """Those of them that every value must have."""


_Put = Callable[[float, Context], None]
"""Takes a value, and the context of the span that was measured."""
_Extra = tuple[str, str] | None
"""An attribute that some values of an operation have beside the others."""


def _nowhere(_: float, __: Context) -> None:
    """Take a value of a metric that the generation does not have."""


class _Meters:
    """The instruments of one meter provider and generation, made when first used.

    Args:
        provider: is called for every value.
        generation: the names in force.
        sums: takes the values instead.
    """

    def __init__(self, provider: otel.MeterProvider, generation: Generation, sums: Sums | None):
        from agentool_otel.ground.version import __version__

        self.provider = provider
        self.generation = generation
        self.sums = sums
        self._scope = Scope(SCOPE, __version__, generation.schema_url)
        self._meter = provider.get_meter(*self._scope)
        self._named: dict[str, _Named | None] = {}
        self._puts: dict[str, Callable[..., None]] = {}
        self._sites: dict[object, _Site] = {}

    def site(self, operation: Operation, context: Context) -> _Site:
        """Return the recorder of values for operations like this one."""
        cls = type(operation)
        about: object = None
        if cls is ToolExecution:
            about = agent_of(context)
        elif isinstance(operation, (Inference, Embeddings)) and operation.extra:
            about = tuple(map(operation.extra.get, _OF_OPENAI))
        key = (cls, _VALUES[cls](operation), about)
        try:
            site = self._sites.get(key)
        except TypeError:  # not hashable
            return _Site(self, _attributes_of(operation, context))
        if site is None:
            if len(self._sites) >= _SITES:
                self._sites.clear()
            site = self._sites[key] = _Site(self, _attributes_of(operation, context))
        return site

    def put(self, metric: str, attributes: _Attributes) -> _Put:
        """Return the recorder of values of a baseline metric, under the name that it has in this
        generation and with its attributes.
        """
        try:
            named = self._named[metric]
        except KeyError:
            named = self._named[metric] = self._name(metric)
        if named is None or not named.required <= attributes.keys():
            return _nowhere
        values = self.generation.values
        written: _Attributes = {}
        for key, name in named.attributes:
            if key in attributes:
                attribute = attributes[key]
                written[name] = (
                    values[key].get(attribute, attribute) if key in values else attribute
                )
        if self.sums is not None:
            try:
                return partial(self.sums.put, self.sums.series(named.instrument, written))
            except TypeError:  # an attribute that is not hashable, which an SDK may take
                pass
        put = self._puts.get(metric)
        if put is None:
            put = self._puts[metric] = self._sdk_put(named.instrument)
        return lambda value, context: put(value, written, context=context)

    def _name(self, metric: str) -> _Named | None:
        generation = self.generation
        name = generation.metrics.get(metric)
        if name is None:
            return None
        definition = METRICS.get(name) or METRICS[metric]
        attributes = tuple(
            (key, generation.names.get(key, key))
            for key in definition.attributes
            if key not in generation.absent
        )
        buckets = None if definition.instrument == "counter" else tuple(definition.buckets)
        instrument = Instrument(self._scope, name, definition.unit, definition.description, buckets)
        return _Named(
            instrument, attributes, generation.required.intersection(definition.attributes)
        )

    def _sdk_put(self, instrument: Instrument) -> Callable[..., None]:
        _, name, unit, description, buckets = instrument
        if buckets is None:
            return self._meter.create_counter(name, unit, description).add
        return self._meter.create_histogram(
            name, unit, description, explicit_bucket_boundaries_advisory=list(buckets)
        ).record


class _Site:
    """Recorder of values for operations with equal metric attributes."""

    def __init__(self, meters: _Meters, attributes: _Attributes):
        self._meters = meters
        self._attributes = attributes
        self._puts: dict[tuple[str, _Extra], _Put] = {}

    def put(self, metric: str, extra: _Extra = None) -> _Put:
        """Return the recorder of values of a metric."""
        key = (metric, extra)
        put = self._puts.get(key)
        if put is None:
            attributes = self._attributes
            if extra is not None:
                attributes = {**attributes, extra[0]: extra[1]}
            put = self._puts[key] = self._meters.put(metric, attributes)
        return put


_SITES = 2000
"""Sites that are remembered."""
_meters: _Meters | None = None
_provider: otel.MeterProvider | None = None
_own: tuple[otel.MeterProvider, Sums] | None = None


def configure(provider: otel.MeterProvider | None = None) -> None:
    """Use a meter provider instead of the global one."""
    global _lookups, _meters, _provider
    _lookups, _meters, _provider = 0, None, provider


def add_up(provider: otel.MeterProvider, sums: Sums) -> None:
    """Have the values for a provider added up, for the reader that collects them with its data."""
    global _own
    _own = (provider, sums)


def provider() -> otel.MeterProvider | None:
    """Return the provider that replaces the global meter provider, None if there is none."""
    return _provider


def refresh() -> None:
    """Look for a meter provider again at the next call."""
    global _lookups
    _lookups = 0


_lookups = 0


def _active() -> _Meters | None:
    global _lookups, _meters
    meters = _meters
    if meters is None:
        # Nobody collects so far. Looking is dear beside a traced call, and a meter provider comes
        # once in a program's life: look at every 64th call only.
        _lookups += 1
        if _lookups & 63 != 1 or (provider := _found()) is None:
            return None
    elif meters.generation is settings.dialect.generation:
        return meters
    else:
        provider = meters.provider
    sums = _own[1] if _own is not None and _own[0] is provider else None
    _meters = _Meters(provider, settings.dialect.generation, sums)
    return _meters


def _found() -> otel.MeterProvider | None:
    """Return the meter provider in force, if somebody collects."""
    api = sys.modules.get("opentelemetry.metrics")
    if api is None:
        return None  # nobody has as much as imported the metrics API
    provider: otel.MeterProvider = _provider or api.get_meter_provider()
    if type(provider).__module__.startswith("opentelemetry.metrics"):
        return None  # the API's own stand-in
    return provider


def is_collected() -> bool:
    """True if a metric that is recorded now goes anywhere."""
    return _active() is not None


class ToolDuration:
    """The duration of the calls of one tool, whose recorder is looked up once per agent.

    Args:
        operation: a call that has not failed.
    """

    __slots__ = ("_last", "_operation")

    def __init__(self, operation: ToolExecution):
        self._operation = operation
        self._last: tuple[_Meters, str | None, _Put] | None = None
        """The recorder looked up last, and what it belongs to."""

    def __reduce__(self) -> tuple[Any, ...]:
        return ToolDuration, (self._operation,)

    def record(self, duration_s: float, context: Context) -> None:
        """Record the duration of a call.

        Args:
            duration_s: how long it took.
            context: that of its span.
        """
        meters = _active()
        if meters is None:
            return
        agent, last = agent_of(context), self._last
        if last is None or last[0] is not meters or last[1] != agent:
            site = meters.site(self._operation, context)
            put = site.put(gen_ai.METRIC_EXECUTE_TOOL_DURATION)
            last = self._last = meters, agent, put
        last[2](duration_s, context)


def record(operation: Operation, duration_s: float, run: Run | None, context: Context) -> None:
    """Record the metrics of the conventions for one finished operation.

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
    site = meters.site(operation, context)
    site.put(metric)(duration_s, context)
    if isinstance(operation, Inference):
        for metric, extra, value in _of_inference(operation):
            site.put(metric, extra)(value, context)
    elif isinstance(operation, AgentInvocation) and run is not None:
        site.put(gen_ai.METRIC_INVOKE_AGENT_INFERENCE_CALLS)(run.inference_calls, context)
        site.put(gen_ai.METRIC_INVOKE_AGENT_TOOL_CALLS)(run.tool_calls, context)


def chunk_gaps(operation: Operation, context: Context) -> Callable[[float], None] | None:
    """Return the recorder of seconds between chunks of a streamed answer; None if there is no
    destination.

    Args:
        operation: the call as far as it is known.
        context: that of its span.
    """
    meters = _active()
    if meters is None or not isinstance(operation, Inference):
        return None
    put = meters.site(operation, context).put(gen_ai.METRIC_INFERENCE_TIME_PER_OUTPUT_CHUNK)
    return None if put is _nowhere else lambda seconds: put(seconds, context)


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
    """Return a count of tokens by their modality. A part that the provider does not report is
    unknown, and so is all of it where the parts exceed the whole.
    """
    total = getattr(usage, field, None) or 0
    parts = [
        (modality, count)
        for modality in _MODALITIES
        if (count := getattr(usage, f"{modality}_{field}", None))
    ]
    remainder = total - sum(count for _, count in parts)
    if remainder < 0:
        return [("unknown", total)]
    return [*parts, ("unknown", remainder)] if remainder or not parts else parts


def _of_inference(operation: Inference) -> Iterator[tuple[str, _Extra, float]]:
    """Yield metric, attribute and value of a model call's measurements besides its duration."""
    if operation.time_to_first_chunk_s is not None:
        yield gen_ai.METRIC_INFERENCE_TIME_TO_FIRST_CHUNK, None, operation.time_to_first_chunk_s
    usage = operation.usage
    # Spec: counted for every call, failed ones too, with 0 where no usage came.
    for metric, field in _COUNTERS:
        for modality, part in _by_modality(usage, field):
            yield metric, (gen_ai.TOKEN_MODALITY, modality), part
    for direction, field, metric in _DIRECTIONS:
        count = getattr(usage, field, None)
        yield metric, None, count or 0
        if count is not None:
            yield gen_ai.METRIC_CLIENT_TOKEN_USAGE, (gen_ai.TOKEN_TYPE, direction), count
