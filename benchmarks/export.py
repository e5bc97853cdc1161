"""Cost of exporting finished spans, and its effect on the application."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median, quantiles

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from agentool_otel.content.policy import Policy
from agentool_otel.otlp.protobuf_encoder import encode_span, merged
from agentool_otel.tracing.capture import agent, tool
from agentool_otel.tracing.export.disk.recording import RecordingExporter
from agentool_otel.tracing.export.pipeline import Pipeline
from agentool_otel.tracing.export.second_vocabulary import add_vocabulary
from agentool_otel.tracing.export.send.otlp import OtlpExporter, OtlpTarget
from agentool_otel.tracing.spans.settings import settings
from benchmarks._child import in_child
from benchmarks._rounds import Compared, compared
from benchmarks._sink import sink
from benchmarks._sizes import Size
from benchmarks._table import Row, Target
from benchmarks._workload import (
    CALLS_PER_RUN,
    QUERY,
    Function,
    provider_of,
    reference,
    search,
)

__all__ = ["rows"]

_BATCH = 512
"""Spans per batch, as many as the SDK's batch processor hands over at a time."""

_MOST = 15_000_000
"""Bytes a request may have."""

_SHIP = Target("≤ 1×", 1.0)
"""Encoder and connection are our own; the goal is a fifth."""


def rows(size: Size) -> Iterator[Row]:
    with sink() as url:
        shipped = in_child(ship, url, size.rounds, size.batches)
        felt = in_child(disturbance, url, size.rounds, size.disturbed_s)
    yield Row.of(
        "encode and ship a span, against the official OTLP/HTTP exporter",
        "µs",
        Compared(*shipped["otlp"]),
        _SHIP,
    )
    yield Row.of(
        "record a span in a file, against the official OTLP encoding alone",
        "µs",
        Compared(*shipped["recording"]),
    )
    yield Row.of(
        "ship a span with OpenInference's names beside ours, against without",
        "µs",
        Compared(*shipped["beside"]),
        note="on the thread that sends",
    )
    for key, taken in in_child(sizes).items():
        yield Row.of(key, "bytes", Compared(*taken), note="uncompressed")
    for key, values in felt.items():
        yield Row.of(key, "µs", Compared(*values), note="wall time")


# ---------------------------------------------------------------------------------- one span out


def ship(url: str, rounds: int, batches: int) -> dict[str, Compared]:
    """Compare ways out of the process by CPU microseconds per span."""
    spans = finished(_BATCH)
    ours = OtlpExporter(OtlpTarget(url, "http/protobuf"))
    otlp_exporter = OtlpExporter(OtlpTarget(url, "http/protobuf", also="openinference"))
    official = OTLPSpanExporter(f"{url}/v1/traces")
    with tempfile.TemporaryDirectory() as folder:
        recording = RecordingExporter(folder)
        ways: dict[str, tuple[Callable[[Sequence[ReadableSpan]], object], ...]] = {
            "otlp": (ours.export, official.export),
            "beside": (otlp_exporter.export, ours.export),
            "recording": (recording.export, lambda spans: encode_spans(spans).SerializeToString()),
        }
        costs: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for number in range(rounds + 1):
            for way, pair in ways.items():
                mine, second = (_per_span(export, spans, batches) for export in pair)
                if number:  # the first round only warms up
                    costs[way].append((mine, second))
        recording.shutdown()
    return {way: compared(pairs) for way, pairs in costs.items()}


def _per_span(
    export: Callable[[Sequence[ReadableSpan]], object], spans: list[ReadableSpan], batches: int
) -> float:
    start = time.process_time()
    for _ in range(batches):
        if export(spans) is SpanExportResult.FAILURE:
            raise RuntimeError("the receiver refused a batch")
    return (time.process_time() - start) / (batches * len(spans)) * 1e6


def sizes() -> dict[str, Compared]:
    """Compare the bytes of a span in a request, with and without added attributes."""
    plain, repeated = (
        [encode_span(span) for span in finished(_BATCH, copies)] for copies in (False, True)
    )
    vocabularies = [add_vocabulary(request, _MOST) for request in plain]
    without = len(merged(plain)) / _BATCH
    return {
        f"a span over the network with {description}, against without": compared(
            [(len(merged(requests)) / _BATCH, without)]
        )
        for description, requests in (
            ("its times, kind and parent as attributes", repeated),
            ("OpenInference's names beside ours", vocabularies),
        )
    }


def finished(count: int, copies: bool = False) -> list[ReadableSpan]:
    """Return spans as agents of ten tool calls leave them.

    Args:
        count: how many.
        copies: they repeat their times, kind and parent as attributes.
    """
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    settings.configure(provider=provider, policy=Policy(capture=True))
    settings.repeat_times = copies
    call = tool(search)

    @agent(name="bench")
    def asks(task: str) -> str:
        for _ in range(CALLS_PER_RUN):
            call(query=QUERY, limit=5)
        return "done"

    while len(exporter.get_finished_spans()) < count:
        asks("go")
    return list(exporter.get_finished_spans()[:count])


# -------------------------------------------------------------------------- the thread beside it


def disturbance(url: str, rounds: int, seconds: float) -> dict[str, Compared]:
    """Compare the 99th percentile of an application loop, a tool call and some work of its own."""
    pipeline = Pipeline()
    pipeline.send(OtlpTarget(url, "http/protobuf"), folder=None)
    mine = TracerProvider(shutdown_on_exit=False)
    mine.add_span_processor(pipeline)
    settings.configure(provider=mine, policy=Policy(capture=True))
    official = provider_of(ALWAYS_ON, OTLPSpanExporter(f"{url}/v1/traces"))
    decorated, by_hand = tool(search), reference(official.get_tracer("ref"), search)
    against: dict[str, list[tuple[float, float]]] = {"untraced": [], "SDK": []}
    for number in range(rounds + 1):
        untraced = _p99(search, seconds)
        ours = _p99(decorated, seconds)
        mine.force_flush()
        sdk = _p99(by_hand, seconds)
        official.force_flush()
        if number:  # the first round only warms up
            against["untraced"].append((ours, untraced))
            against["SDK"].append((ours, sdk))
    return {
        "p99 of the application thread while exporting, against untraced": compared(
            against["untraced"]
        ),
        "the same, against an SDK span and the official exporter": compared(against["SDK"]),
    }


def _p99(call: Function, seconds: float) -> float:
    """Return the 99th percentile of one turn, in microseconds."""
    clock = time.perf_counter_ns
    turns: list[int] = []
    until = clock() + int(seconds * 1e9)
    while (start := clock()) < until:
        call(query=QUERY, limit=5)
        _work()
        turns.append(clock() - start)
    return quantiles(turns, n=100)[98] / 1000 if turns[1:] else median(turns) / 1000


def _work() -> int:
    """About 100 µs of Python."""
    total = 0
    for number in range(1500):
        total += number * number
    return total
