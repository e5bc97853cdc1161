"""Recoveries that fail half-way: the next one sends what is left, and nothing else."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import Tracer, TracerProvider

from agentool_otel.cli.recover import recover
from agentool_otel.semconv import agentool
from agentool_otel.tracing.export.disk import resending
from agentool_otel.tracing.export.disk.journal import Journal
from agentool_otel.tracing.export.disk.leftovers import Leftovers
from agentool_otel.tracing.export.pipeline import Pipeline
from agentool_otel.tracing.export.send.attempt import Sender
from agentool_otel.tracing.export.send.otlp import OtlpTarget, attempts
from tests.tracing.export.receiver import HttpReceiver, Reply, names_in, spans_in
from tests.tracing.export.test_exits import received
from tests.tracing.export.test_log_outbox import bodies, log, sending
from tests.tracing.export.test_outbox import folder, spans, traced
from tests.tracing.export.test_sent_before import killed, waiting

__all__ = ["folder"]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

DOWN = "http://127.0.0.1:9"
NAMES = [f"span {number}" for number in range(30)]


@pytest.fixture(autouse=True)
def _small_and_without_pause(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have several requests, none by the clock, and no pause between passes."""
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
    monkeypatch.setattr(resending, "_READ", 4000)
    monkeypatch.setattr(resending, "_PAUSE_S", 0.0)


def leave_spans(folder: Path, names: list[str] = NAMES, logs: bool = False) -> None:
    """Leave what a killed program does: ended spans, and one that is open."""

    def program() -> None:
        if logs:
            pipeline = sending(DOWN, folder)
            log(pipeline, *(name.ljust(700) for name in names))
            return
        pipeline, tracer = traced(DOWN, folder)
        still_open = tracer.start_span("open")
        spans(tracer, *names, size=700)
        assert still_open.is_recording()

    killed(program)


def to(receiver: HttpReceiver) -> OtlpTarget:
    return OtlpTarget.at(receiver.endpoint, {})


def incomplete(receiver: HttpReceiver) -> list[str]:
    """Return the names of the spans that arrived as incomplete."""
    return [
        span.name
        for body in receiver.bodies.get("/v1/traces", [])
        for span in spans_in(body)
        if agentool.INCOMPLETE in {pair.key for pair in span.attributes}
    ]


@pytest.mark.parametrize("status", [404, 503])
def test_refused_log_records_have_no_span_sent_again(folder: Path, status: int) -> None:
    """Jaeger, which has no place for log records, answers 404."""
    accepts_logs: list[bool] = []

    def program() -> None:
        pipeline = sending(DOWN, folder)
        log(pipeline, "a", "b")
        tracer = traced_by(pipeline)
        still_open = tracer.start_span("open")
        spans(tracer, "ended")
        assert still_open.is_recording()

    def reply(body: bytes) -> Reply:
        takes = not receiver.path.endswith("logs") or bool(accepts_logs)
        return 200 if takes else status, {}, b""

    killed(program)
    with HttpReceiver(reply=reply) as receiver:
        for _ in range(3):
            assert recover(folder, to(receiver)) == (True, True)
            assert sorted(receiver.names()) == ["ended", "open"]
        later, _ = traced(receiver.endpoint, folder)  # another process of the same folder
        later.shutdown()
        assert sorted(receiver.names()) == ["ended", "open"]
        accepts_logs.append(True)
        assert recover(folder, to(receiver)) == (True, False)
        assert bodies(receiver) == ["a", "b"]
        assert sorted(receiver.names()) == ["ended", "open"]
        assert incomplete(receiver) == ["open"]
    assert list(folder.glob("[!.]*")) == []


def traced_by(pipeline: Pipeline) -> Tracer:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(pipeline)
    tracer = provider.get_tracer("test")
    assert isinstance(tracer, Tracer)
    return tracer


def test_all_arrives_once_where_a_third_of_the_requests_is_refused(folder: Path) -> None:
    leave_spans(folder)
    seen = Counter[str]()

    def reply(_: bytes) -> Reply:
        seen["requests"] += 1
        return 503 if seen["requests"] % 3 == 2 else 200, {}, b""

    with HttpReceiver(reply=reply) as receiver:
        assert recover(folder, to(receiver)) == (True, False)
        assert sorted(receiver.names()) == sorted([*NAMES, "open"])
        assert incomplete(receiver) == ["open"]
    assert list(folder.glob("[!.]*")) == []


def test_a_request_that_is_never_taken_holds_up_no_other(folder: Path) -> None:
    leave_spans(folder)
    stubborn: list[str] = ["span 7"]

    def reply(body: bytes) -> Reply:
        return 503 if set(names_in(body)) & set(stubborn) else 200, {}, b""

    with HttpReceiver(reply=reply) as receiver:
        assert recover(folder, to(receiver)) == (True, True)
        first = receiver.names()
        assert set(NAMES) - set(first) < {f"span {number}" for number in range(13)}
        assert recover(folder, to(receiver)) == (True, True)
        assert receiver.names() == first
        stubborn.clear()
        assert recover(folder, to(receiver)) == (True, False)
        assert sorted(receiver.names()) == sorted([*NAMES, "open"])
        assert incomplete(receiver) == ["open"]
    assert list(folder.glob("[!.]*")) == []


