"""Spans on their way to an endpoint that is down, slow, full or particular."""

from __future__ import annotations

import errno
import itertools
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.context import get_current, get_value
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.trace import Tracer, TracerProvider

from agentool_otel.cli.recover import recover
from agentool_otel.otlp.protobuf_encoder import encode_span, merged
from agentool_otel.tracing.export.disk import spool
from agentool_otel.tracing.export.disk.files import AppendFile, RecordingDir
from agentool_otel.tracing.export.disk.frames import frame_span, read_spool
from agentool_otel.tracing.export.pipeline import Pipeline
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from agentool_otel.tracing.spans.settings import suppressed
from tests.tracing.export.receiver import GrpcReceiver, HttpReceiver, Reply, names_in
from tests.tracing.export.samples import span_with

Traced = tuple[Pipeline, Tracer]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("OTEL_", "AGENTOOL_")) and name != "AGENTOOL_OTEL_STRICT":
            monkeypatch.delenv(name)
    return tmp_path / "folder"


def traced(endpoint: str, folder: Path | None) -> Traced:
    """Return a pipeline that sends there, and a tracer for it."""
    pipeline = Pipeline()
    pipeline.send(OtlpTarget.at(endpoint, {}), folder)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(pipeline)
    tracer = provider.get_tracer("test")
    assert isinstance(tracer, Tracer)
    return pipeline, tracer


def spans(tracer: Tracer, *names: str, size: int = 0) -> None:
    for name in names:
        tracer.start_span(name, attributes={"text": "x" * size}).end()


def counts(pipeline: Pipeline) -> dict[str, int]:
    return {key: count for key, count in pipeline.counts().items() if count}


