"""The recording equals the official encoder's output, and is read back as it was."""

from __future__ import annotations

import base64
import errno
import json
import logging
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format  # type: ignore[import-untyped] # no stubs
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import (
    encode_spans as official_encode_spans,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext

from agentool_otel.model.spans import SpanRecord
from agentool_otel.otlp.json_encoder import encode_spans
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.export.disk import recording
from agentool_otel.tracing.export.disk.recording import RecordingExporter
from tests.tracing.export.samples import finished, links, span_with, values


def test_a_full_span_is_encoded_like_the_official_encoder_does() -> None:
    spans = finished()
    ours, official = as_message(encode_spans(spans)), official_encode_spans(spans)
    assert links(ours)[0].trace_state == "vendor=a,other=b"  # which the official encoder drops
    links(ours)[0].trace_state = links(official)[0].trace_state
    assert ours == official


def test_an_empty_span_is_encoded_like_the_official_encoder_does() -> None:
    span = ReadableSpan("", context=SpanContext(1, 2, False), start_time=3)
    assert as_message(encode_spans([span])) == official_encode_spans([span])


def test_spans_are_grouped_by_resource_and_scope() -> None:
    one, second = Resource({"service.name": "one"}), Resource({"service.name": "other"})
    scope = InstrumentationScope("scope")
    spans = [
        ReadableSpan("span", SpanContext(1, number, False), resource=resource, start_time=1,
                     instrumentation_scope=scope)
        for number, resource in enumerate([one, second, one], 1)
    ]  # fmt: skip
    assert as_message(encode_spans(spans)) == official_encode_spans(spans)


@given(
    st.dictionaries(st.text(min_size=1), values).filter(lambda result: "nan" not in repr(result))
)
def test_any_attributes_are_encoded_like_the_official_encoder_does(
    attributes: dict[str, Any],
) -> None:
    span = span_with(attributes)
    assert as_message(encode_spans([span])) == official_encode_spans([span])


@given(attributes=st.dictionaries(st.text(min_size=1), values))
def test_any_attributes_are_read_back_unchanged(
    tmp_path_factory: pytest.TempPathFactory, attributes: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("recording")
    exporter = RecordingExporter(folder)
    exporter.export([span_with(attributes)])
    exporter.shutdown()
    (read,) = recorded(folder)
    assert repr(read.attributes) == repr(attributes)  # by repr, as NaN equals nothing


def test_every_part_of_a_span_is_read_back(tmp_path: Path) -> None:
    RecordingExporter(tmp_path).export(finished())
    span, parent = recorded(tmp_path)
    assert (span.trace_id, span.parent_id) == (parent.trace_id, parent.span_id)
    assert (span.name, span.kind, span.scope) == ("chat gpt-5", "CLIENT", "scope")
    assert (span.start_ns, span.end_ns) == (1_790_000_000_000_000_001, 1_790_000_000_000_000_999)
    assert (span.status, span.status_message) == ("ERROR", "no “luck”")
    assert span.attributes == {"text": "Grüße\n\x00", "list": ["a", "b"], "n": 2**63 - 1, "f": 0.1}
    assert (span.events[0].name, span.events[0].time_ns) == ("step", 1_790_000_000_000_000_500)
    assert span.events[0].attributes == {"index": 1}
    assert (span.links[0].trace_id, span.links[0].span_id) == (f"{2**127 + 5:x}", f"{2**63 + 7:x}")
    assert span.links[0].attributes == {"why": "retry"}
    assert span.resource["service.name"] == "bot"


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("\ud83d\ude00", "\U0001f600"),
        (2**70, str(2**70)),
        (object(), "<object>"),
    ],
)
def test_values_that_otlp_cannot_hold_are_replaced(tmp_path: Path, value: Any, read: str) -> None:
    span = ReadableSpan("\ud83d", SpanContext(1, 2, False), attributes={"key": value})
    assert RecordingExporter(tmp_path).export([span]) is SpanExportResult.SUCCESS
    assert next(recorded(tmp_path)).attributes == {"key": read}


def test_an_unfinished_span_has_no_end(tmp_path: Path) -> None:
    RecordingExporter(tmp_path).export([ReadableSpan("open", SpanContext(1, 2, False))])
    assert next(recorded(tmp_path)).end_ns is None


def test_nothing_is_created_before_the_first_span(tmp_path: Path) -> None:
    exporter = RecordingExporter(tmp_path / "new")
    exporter.export([])
    exporter.shutdown()
    assert not (tmp_path / "new").exists()
    assert exporter.path is None


