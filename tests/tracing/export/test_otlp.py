"""OTLP: destination, batches, and messages about failures."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult

from agentool_otel.errors import ConfigurationError
from agentool_otel.loading import load
from agentool_otel.replaying import replay
from agentool_otel.tracing.export.send.otlp import OtlpExporter, OtlpTarget, target_from_environment
from tests.tracing.export.receiver import GrpcReceiver, HttpReceiver


def spans(count: int, size: int = 10) -> list[ReadableSpan]:
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("t")
    results: list[ReadableSpan] = []
    for n in range(count):
        span = tracer.start_span(f"span {n}", attributes={"text": "x" * size})
        span.end()
        assert isinstance(span, ReadableSpan)
        results.append(span)
    return results


@pytest.mark.parametrize(
    ("endpoint", "protocol", "url"),
    [
        ("http://host:4318", "http/protobuf", "http://host:4318/v1/traces"),
        ("http://host:4318/", "http/protobuf", "http://host:4318/v1/traces"),
        ("http://host/otlp/v1/traces", "http/protobuf", "http://host/otlp/v1/traces"),
        ("grpc://host:4317", "grpc", "http://host:4317"),
        ("grpcs://host:4317", "grpc", "https://host:4317"),
        ("http://host:4317", "grpc", "http://host:4317"),
    ],
)
def test_an_endpoint_determines_protocol_and_url(endpoint: str, protocol: str, url: str) -> None:
    target = OtlpTarget.at(endpoint, {})
    assert (target.protocol, target.url("traces")) == (protocol, url)


def test_the_environment_can_select_otlp() -> None:
    target = target_from_environment(
        {
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://host:9",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
        }
    )
    assert target is not None
    assert target.protocol == "grpc"
    assert target_from_environment({}) is None


def test_an_unsupported_protocol_counts_as_unset() -> None:
    environ = {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}
    assert OtlpTarget.at("http://host:4318", environ).protocol == "http/protobuf"
    assert OtlpTarget.at("http://host:4317", environ).protocol == "grpc"


def test_an_endpoint_that_is_not_a_url_is_refused_with_an_example() -> None:
    with pytest.raises(ConfigurationError, match="'localhost:4318' is not a URL: use http://"):
        OtlpTarget.at("localhost:4318", {})


def deliver(endpoint: str, batch: Sequence[ReadableSpan]) -> SpanExportResult:
    exporter = OtlpExporter(OtlpTarget.at(endpoint, {}))
    try:
        return exporter.export(batch)
    finally:
        exporter.shutdown()


def test_spans_arrive_over_http() -> None:
    with HttpReceiver() as receiver:
        assert deliver(receiver.endpoint, spans(3)) is SpanExportResult.SUCCESS
        assert receiver.names() == ["span 0", "span 1", "span 2"]


def test_spans_arrive_over_grpc() -> None:
    with GrpcReceiver() as receiver:
        assert deliver(receiver.endpoint, spans(3)) is SpanExportResult.SUCCESS
        assert receiver.names() == ["span 0", "span 1", "span 2"]


def test_a_batch_above_the_receivers_limit_is_split_and_arrives_whole() -> None:
    with HttpReceiver() as receiver:
        assert deliver(receiver.endpoint, spans(30, 1_000_000)) is SpanExportResult.SUCCESS
        assert len(receiver.names()) == 30
        assert len(receiver.bodies["/v1/traces"]) > 1


def test_a_batch_above_the_grpc_limit_is_split_and_arrives_whole() -> None:
    with GrpcReceiver() as receiver:
        assert deliver(receiver.endpoint, spans(10, 1_000_000)) is SpanExportResult.SUCCESS
        assert len(receiver.names()) == 10


def test_a_refused_span_takes_no_other_with_it() -> None:
    with HttpReceiver() as receiver:
        batch = [*spans(2), *spans(1, 25_000_000), *spans(2)]
        assert deliver(receiver.endpoint, batch) is SpanExportResult.FAILURE
        assert len(receiver.names()) == 4


def test_a_refusal_is_counted_and_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    with HttpReceiver(status=400) as receiver, caplog.at_level(logging.ERROR, "agentool_otel"):
        exporter = OtlpExporter(OtlpTarget.at(receiver.endpoint, {}))
        exporter.export(spans(2))
        exporter.export(spans(1))
        exporter.shutdown()
    mine = [record for record in caplog.records if record.name.startswith("agentool_otel")]
    assert exporter.failed == 3
    assert [record.getMessage().partition(":")[0] for record in mine] == [
        "spans could not be delivered to http"
    ]


def test_the_spans_a_receiver_got_rebuild_to_the_trace(tmp_path: Path) -> None:
    document = {
        "trace_id": "tr_1",
        "agent_id": "a",
        "status": "success",
        "steps": [{"type": "tool_call", "tool_call": {"id": "c", "name": "t", "arguments": {}}}],
    }
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    with HttpReceiver() as receiver:
        provider = TracerProvider(shutdown_on_exit=False)
        exporter = OtlpExporter(OtlpTarget.at(receiver.endpoint, {}))
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        replay(document, provider)
        provider.shutdown()
        for n, body in enumerate(receiver.bodies["/v1/traces"]):
            (tmp_path / f"{n}.pb").write_bytes(body)
    assert [trace.to_dict() for trace in load(tmp_path)] == [document]