@pytest.mark.parametrize("logs", [False, True], ids=["spans", "log records"])
@pytest.mark.parametrize("accepted", range(5))
def test_a_recovery_goes_on_where_the_last_one_stopped(
    folder: Path, accepted: int, logs: bool
) -> None:
    leave_spans(folder, logs=logs)
    left = [accepted]

    def reply(_: bytes) -> Reply:
        left[0] -= 1
        return 200 if left[0] >= 0 else 503, {}, b""

    with HttpReceiver(reply=reply) as receiver:
        assert recover(folder, to(receiver)) == (True, True)
        left[0] = 1000
        assert waiting(folder) == [True]
        assert recover(folder, to(receiver)) == (True, False)
        arrived = [name.strip() for name in bodies(receiver)] if logs else receiver.names()
        assert sorted(arrived) == sorted(NAMES if logs else [*NAMES, "open"])
        assert incomplete(receiver) == ([] if logs else ["open"])
    assert list(folder.glob("[!.]*")) == []


REMOVALS = ["note_ended", "forget_spans", "remove"]


@pytest.mark.parametrize("step", REMOVALS)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_recovery_killed_between_its_removals_is_not_told_again(
    folder: Path, step: str, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_spans(folder)
    original = getattr(Leftovers, step)

    def die(self: Leftovers, *args: object) -> None:
        if after:
            original(self, *args)
        os._exit(0)

    with HttpReceiver() as receiver:
        with monkeypatch.context() as patched:
            patched.setattr(Leftovers, step, die)
            killed(lambda: recover(folder, to(receiver)))
        once = receiver.names()
        recover(folder, to(receiver))
        again = Counter(receiver.names()) - Counter(once)
        # An answer that could not be noted is asked for again, at most.
        assert set(again) <= ({"open"} if step == "note_ended" and not after else set())
        assert set(receiver.names()) == {*NAMES, "open"}
        assert set(incomplete(receiver)) == {"open"}
    assert list(folder.glob("[!.]*")) == []


def test_damage_in_a_spool_costs_one_span_and_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leave_spans(folder)
    (path,) = folder.glob("*.spool")
    data = bytearray(path.read_bytes())
    at = data.index(b"span 11") - 20  # in its ids
    data[at : at + 400] = bytes(400)
    path.write_bytes(data)
    with HttpReceiver() as receiver:
        assert recover(folder, to(receiver)) == (True, True)
        message = capsys.readouterr().err
        assert f"{path.name}.damaged is damaged and set aside: no span can be read" in message
        arrived = list(received(receiver))
        assert sorted(receiver.names()) == sorted([*NAMES, "open"])
        assert sorted(incomplete(receiver)) == ["open", "span 11"]
        assert recover(folder, to(receiver)) == (False, False)
        assert list(received(receiver)) == arrived
    (aside,) = folder.glob("[!.]*")
    assert 400 < aside.stat().st_size < 1500


def test_a_journal_without_a_line_that_can_be_read_is_set_aside(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leave_spans(folder, [])
    (path,) = folder.glob("*.open")
    first, *lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"".join(line[:40] + b"\n" for line in lines))
    with HttpReceiver() as receiver:
        assert recover(folder, to(receiver)) == (True, True)
        assert receiver.names() == []
    assert "1 line in it cannot be understood" in capsys.readouterr().err
    assert [left.name for left in folder.glob("[!.]*")] == [f"{path.name}.damaged"]


@pytest.mark.parametrize(("name", "newest"), [("journal", 2), ("spool", 1)])
def test_files_of_another_version_are_left_alone(
    folder: Path, name: str, newest: int, capsys: pytest.CaptureFixture[str]
) -> None:
    leave_spans(folder)
    (path,) = folder.glob("*.open")
    data = path.read_bytes()
    path.write_bytes(data.replace(f'"{name}":1'.encode(), f'"{name}":3'.encode(), 1))
    before = {file: file.read_bytes() for file in folder.iterdir()}
    with HttpReceiver() as receiver:
        assert recover(folder, to(receiver)) == (True, True)
        assert receiver.names() == []
    message = capsys.readouterr().err
    assert f"its {name} has format 3, and this version reads {newest}" in message
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


def test_a_slow_receiver_gets_more_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    timeouts: list[float] = []

    def watched(sender: Sender, spans: list[bytes], timeout_s: float, *more: Any) -> Any:
        timeouts.append(timeout_s)
        return attempts(sender, spans, timeout_s, *more)

    monkeypatch.setattr(resending, "attempts", watched)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.2")
    leave_spans(folder, ["a"])

    def reply(_: bytes) -> Reply:
        time.sleep(0.3)
        return 200, {}, b""

    with HttpReceiver(reply=reply) as receiver:
        assert recover(folder, to(receiver)) == (True, False)
        assert {"a", "open"} == set(receiver.names())
    assert timeouts[0] < timeouts[-1]


def test_a_program_killed_at_its_end_has_its_spans_sent_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its spans have arrived, and their spool is gone; its log records are still on the way."""

    def reply(_: bytes) -> Reply:
        return 503 if receiver.path.endswith("logs") else 200, {}, b""

    with HttpReceiver(reply=reply) as receiver:

        def program() -> None:
            pipeline = sending(receiver.endpoint, folder)
            tracer = traced_by(pipeline)
            spans(tracer, *NAMES)
            log(pipeline, "a")
            monkeypatch.setattr(Journal, "close", lambda *_, **__: os._exit(0))
            pipeline.shutdown()

        killed(program)
        assert sorted(receiver.names()) == sorted(NAMES)
        recover(folder, to(receiver))
        assert sorted(receiver.names()) == sorted(NAMES)
