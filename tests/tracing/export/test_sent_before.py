"""Spans sent before a program is killed are not sent again, and the others are sent."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import Tracer

from agentool_otel.cli.recover import recover
from agentool_otel.semconv import agentool
from agentool_otel.tracing.export.disk.journal import Journal
from agentool_otel.tracing.export.disk.leftovers import RecoveryReport, remains_in
from agentool_otel.tracing.export.pipeline import Pipeline
from agentool_otel.tracing.export.send import outbox
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from tests.tracing.export.receiver import HttpReceiver, Reply, spans_in
from tests.tracing.export.test_log_outbox import bodies, log, sending
from tests.tracing.export.test_outbox import folder, spans, traced, until

__all__ = ["folder"]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture(autouse=True)
def _only_when_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nothing sent by the clock."""
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")


def killed(program: Callable[[], object]) -> None:
    """Run it in a forked process that ends without tidying up."""
    if (child := os.fork()) == 0:
        try:
            program()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def waiting(folder: Path) -> list[bool]:
    survey = RecoveryReport(folder)
    waitings = [remains.waiting for remains in remains_in(folder, survey)]
    assert list(survey.sentences()) == []
    return waitings


@pytest.mark.parametrize("cut", [1, 5_000, 4 << 20], ids=["always cut", "seldom cut", "never cut"])
def test_spans_that_arrived_before_a_kill_are_not_sent_again(
    folder: Path, cut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "_CUT", cut)
    with HttpReceiver() as receiver:

        def program() -> None:
            pipeline, tracer = traced(receiver.endpoint, folder)
            for number in range(10):
                spans(tracer, f"{number} a", f"{number} b", size=1000)
                assert pipeline.force_flush()
            spans(tracer, "waits", "waits too")

        killed(program)
        before = receiver.names()
        assert len(before) == 20
        assert waiting(folder) == [True]
        assert recover(folder, OtlpTarget.at(receiver.endpoint, {})) == (True, False)
        assert receiver.names() == [*before, "waits", "waits too"]
    assert list(folder.glob("[!.]*")) == []


def test_a_span_that_was_sent_is_not_taken_for_open(folder: Path) -> None:
    """It stands in the journal, and in the part of the spool that has arrived."""
    with HttpReceiver() as receiver:

        def program() -> None:
            pipeline, tracer = traced(receiver.endpoint, folder)
            still_open = tracer.start_span("open")
            spans(tracer, "ended")
            assert pipeline.force_flush()
            assert still_open.is_recording()

        killed(program)
        assert waiting(folder) == [True]
        recover(folder, OtlpTarget.at(receiver.endpoint, {}))
        results = [span for body in receiver.bodies["/v1/traces"] for span in spans_in(body)]
    marked = {
        agentool.INCOMPLETE in {pair.key for pair in item.attributes}: item.name for item in results
    }
    assert marked == {False: "ended", True: "open"}
    assert len(results) == 2


def test_nothing_waits_once_everything_was_sent(folder: Path) -> None:
    with HttpReceiver() as receiver:

        def program() -> None:
            pipeline, tracer = traced(receiver.endpoint, folder)
            spans(tracer, "a", "b")
            assert pipeline.force_flush()

        killed(program)
        assert waiting(folder) == [False]
        assert recover(folder, OtlpTarget.at(receiver.endpoint, {})) == (True, False)
        assert receiver.names() == ["a", "b"]
    assert list(folder.glob("[!.]*")) == []


@pytest.mark.parametrize("elsewhere", [False, True], ids=["beside spans", "elsewhere"])
def test_log_records_that_arrived_before_a_kill_are_not_sent_again(
    folder: Path, elsewhere: bool
) -> None:
    with HttpReceiver() as first, HttpReceiver() as second:
        receiver = second if elsewhere else first

        def program() -> None:
            pipeline = sending(first.endpoint, folder, second.endpoint if elsewhere else None)
            log(pipeline, "a", "b")
            assert pipeline.force_flush()
            log(pipeline, "waits")

        killed(program)
        assert bodies(receiver) == ["a", "b"]
        recover(folder)
        assert bodies(receiver) == ["a", "b", "waits"]


def test_accepted_spans_are_not_sent_again(folder: Path) -> None:
    answers = [200, 503]

    def reply(_: bytes) -> Reply:
        return answers.pop(0), {}, b""

    with HttpReceiver(reply=reply) as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        spans(tracer, "taken")
        assert pipeline.force_flush()
        spans(tracer, "waits")
        assert not pipeline.force_flush()
        answers.append(503)
        pipeline.shutdown()
        assert pipeline.counts()["spooled"] == 1
        answers[:] = [200]
        assert recover(folder, OtlpTarget.at(receiver.endpoint, {})) == (True, False)
        assert receiver.names() == ["taken", "waits"]
    assert list(folder.glob("[!.]*")) == []


def test_without_a_note_of_what_was_sent_nothing_is_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a kill between the answer and the note, or by a version without notes."""
    monkeypatch.setattr(Journal, "sent", lambda *_: None)
    with HttpReceiver() as receiver:

        def program() -> None:
            pipeline, tracer = traced(receiver.endpoint, folder)
            spans(tracer, "a")
            assert pipeline.force_flush()
            spans(tracer, "b")

        killed(program)
        recover(folder, OtlpTarget.at(receiver.endpoint, {}))
        assert receiver.names() == ["a", "a", "b"]


def test_a_deleted_spool_skips_no_span_of_the_next_one(folder: Path) -> None:
    with HttpReceiver() as receiver:

        def program() -> None:
            pipeline, tracer = traced(receiver.endpoint, folder)
            spans(tracer, "a")
            assert pipeline.force_flush()
            for path in folder.glob("*.spool"):
                path.unlink()
            spans(tracer, "b", "c")

        killed(program)
        recover(folder, OtlpTarget.at(receiver.endpoint, {}))
        assert receiver.names() == ["a", "b", "c"]


def test_spans_during_a_request_wait_for_the_next_batch(folder: Path) -> None:
    """Else a busy program sends a request for every few spans."""
    tracers: list[Tracer] = []

    def reply(_: bytes) -> Reply:
        if len(tracers) == 1:
            spans(tracers.pop(), "meanwhile")
        return 200, {}, b""

    with HttpReceiver(reply=reply) as receiver:
        pipeline, tracer = traced(receiver.endpoint, folder)
        tracers.append(tracer)
        spans(tracer, "large", size=600_000)
        until(lambda: pipeline.counts()["exported"] == 1 and not sends(pipeline))
        assert receiver.names() == ["large"]
        assert pipeline.force_flush()
        assert receiver.names() == ["large", "meanwhile"]
        pipeline.shutdown()


def sends(pipeline: Pipeline) -> bool:
    """Return whether a request is under way, or about to be."""
    store = pipeline.store
    assert isinstance(store, outbox.Outbox)
    time.sleep(0.01)
    return store._sending.locked()
