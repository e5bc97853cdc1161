"""What a decorated tool call costs, against a span of the OpenTelemetry SDK written by hand.

`ref` is the span a careful user would write: started as current, eight attributes, arguments and
result as orjson text, exported through a BatchSpanProcessor to an exporter that drops. CPU time of
the whole process, background thread and final flush included; cases are interleaved in rounds and
the median of the rounds' ratios counts.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import orjson
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased, Sampler
from opentelemetry.trace import SpanKind

from agentool_otel.capture import agent, tool
from agentool_otel.emit.content import Policy
from agentool_otel.emit.session import session

CALLS_PER_RUN = 10
ROUNDS = 9
QUERY = "what are the best agent debugging tools available today, and who maintains them"[:80]
ROWS = [
    {"url": f"https://example.org/articles/{n}", "title": f"Result number {n}", "snippet": "s" * 120}
    for n in range(5)
]


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


def provider_of(sampler: Sampler) -> TracerProvider:
    provider = TracerProvider(sampler=ParentBased(sampler), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(Drop(), max_queue_size=65_536))
    return provider


def reference(tracer: trace.Tracer, fn: Callable[..., Any]) -> Callable[..., Any]:
    """The hand-written span around a plain function."""

    def call(**kwargs: Any) -> Any:
        with tracer.start_as_current_span(
            "execute_tool search",
            kind=SpanKind.INTERNAL,
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "search",
                "gen_ai.tool.type": "function",
                "gen_ai.tool.description": "Search the web.",
                "gen_ai.tool.call.id": "call_1",
                "gen_ai.agent.name": "bench",
                "gen_ai.conversation.id": "c1",
                "app.version": "1",
            },
        ) as span:
            span.set_attribute("gen_ai.tool.call.arguments", orjson.dumps(kwargs).decode())
            result = fn(**kwargs)
            span.set_attribute("gen_ai.tool.call.result", orjson.dumps(result).decode())
            return result

    return call


def async_reference(tracer: trace.Tracer, fn: Callable[..., Any]) -> Callable[..., Any]:
    async def call(**kwargs: Any) -> Any:
        with tracer.start_as_current_span(
            "execute_tool search",
            kind=SpanKind.INTERNAL,
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "search",
                "gen_ai.tool.type": "function",
                "gen_ai.tool.description": "Search the web.",
                "gen_ai.tool.call.id": "call_1",
                "gen_ai.agent.name": "bench",
                "gen_ai.conversation.id": "c1",
                "app.version": "1",
            },
        ) as span:
            span.set_attribute("gen_ai.tool.call.arguments", orjson.dumps(kwargs).decode())
            result = await fn(**kwargs)
            span.set_attribute("gen_ai.tool.call.result", orjson.dumps(result).decode())
            return result

    return call


def unsampled(tracer: trace.Tracer, fn: Callable[..., Any]) -> Callable[..., Any]:
    """The SDK's own span under ALWAYS_OFF, nothing serialised."""

    def call(**kwargs: Any) -> Any:
        with tracer.start_as_current_span(
            "execute_tool search",
            kind=SpanKind.INTERNAL,
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "search",
                "gen_ai.tool.type": "function",
                "gen_ai.tool.description": "Search the web.",
                "gen_ai.tool.call.id": "call_1",
                "gen_ai.agent.name": "bench",
                "gen_ai.conversation.id": "c1",
                "app.version": "1",
            },
        ):
            return fn(**kwargs)

    return call


def per_call(call: Callable[..., Any], runs: int, flush: Callable[[], Any], is_async: bool) -> float:
    """CPU microseconds per tool call of an agent that makes ten of them."""

    @agent(name="bench")
    def sync_agent(task: str) -> str:
        for _ in range(CALLS_PER_RUN):
            call(query=QUERY, limit=5)
        return "done"

    @agent(name="bench")
    async def async_agent(task: str) -> str:
        for _ in range(CALLS_PER_RUN):
            await call(query=QUERY, limit=5)
        return "done"

    start = time.process_time()
    if is_async:

        async def all_runs() -> None:
            for _ in range(runs):
                await async_agent("go")

        asyncio.run(all_runs())
    else:
        for _ in range(runs):
            sync_agent("go")
    flush()
    return (time.process_time() - start) / (runs * CALLS_PER_RUN) * 1e6


def measure(runs: int = 300) -> list[tuple[str, float, float, float]]:
    """Return (case, its cost in microseconds, its reference's, median ratio)."""
    on, off = provider_of(ALWAYS_ON), provider_of(ALWAYS_OFF)
    cases: list[tuple[str, TracerProvider, Callable[..., Any], Callable[..., Any], bool]] = [
        ("tool, sampled, content", on, tool(search), reference(on.get_tracer("ref"), search), False),
        (
            "async tool, sampled, content",
            on,
            tool(async_search),
            async_reference(on.get_tracer("ref"), async_search),
            True,
        ),
        ("tool, not sampled", off, tool(search), unsampled(off.get_tracer("ref"), search), False),
    ]
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name, *_ in cases}
    for _ in range(ROUNDS):
        for name, provider, ours, theirs, is_async in cases:
            session.configure(provider=provider, policy=Policy(capture=True))
            bare = async_search if is_async else search
            floor = per_call(bare, runs, provider.force_flush, is_async)
            mine = per_call(ours, runs, provider.force_flush, is_async) - floor
            other = per_call(theirs, runs, provider.force_flush, is_async) - floor
            costs[name].append((mine, other))
    session.reset()
    return [
        (
            name,
            statistics.median(mine for mine, _ in pairs),
            statistics.median(other for _, other in pairs),
            statistics.median(mine / other for mine, other in pairs),
        )
        for name, pairs in costs.items()
    ]


if __name__ == "__main__":
    for name, mine, other, ratio in measure():
        print(f"{name:32} {mine:7.2f} us   ref {other:7.2f} us   {ratio:5.2f}x")
