"""Time of the first call of a process, and the share of it on the span."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from benchmarks._child import in_child
from benchmarks._rounds import compared
from benchmarks._sink import sink
from benchmarks._sizes import Size
from benchmarks._table import Row, Target

__all__ = ["rows"]


def rows(size: Size) -> Iterator[Row]:
    spans: list[tuple[float, float]] = []
    starts: list[tuple[float, float]] = []
    calls: list[tuple[float, float]] = []
    with sink() as url:
        for number in range(size.interpreters + 1):
            complete, call, span = in_child(ours, url, True)
            _, _, without = in_child(ours, url, False)
            sdk, sdk_call = in_child(official, url)
            if number:  # the first round compiles
                spans.append((span, without))
                starts.append((complete, sdk))
                calls.append((call, sdk_call))
    yield Row.of("first span of a process, metrics over OTLP, against none (wall)", "ms",
                 compared(spans), Target("≤ 1.5×", 1.5))  # fmt: skip
    yield Row.of("instrument() and first call, against SDK, official exporter and first span", "ms",
                 compared(starts), note="CPU")  # fmt: skip
    yield Row.of("first call of a process, metrics over OTLP (wall)", "ms",
                 compared(calls), Target("≤ 10 ms", 10, on="ours"))  # fmt: skip


def ours(url: str, metrics: bool) -> tuple[float, float, float]:
    """Return milliseconds: CPU of `instrument()` and the first call, wall time of that call, and
    the duration of its span.
    """
    if not metrics:
        os.environ["OTEL_METRICS_EXPORTER"] = "none"
    begin = time.process_time()
    import agentool_otel

    agentool_otel.instrument(endpoint=url)
    spans: list[float] = []

    @agentool_otel.tool
    def call(text: str) -> str:
        return text

    from opentelemetry import trace
    from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

    class Watch(SpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:
            spans.append(((span.end_time or 0) - (span.start_time or 0)) / 1e6)

    provider = trace.get_tracer_provider()
    assert isinstance(provider, TracerProvider)
    provider.add_span_processor(Watch())
    start = time.perf_counter()
    call("hello")
    took = time.perf_counter() - start
    return (time.process_time() - begin) * 1e3, took * 1e3, spans[0]


def official(url: str) -> tuple[float, float]:
    """Return the same of the SDK: CPU until the first span has ended, and that span's wall time."""
    begin = time.process_time()
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces")))
    trace.set_tracer_provider(provider)
    start = time.perf_counter()
    with trace.get_tracer("app").start_as_current_span("call"):
        pass
    took = time.perf_counter() - start
    return (time.process_time() - begin) * 1e3, took * 1e3
