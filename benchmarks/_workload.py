"""The workload of everything live: an agent that calls a tool ten times, and the hand-written span
that a tool call is compared with.

`ref` is the span a careful user would write: started as current, eight attributes, arguments and
result as orjson text, exported through a BatchSpanProcessor to an exporter that drops.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Sequence
from typing import Any

import orjson
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, Sampler
from opentelemetry.trace import SpanKind

__all__ = [
    "CALLS_PER_RUN",
    "QUERY",
    "ROWS",
    "Decorator",
    "Drop",
    "Function",
    "async_reference",
    "async_search",
    "per_call",
    "provider_of",
    "reference",
    "reference_agent",
    "search",
    "unsampled",
]

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]

CALLS_PER_RUN = 10
QUERY = "what are the best agent debugging tools available today, and who maintains them"[:80]
ROWS = [
    {"url": f"https://example.org/articles/{n}", "title": f"Result {n}", "snippet": "s" * 127}
    for n in range(5)
]

_QUEUE = 65_536
"""Large enough that no span is dropped: a dropped span costs less than an exported one."""


class Drop(SpanExporter):
    """Takes everything and keeps nothing."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        return None


def search(query: str, limit: int = 5) -> list[dict[str, Any]]:
    return ROWS


async def async_search(query: str, limit: int = 5) -> list[dict[str, Any]]:
    return ROWS


def provider_of(sampler: Sampler, exporter: SpanExporter | None = None) -> TracerProvider:
    """Return a provider that exports in batches, by default to nowhere."""
    provider = TracerProvider(sampler=ParentBased(sampler), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter or Drop(), max_queue_size=_QUEUE))
    return provider


def reference(tracer: trace.Tracer, fn: Function) -> Function:
    """The hand-written span around a plain function."""

    def call(**kwargs: Any) -> Any:
        with tracer.start_as_current_span(
            "execute_tool search", kind=SpanKind.INTERNAL, attributes=_attributes()
        ) as span:
            span.set_attribute("gen_ai.tool.call.arguments", orjson.dumps(kwargs).decode())
            result = fn(**kwargs)
            span.set_attribute("gen_ai.tool.call.result", orjson.dumps(result).decode())
            return result

    return call


def async_reference(tracer: trace.Tracer, fn: Function) -> Function:
    """Wrap a coroutine function in a span of the SDK by hand."""

    async def call(**kwargs: Any) -> Any:
        with tracer.start_as_current_span(
            "execute_tool search", kind=SpanKind.INTERNAL, attributes=_attributes()
        ) as span:
            span.set_attribute("gen_ai.tool.call.arguments", orjson.dumps(kwargs).decode())
            result = await fn(**kwargs)
            span.set_attribute("gen_ai.tool.call.result", orjson.dumps(result).decode())
            return result

    return call


def unsampled(tracer: trace.Tracer, fn: Function) -> Function:
    """The SDK's own span where nothing is sampled, and so nothing serialised."""

    def call(**kwargs: Any) -> Any:
        with tracer.start_as_current_span(
            "execute_tool search", kind=SpanKind.INTERNAL, attributes=_attributes()
        ):
            return fn(**kwargs)

    return call


def reference_agent(tracer: trace.Tracer) -> Decorator:
    """The hand-written span around an agent, which the hand-written tools run in."""

    def decorate(fn: Function) -> Function:
        if inspect.iscoroutinefunction(fn):

            async def async_run(task: str) -> Any:
                with tracer.start_as_current_span("invoke_agent bench"):
                    return await fn(task)

            return async_run

        def run(task: str) -> Any:
            with tracer.start_as_current_span("invoke_agent bench"):
                return fn(task)

        return run

    return decorate


def _attributes() -> dict[str, str]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": "Search the web.",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.agent.name": "bench",
        "gen_ai.conversation.id": "c1",
        "app.version": "1",
    }


def per_call(
    agent: Decorator,
    call: Function,
    runs: int,
    flush: Callable[[], object],
    is_async: bool = False,
) -> float:
    """Return CPU microseconds per tool call of an agent that makes ten of them.

    Of the whole process: background thread and final flush included, and the agent itself, which
    the same figure for an undecorated `call` takes away again.
    """

    def sync_agent(task: str) -> str:
        for _ in range(CALLS_PER_RUN):
            call(query=QUERY, limit=5)
        return "done"

    async def async_agent(task: str) -> str:
        for _ in range(CALLS_PER_RUN):
            await call(query=QUERY, limit=5)
        return "done"

    decorated = agent(async_agent if is_async else sync_agent)

    async def all_runs() -> None:
        for _ in range(runs):
            await decorated("go")

    start = time.process_time()
    if is_async:
        asyncio.run(all_runs())
    else:
        for _ in range(runs):
            decorated("go")
    flush()
    return (time.process_time() - start) / (runs * CALLS_PER_RUN) * 1e6