def test_only_the_owner_can_read_a_recording(tmp_path: Path) -> None:
    exporter = RecordingExporter(tmp_path / "new")
    exporter.export(finished())
    assert exporter.path is not None
    assert stat.S_IMODE(exporter.path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_the_folder_is_the_one_named_by_agentool_dir(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTOOL_DIR", str(tmp_path / "here"))
    assert RecordingExporter().folder == tmp_path / "here"
    monkeypatch.delenv("AGENTOOL_DIR")
    monkeypatch.chdir(tmp_path)
    assert RecordingExporter().folder == tmp_path / ".agentool"


def test_each_batch_is_one_line_of_the_same_file(tmp_path: Path) -> None:
    exporter = RecordingExporter(tmp_path)
    for _ in range(3):
        exporter.export(finished())
    (file,) = tmp_path.iterdir()
    assert file == exporter.path
    assert len(file.read_bytes().splitlines()) == 3
    assert f"-{os.getpid()}-" in file.name


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_writes_a_file_of_its_own(tmp_path: Path) -> None:
    exporter = RecordingExporter(tmp_path)
    exporter.export(finished())
    with exporter.gate.lock:  # held at the moment of the fork
        if (child := os.fork()) == 0:
            exporter.export(finished())
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    exporter.export(finished())
    sizes = {f"-{child}-" in file.name: len(file.read_bytes().splitlines())
             for file in tmp_path.iterdir()}  # fmt: skip
    assert sizes == {False: 2, True: 1}


def test_a_deleted_file_is_replaced(tmp_path: Path) -> None:
    exporter = RecordingExporter(tmp_path / "new")
    exporter.export(finished())
    assert exporter.path is not None
    shutil.rmtree(exporter.path.parent)
    exporter.export(finished())
    assert len(list(recorded(tmp_path / "new"))) == 2


def test_a_write_error_fails_the_batch_and_is_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = RecordingExporter(tmp_path)
    with monkeypatch.context() as patched, caplog.at_level(logging.ERROR):
        patched.setattr(os, "write", full_after(10))
        assert exporter.export(finished()) is SpanExportResult.FAILURE
        assert exporter.export(finished()) is SpanExportResult.FAILURE
    assert len(caplog.records) == 1
    assert exporter.export(finished()) is SpanExportResult.SUCCESS
    assert len(list(recorded(tmp_path))) == 2  # the torn line costs only itself


def test_a_folder_that_cannot_be_created_fails_the_batch(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    exporter = RecordingExporter(tmp_path / "file")
    assert exporter.export(finished()) is SpanExportResult.FAILURE


def test_spans_lost_to_a_full_disk_are_reported_at_exit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(recording, "_WAITING", 1)
    blocked = tmp_path / "folder"
    blocked.write_text("")
    exporter = RecordingExporter(blocked)
    for span in finished():
        exporter.put(span)
    blocked.unlink()
    exporter.close(0)
    exporter.close(0)
    assert exporter.dropped == len(finished())
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 2
    assert f"{exporter.dropped} spans were lost" in messages[1]


def test_shutdown_twice_is_fine_and_refuses_later_spans(tmp_path: Path) -> None:
    exporter = RecordingExporter(tmp_path)
    exporter.export(finished())
    assert exporter.force_flush()
    exporter.shutdown()
    exporter.shutdown()
    assert exporter.export(finished()) is SpanExportResult.FAILURE


def test_threads_share_one_file_of_whole_lines(tmp_path: Path) -> None:
    exporter = RecordingExporter(tmp_path)
    spans = finished()
    threads = [
        threading.Thread(target=lambda: [exporter.export(spans) for _ in range(20)])
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (file,) = tmp_path.iterdir()
    assert sum(1 for line in file.read_bytes().splitlines() if json.loads(line)) == 160


def test_it_works_behind_a_tracer_provider(tmp_path: Path) -> None:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(RecordingExporter(tmp_path)))
    with provider.get_tracer("app").start_as_current_span("invoke_agent bot"):
        pass
    provider.shutdown()
    assert [span.name for span in recorded(tmp_path)] == ["invoke_agent bot"]


def recorded(folder: Path) -> Iterator[SpanRecord]:
    return open_source(folder).spans()


def full_after(size: int) -> Callable[[int, memoryview], int]:
    """Stand in for os.write on a disk with room for so many bytes."""
    room = [size]
    write = os.write

    def partial(file: int, data: memoryview) -> int:
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data[: room.pop()])

    return partial


def as_message(data: bytes) -> ExportTraceServiceRequest:
    """Parse with protobuf's own reader, which wants ids in base64."""

    def with_base64_ids(value: Any) -> Any:
        if value.__class__ is list:
            return [with_base64_ids(item) for item in value]
        if value.__class__ is dict:
            return {
                key: base64.b64encode(bytes.fromhex(item)).decode()
                if key in ("traceId", "spanId", "parentSpanId")
                else with_base64_ids(item)
                for key, item in value.items()
            }
        return value

    message = ExportTraceServiceRequest()
    json_format.ParseDict(with_base64_ids(json.loads(data)), message)
    return message
