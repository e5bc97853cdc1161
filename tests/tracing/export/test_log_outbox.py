"""Log records on their way to an endpoint: beside the spans, and no burden to them."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path

import msgspec
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.sdk.trace import TracerProvider

from agentool_otel.cli.recover import recover
from agentool_otel.content.policy import Policy
from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.ground import environment
from agentool_otel.otlp.json_encoder import Line
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.export.pipeline import Pipeline
from agentool_otel.tracing.export.send.otlp import OtlpTarget, target_from_environment
from agentool_otel.tracing.export.send.outbox import Outbox
from agentool_otel.tracing.spans.settings import settings
from tests.tracing.export.logged import record
from tests.tracing.export.receiver import GrpcReceiver, HttpReceiver, Reply

DOWN = "http://127.0.0.1:9"


def sending(endpoint: str, folder: Path | None, logs: str | None = None) -> Pipeline:
    """A pipeline that sends spans there, and log records there or elsewhere."""
    pipeline, target = Pipeline(), OtlpTarget.at(endpoint, {})
    pipeline.send(target, folder)
    pipeline.send_logs(target if logs is None else OtlpTarget.at(logs, {}), folder)
    return pipeline


def log(pipeline: Pipeline, *bodies: str) -> None:
    for number, body in enumerate(bodies, 1):
        result = record(body=body, event_name="e")
        pipeline.log(msgspec.structs.replace(result, trace_id=1, span_id=number))


def counts(pipeline: Pipeline) -> dict[str, int]:
    return {key: count for key, count in pipeline.log_counts().items() if count}


def bodies(receiver: HttpReceiver) -> list[str]:
    return [result.body.string_value for result in receiver.logs()]


def test_records_arrive_and_leave_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    with HttpReceiver() as receiver:
        pipeline = sending(receiver.endpoint, folder)
        log(pipeline, "a", "b")
        assert pipeline.force_flush()
        assert bodies(receiver) == ["a", "b"]
        pipeline.shutdown()
    assert counts(pipeline) == {"created": 2, "exported": 2}
    assert not folder.exists()


def test_log_records_arrive_over_grpc(tmp_path: Path) -> None:
    with GrpcReceiver() as receiver:
        pipeline = sending(receiver.endpoint, tmp_path)
        log(pipeline, "a")
        assert pipeline.force_flush()
        pipeline.shutdown()
        (request,) = map(ExportLogsServiceRequest.FromString, receiver.log_requests)
    assert request.resource_logs[0].scope_logs[0].log_records[0].body.string_value == "a"


def test_undelivered_log_records_are_kept_and_recovered(tmp_path: Path) -> None:
    pipeline = sending(DOWN, tmp_path)
    log(pipeline, "a", "b")
    pipeline.shutdown()
    assert counts(pipeline) == {"created": 2, "spooled": 2}
    (result,) = tmp_path.glob("*.logs.spool")
    events = [event for span in open_source(result).spans() for event in span.events]
    assert [event.attributes["body"] for event in events] == ["a", "b"]
    assert recover(tmp_path).incomplete
    with HttpReceiver() as receiver:
        assert not recover(tmp_path, OtlpTarget.at(receiver.endpoint, {})).incomplete
        assert bodies(receiver) == ["a", "b"]
    assert list(tmp_path.iterdir()) == []


def test_refused_log_records_are_kept_apart(tmp_path: Path) -> None:
    with HttpReceiver(status=400) as receiver:
        pipeline = sending(receiver.endpoint, tmp_path)
        log(pipeline, "a")
        pipeline.shutdown()
    assert counts(pipeline) == {"created": 1, "refused": 1}
    assert [path.name.split(".", 2)[2] for path in sorted(tmp_path.iterdir())] == [
        "logs.refused", "open"
    ]  # fmt: skip
    with HttpReceiver() as receiver:
        assert not recover(tmp_path, OtlpTarget.at(receiver.endpoint, {})).incomplete
        assert bodies(receiver) == ["a"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("generation", "on_spans", "lost", "hint"),
    [
        ("latest", False, "message, argument and result content", "{}=SPAN_ONLY"),
        ("1.36", True, "the messages of model calls", "OTEL_LOGS_EXPORTER=none"),
        (
            *("1.36", False, "message, argument and result content"),
            "{}=SPAN_ONLY with OTEL_LOGS_EXPORTER=none",
        ),
    ],
)
def test_a_loss_of_content_is_reported_when_only_log_records_hold_it(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    generation: str,
    on_spans: bool,
    lost: str,
    hint: str,
) -> None:
    policy = Policy(capture=True, on_spans=on_spans, in_events=not on_spans)
    settings.configure(policy=policy, dialect=GenAI(generation))
    try:
        with HttpReceiver(lacks="/v1/logs") as receiver, caplog.at_level(logging.WARNING):
            pipeline = sending(receiver.endpoint, tmp_path)
            log(pipeline, "a")
            pipeline.shutdown()
    finally:
        settings.reset()
    (text,) = caplog.messages
    _, ending = text.split("dropped, and with them ")
    assert ending == f"{lost}; hint: {hint.format(environment.CAPTURE)} keeps that on spans"


def test_a_receiver_without_a_logs_endpoint_is_not_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with HttpReceiver(lacks="/v1/logs") as receiver, caplog.at_level(logging.WARNING):
        pipeline = sending(receiver.endpoint, tmp_path)
        log(pipeline, "a", "b")
        pipeline.force_flush()
        log(pipeline, "c")
        pipeline.shutdown()
        assert receiver.refused == 1
    assert counts(pipeline) == {"created": 3, "dropped": 3}
    (text,) = caplog.messages
    assert text == (
        f"{receiver.endpoint} takes no log records (HTTP 404 Not Found): they are dropped; "
        "hint: OTEL_LOGS_EXPORTER=none makes none"
    )
    assert list(tmp_path.iterdir()) == []


def test_spans_of_dead_processes_are_not_sent_to_the_logs_endpoint(tmp_path: Path) -> None:
    with HttpReceiver(lacks="/v1/traces") as receiver:
        for name in ("a", "b"):
            pipeline = sending(receiver.endpoint, tmp_path)
            provider = TracerProvider(shutdown_on_exit=False)
            provider.add_span_processor(pipeline)
            provider.get_tracer("t").start_span("left").end()
            log(pipeline, name)
            pipeline.shutdown()
        assert bodies(receiver) == ["a", "b"]
    assert len(list(tmp_path.glob("*.spool"))) == 2


def test_log_records_with_their_own_endpoint_wait_in_their_own_files(tmp_path: Path) -> None:
    pipeline = sending(DOWN, tmp_path, "http://127.0.0.1:10")
    log(pipeline, "a")
    assert len(list(tmp_path.glob("logs-*.logs.spool"))) == 1
    pipeline.shutdown()
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".open", ".spool"]
    with HttpReceiver() as receiver:
        assert not recover(tmp_path, OtlpTarget.at(receiver.endpoint, {})).incomplete
        assert bodies(receiver) == ["a"]
    assert list(tmp_path.iterdir()) == []


def test_a_log_record_for_elsewhere_does_not_write_the_span_of_another_thread_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = sending(DOWN, tmp_path, "http://127.0.0.1:10")
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(pipeline)
    span = provider.get_tracer("t").start_span("ended")
    begun, go_on = threading.Event(), threading.Event()
    put = Outbox.put_encoded

    def put_slowly(outbox: Outbox, document: Line, now_ns: int) -> None:
        begun.set()
        go_on.wait()
        put(outbox, document, now_ns)

    monkeypatch.setattr(Outbox, "put_encoded", put_slowly)
    threads = threading.Thread(target=span.end), threading.Thread(target=log, args=(pipeline, "a"))
    threads[0].start()
    begun.wait()
    threads[1].start()
    threads[1].join(0.2)  # a record that did not wait for the span is done by then
    go_on.set()
    for thread in threads:
        thread.join()
    assert pipeline.counts()["spooled"] == 1
    assert pipeline.log_counts()["spooled"] == 1
    pipeline.shutdown()


def test_log_records_wait_on_disk_beside_a_recording(tmp_path: Path) -> None:
    pipeline = Pipeline()
    pipeline.record(tmp_path)
    pipeline.send_logs(OtlpTarget.at(DOWN, {}), tmp_path)
    log(pipeline, "a")
    assert len(list(tmp_path.glob("logs-*.logs.spool"))) == 1
    pipeline.shutdown()
    assert counts(pipeline) == {"created": 1, "spooled": 1}


def test_the_next_process_sends_the_log_records_of_a_dead_one(
    tmp_path: Path,
) -> None:
    taking = False

    def reply(_: bytes) -> Reply:
        return (200 if taking else 503, {}, b"")

    with HttpReceiver(reply=reply) as receiver:
        pipeline = sending(DOWN, tmp_path, receiver.endpoint)
        log(pipeline, "earlier")
        pipeline.shutdown()
        taking = True
        pipeline = sending(DOWN, tmp_path, receiver.endpoint)
        log(pipeline, "later")
        pipeline.shutdown()
        assert bodies(receiver) == ["later", "earlier"]
    assert list(tmp_path.iterdir()) == []


def test_log_records_wait_for_a_missing_logs_endpoint(
    tmp_path: Path,
) -> None:
    with HttpReceiver(lacks="/v1/logs") as receiver:
        pipeline = sending(DOWN, tmp_path, receiver.endpoint)
        log(pipeline, "a")
        pipeline.shutdown()
    assert counts(pipeline) == {"created": 1, "spooled": 1}


def test_a_url_used_verbatim_is_used_verbatim_by_recovery(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HttpReceiver(status=503) as receiver:
        text = f"{receiver.endpoint}/ingest/logs"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", text)
        target = target_from_environment(os.environ, "logs")
        assert target is not None
        pipeline = Pipeline()
        pipeline.send_logs(target, tmp_path)
        log(pipeline, "a")
        pipeline.shutdown()
        monkeypatch.delenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT")
        recover(tmp_path)
        assert set(receiver.paths) == {"/ingest/logs"}


def test_log_records_in_a_recording_are_counted_apart(tmp_path: Path) -> None:
    pipeline = Pipeline()
    pipeline.record(tmp_path)
    pipeline.record_logs()
    log(pipeline, "a")
    assert counts(pipeline) == {"created": 1, "exported": 1}
    assert not any(pipeline.counts().values())
    pipeline.shutdown()


def test_a_change_of_destination_applies_to_log_records(tmp_path: Path) -> None:
    pipeline = Pipeline()
    pipeline.record(tmp_path)
    pipeline.record_logs()
    log(pipeline, "a")
    with HttpReceiver() as receiver:
        target = OtlpTarget.at(receiver.endpoint, {})
        pipeline.send(target, tmp_path)
        assert not pipeline.takes_logs
        pipeline.send_logs(target)
        log(pipeline, "b")
        pipeline.shutdown()
        assert bodies(receiver) == ["b"]
    assert counts(pipeline) == {"created": 2, "exported": 2}