def until(condition: Callable[[], bool]) -> None:
    """Wait for another thread, a long time on a busy machine."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_spans_arrive_and_leave_nothing_behind(folder: Path) -> None:
    with HttpReceiver() as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, "a", "b")
        assert pipeline.force_flush()
        assert receiver.names() == ["a", "b"]
        pipeline.shutdown()
    assert counts(pipeline) == {"created": 2, "exported": 2}
    assert not folder.exists()


def test_spans_arrive_over_grpc(folder: Path) -> None:
    with GrpcReceiver() as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, "a", "b")
        pipeline.shutdown()
        assert receiver.names() == ["a", "b"]


def test_a_full_batch_is_sent_before_the_delay_is_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
    with HttpReceiver() as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, "a", "b", size=300_000)
        until(lambda: len(receiver.names()) == 2)
        pipeline.shutdown()


def test_many_bytes_become_several_requests(folder: Path) -> None:
    with HttpReceiver() as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, *map(str, range(30)), size=1_000_000)
        pipeline.shutdown()
        assert receiver.names() == [str(n) for n in range(30)]
        assert max(map(len, receiver.bodies["/v1/traces"])) < 5_000_000


def test_no_file_or_thread_exists_before_the_first_span(folder: Path) -> None:
    before = threading.active_count()
    pipeline, _ = traced("http://127.0.0.1:9", folder)
    assert threading.active_count() == before
    assert not folder.exists()
    pipeline.shutdown()


def test_spans_for_an_endpoint_that_is_down_stay_on_disk_with_one_message(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pipeline, tracer = traced("http://127.0.0.1:9", folder)
    with caplog.at_level(logging.INFO):
        spans(tracer, "a", "b")
        assert not pipeline.force_flush()
        pipeline.shutdown()
    assert counts(pipeline) == {"created": 2, "spooled": 2}
    (text,) = (record.getMessage() for record in caplog.records)
    assert "could not be delivered to http://127.0.0.1:9 (Connection refused); 2 are kept" in text
    (file,) = folder.glob("*.spool")
    assert [names_in(span) for stretch in read_spool(file, 100) for span in stretch.spans] == [
        ["a"],
        ["b"],
    ]


def test_an_endpoint_that_comes_back_gets_what_waited(folder: Path) -> None:
    down = True
    with HttpReceiver(reply=lambda _: (503 if down else 200, {}, b"")) as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, "a")
        assert not pipeline.force_flush()
        down = False
        spans(tracer, "b")
        assert pipeline.force_flush()
        assert receiver.names() == ["a", "b"]
        pipeline.shutdown()


def test_an_endpoint_that_never_answers_delays_exit_by_a_bounded_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "3600")
    monkeypatch.setattr("agentool_otel.tracing.export.pipeline.CLOSING_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        pipeline, tracer = traced(f"http://127.0.0.1:{silent.getsockname()[1]}", folder)
        spans(tracer, "a")
        pipeline.shutdown()
    assert counts(pipeline) == {"created": 1, "spooled": 1}


def test_a_receiver_that_asks_for_a_pause_gets_it(folder: Path) -> None:
    requests: list[int] = []

    def reply(body: bytes) -> Reply:
        requests.append(len(body))
        return 429, {"retry-after": "3600"}, b""

    with HttpReceiver(reply=reply) as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, "a")
        assert not pipeline.force_flush()
        spans(tracer, "b")
        assert not pipeline.force_flush()
        pipeline.shutdown()
    assert len(requests) == 1
    assert counts(pipeline) == {"created": 2, "spooled": 2}


@pytest.mark.parametrize("status", [413, 400])
def test_a_refused_span_is_kept_and_takes_no_other_with_it(
    folder: Path, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    def reply(body: bytes) -> Reply:
        return (status if b"poison" in body else 200), {}, b""

    with HttpReceiver(reply=reply) as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, "a", "b", "poison", "c")
        assert pipeline.force_flush()
        assert sorted(receiver.names()) == ["a", "b", "c"]
        pipeline.shutdown()
    assert counts(pipeline) == {"created": 4, "exported": 3, "refused": 1}
    (file,) = folder.glob("*.refused")
    assert [names_in(span) for stretch in read_spool(file, 100) for span in stretch.spans] == [
        ["poison"]
    ]
    (text,) = (record.getMessage() for record in caplog.records)
    assert f"refused 1 span (HTTP {status}" in text
    assert f"): it is kept in {folder}" in text


def test_recover_offers_refused_spans_again(folder: Path) -> None:
    with HttpReceiver(status=400) as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, "a")
        pipeline.shutdown()
        assert recover(folder).incomplete
    with HttpReceiver() as receiver:
        assert recover(folder, OtlpTarget.at(receiver.endpoint, {})) == (True, False)
        assert receiver.names() == ["a"]
    assert list(folder.glob("[!.]*")) == []


def test_a_total_refusal_is_not_retried_span_by_span(folder: Path) -> None:
    with HttpReceiver(status=400) as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, *map(str, range(500)))
        assert pipeline.force_flush()
        assert receiver.refused < 100
        pipeline.shutdown()
    assert counts(pipeline) == {"created": 500, "refused": 500}


@pytest.mark.parametrize("status", [401, 404, 500, 502])
def test_spans_wait_when_a_failure_is_not_their_fault(folder: Path, status: int) -> None:
    with HttpReceiver(status=status) as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, "a")
        assert not pipeline.force_flush()
        pipeline.shutdown()
    assert counts(pipeline) == {"created": 1, "spooled": 1}


def test_a_partly_accepted_batch_is_kept_and_counted(folder: Path) -> None:
    partial = ExportTracePartialSuccess(rejected_spans=1, error_message="too old")
    body = ExportTraceServiceResponse(partial_success=partial).SerializeToString()
    with HttpReceiver(reply=lambda _: (200, {}, body)) as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, "a", "b")
        assert pipeline.force_flush()
        pipeline.shutdown()
    assert counts(pipeline) == {"created": 2, "exported": 1, "refused": 1}
    assert len(list(folder.glob("*.refused"))) == 1


@pytest.mark.parametrize(("said", "refused"), [(99, 2), (-5, 0)])
def test_a_receiver_that_miscounts_does_not_upset_the_counters(
    folder: Path, said: int, refused: int
) -> None:
    partial = ExportTracePartialSuccess(rejected_spans=said)
    body = ExportTraceServiceResponse(partial_success=partial).SerializeToString()
    with HttpReceiver(reply=lambda _: (200, {}, body)) as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, "a", "b")
        pipeline.shutdown()
    result = pipeline.counts()
    assert (result["exported"], result["refused"], result["dropped"]) == (2 - refused, refused, 0)


def test_with_a_full_disk_sent_spans_leave_memory(folder: Path) -> None:
    gone: list[str] = []

    class Encoded(bytes):
        def __del__(self) -> None:
            gone.append("gone")

    folder.write_text("")  # where the folder should be: nothing can be written
    waiting = spool.Spool(RecordingDir(folder))
    encoded = Encoded(b"span")
    assert waiting.put(encoded, 1)
    del encoded
    waiting.done(waiting.next(100))
    assert gone == ["gone"]


def test_spans_whose_spool_is_deleted_are_counted_as_dropped(folder: Path) -> None:
    pipeline, tracer = traced("http://127.0.0.1:9", folder)
    spans(tracer, "a", "b")
    assert counts(pipeline) == {"created": 2, "spooled": 2}
    for path in folder.glob("*.spool"):
        path.unlink()
    pipeline.force_flush()
    assert counts(pipeline) == {"created": 2, "dropped": 2}
    spans(tracer, "c")
    assert counts(pipeline) == {"created": 3, "dropped": 2, "spooled": 1}
    pipeline.shutdown()
    assert counts(pipeline) == {"created": 3, "dropped": 2, "spooled": 1}


def test_without_a_folder_spans_wait_in_bounded_memory(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(spool, "_IN_MEMORY", 1_000_000)
    pipeline, tracer = traced("http://127.0.0.1:9", None)
    spans(tracer, *map(str, range(20)), size=100_000)
    result = counts(pipeline)
    assert result["created"] == 20
    assert 0 < result["spooled"] < 10
    assert result["spooled"] + result["dropped"] == 20
    pipeline.shutdown()
    assert counts(pipeline) == {"created": 20, "dropped": 20}
    assert "20 were lost" in caplog.records[-1].getMessage()


def test_an_unwritable_folder_costs_the_journal_but_no_span(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    with HttpReceiver() as receiver:
        pipeline, tracer = traced(receiver.endpoint, tmp_path / "file")
        spans(tracer, "a", "b")
        pipeline.shutdown()
        assert receiver.names() == ["a", "b"]
    (text,) = (record.getMessage() for record in caplog.records)
    assert "there is no journal" in text
    assert "AGENTOOL_JOURNAL=off" in text


def test_the_files_of_a_program_stay_small_while_its_spans_arrive(folder: Path) -> None:
    """Spool and journal are cut at some 4 MB each."""
    with HttpReceiver() as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        sizes: list[int] = []
        for _ in range(30):
            spans(tracer, "a", "b", "c", size=300_000)
            assert pipeline.force_flush()
            sizes.append(sum(file.stat().st_size for file in folder.iterdir()))
        pipeline.shutdown()
    assert max(sizes) < 10_000_000
    assert sum(earlier > later for earlier, later in itertools.pairwise(sizes)) > 3
    assert not folder.exists()


@given(st.binary(max_size=200), st.integers(1, 300))
def test_a_damaged_spool_yields_the_spans_before_the_damage(
    tmp_path_factory: pytest.TempPathFactory, garbage: bytes, size: int
) -> None:
    frames = [frame_span(encode_span(span_with({"n": number}))) for number in range(3)]
    file = tmp_path_factory.mktemp("spool") / "x.spool"
    file.write_bytes(b"".join(frames) + frames[0][:-1] + garbage)
    results = [span for stretch in read_spool(file, size) for span in stretch.spans]
    assert results[:3] == [frame[4:] for frame in frames]
    assert all(len(names_in(span)) == 1 for span in results[:3])
    merged(results)


def test_our_own_requests_are_not_traced(folder: Path) -> None:
    log: list[tuple[object, bool]] = []
    with HttpReceiver() as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        connect = socket.create_connection

        def noting(*args: Any, **options: Any) -> socket.socket:
            log.append((get_value("suppress_instrumentation"), suppressed(get_current())))
            return connect(*args, **options)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(socket, "create_connection", noting)
            spans(tracer, "a")
            pipeline.shutdown()
    assert log == [(True, True)]


@pytest.fixture(autouse=True)
def _no_thread_stays() -> Iterator[None]:
    yield
    until(lambda: all(thread.name != "agentool-otel-export" for thread in threading.enumerate()))


def test_an_unreadable_spool_does_not_block_others(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder stands where its file was: it cannot be read by anybody, root included."""
    for name in ("one", "two"):
        pipeline, tracer = traced("http://127.0.0.1:9", folder)
        spans(tracer, name)
        pipeline.shutdown()
    unreadable, _ = sorted(folder.glob("*.spool"))
    unreadable.unlink()
    unreadable.mkdir()
    with HttpReceiver() as receiver, caplog.at_level(logging.WARNING):
        caplog.clear()
        for journal in folder.glob("*.open"):
            before = journal.read_bytes()
            with journal.open("r+b") as file:  # the file it was: a copy would be left alone
                file.write(before.replace(b"http://127.0.0.1:9", receiver.endpoint.encode()))
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, "three")
        until(lambda: len(receiver.names()) == 2)
        spans(tracer, "four")
        until(lambda: len(receiver.names()) == 3)
        pipeline.shutdown()
        assert sorted(receiver.names()) == ["four", "three", "two"]
    (text,) = caplog.messages
    assert f"({unreadable.name}: it is a folder); unreadable files, 1, are left" in text
    assert [path.suffix for path in sorted(folder.glob("[!.]*"))] == [".open", ".spool"]
    assert recover(folder, OtlpTarget.at("http://127.0.0.1:9", {})).incomplete


def fail(*_: object) -> bytes:
    raise OSError(errno.EIO, "Input/output error")


def test_an_unreadable_spool_of_this_process_loses_only_its_spans(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "_READ", 1000)
    monkeypatch.setattr(AppendFile, "read", fail)
    with HttpReceiver() as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, "lost")
        assert pipeline.force_flush()
        spans(tracer, "kept")
        assert pipeline.force_flush()
        assert receiver.names() == ["kept"]
        spans(tracer, "after")
        pipeline.shutdown()
        assert receiver.names() == ["kept", "after"]
    assert counts(pipeline) == {"created": 3, "exported": 2, "dropped": 1}
    (text,) = (message for message in caplog.messages if "cannot be read" in message)
    assert text.endswith("cannot be read (Input/output error): 1 spans are lost")
