"""Memory of finished spans in the queue, and growth from unfinished runs."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from contextvars import copy_context

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

import agentool_otel
from agentool_otel.content.policy import Policy
from agentool_otel.tracing.capture import agent, tool
from agentool_otel.tracing.spans.settings import settings
from benchmarks._child import in_child, rss_mb
from benchmarks._sizes import Size
from benchmarks._table import Row, Target
from benchmarks._workload import CALLS_PER_RUN, QUERY, Function, provider_of, reference, search

__all__ = ["rows"]

_FLAT_MB = 2.0
"""Growth that the allocator alone may show; 25 bytes kept for each of 90,000 runs exceed it."""


def rows(size: Size) -> Iterator[Row]:
    ours, sdk = in_child(queued, size.queued)
    yield Row(
        what="a finished tool span in the queue",
        unit="B",
        ours=ours,
        reference=sdk,
        ratio=ours / sdk,
    )
    grown, reference_grown = (in_child(growth, size.endless, mine) for mine in (True, False))
    yield Row(
        what=f"growth over {size.endless:,} runs, a tenth never finished, reference: SDK spans",
        unit="MB",
        ours=grown,
        reference=reference_grown,
        target=Target(f"flat (< {_FLAT_MB:.0f} MB)", _FLAT_MB, on="ours"),
    )


# ------------------------------------------------------------------------------------- the queue


class _Hold(SpanProcessor):
    """A queue that nobody empties."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        if span.name.startswith("execute_tool"):
            self.spans.append(span)


def queued(runs: int) -> tuple[float, float]:
    """Return the bytes that a tool span of ours holds once it has ended, and one of the SDK."""
    hold = _Hold()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(hold)
    settings.configure(provider=provider, policy=Policy(capture=True))
    by_hand = reference(provider.get_tracer("ref"), search)
    return _held(tool(search), hold, runs), _held(by_hand, hold, runs)


def _held(call: Function, hold: _Hold, runs: int) -> float:
    @agent(name="bench")
    def asks(task: str) -> None:
        for _ in range(CALLS_PER_RUN):
            call(query=QUERY, limit=5)

    asks("warm up")
    hold.spans.clear()
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(runs):
        asks("go")
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    count = len(hold.spans)
    hold.spans.clear()
    assert count == runs * CALLS_PER_RUN
    return (after - before) / count


# ------------------------------------------------------------------------------------ without end


def growth(runs: int, ours: bool) -> float:
    """Return by how many MB the process grows from a tenth of the runs to the last one."""
    provider = provider_of(ALWAYS_ON)
    settings.configure(provider=provider, policy=Policy(capture=True))
    tracer = provider.get_tracer("ref")
    run: Callable[[bool], None] = _our_run if ours else lambda ends: _sdk_run(tracer, ends)
    start = 0.0
    for number in range(runs):
        # As a task or a thread of its own: what is left attached goes with its context.
        copy_context().run(run, number % 10 != 9)
        if number % 500 == 499:
            provider.force_flush()
        if number == runs // 10:
            start = _settled(provider)
    return _settled(provider) - start


def _settled(provider: TracerProvider) -> float:
    provider.force_flush()
    gc.collect()
    return rss_mb()


def _our_run(ends: bool) -> None:
    """A run with a thought and two tool calls; unless it ends, the second is never answered."""
    run = agentool_otel.run("bench", input=QUERY, session_id="s")
    run.__enter__()
    run.reasoning("I should look that up.")
    run.tool_result(run.tool_call("search", {"query": QUERY}), "found")
    call = run.tool_call("search", {"query": QUERY})
    if ends:
        run.tool_result(call, "found")
        run.output = "done"
        run.__exit__(None, None, None)


def _sdk_run(tracer: trace.Tracer, ends: bool) -> None:
    """The same in spans of the SDK, the ones never ended simply dropped."""
    root = tracer.start_span("invoke_agent bench", attributes={"gen_ai.input.messages": QUERY})
    context = trace.set_span_in_context(root)
    for number in range(2):
        attributes = {"gen_ai.tool.call.arguments": QUERY}
        span = tracer.start_span("execute_tool search", context, attributes=attributes)
        if ends or number == 0:
            span.set_attribute("gen_ai.tool.call.result", "found")
            span.end()
    if ends:
        root.end()
