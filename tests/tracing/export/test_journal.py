"""The journal: open spans on disk, and their end."""

from __future__ import annotations

import errno
import gc
import logging
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan, Tracer, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import set_span_in_context

from agentool_otel.content.policy import Policy
from agentool_otel.loading import load
from agentool_otel.model.spans import SpanRecord
from agentool_otel.otlp.json_encoder import encode_span, span_line, started_line
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.tracing.capture import tool
from agentool_otel.tracing.export.disk import journal, recording
from agentool_otel.tracing.export.disk.leftovers import Leftovers, RecoveryReport, remains_in
from agentool_otel.tracing.export.disk.recovery import complete_recordings
from agentool_otel.tracing.export.incomplete import as_protobuf, close_document, close_span
from agentool_otel.tracing.export.pipeline import Pipeline
from agentool_otel.tracing.spans.settings import settings
from tests.tracing.export.samples import span_with, values

ENDED_NS = 1_900_000_000_000_000_000


def traced(folder: Path) -> tuple[Pipeline, Tracer]:
    pipeline = Pipeline()
    pipeline.record(folder)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(pipeline)
    tracer = provider.get_tracer("test")
    assert isinstance(tracer, Tracer)
    return pipeline, tracer


def recorded(folder: Path) -> dict[str, SpanRecord]:
    """Return the spans of a folder by name; a span that is there twice is an error."""
    spans = list(open_source(folder).spans())
    assert len({span.span_id for span in spans}) == len(spans)
    return {span.name: span for span in spans}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    yield
    settings.reset()


def in_a_tool(pipeline: Pipeline, value: Any, body: Callable[[], object]) -> None:
    """Call a decorated tool with a value; it runs something inside."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(pipeline)
    settings.configure(provider=provider, policy=Policy(capture=True))
    settings.on_described = pipeline.opened

    @tool(name="work")
    def work(value: Any) -> None:
        body()

    work(value)


def arguments_of(trace: Any) -> Any:
    return trace.to_dict()["steps"][0]["tool_call"]["arguments"]


def completed(folder: Path) -> int:
    """Complete the recordings; nothing may be met that is left alone."""
    survey = RecoveryReport(folder)
    added = complete_recordings(folder, survey)
    assert list(survey.sentences()) == []
    return added


def killed(folder: Path, program: Callable[[Pipeline, Tracer], object]) -> None:
    """Run it in a forked process that ends by `os._exit`."""
    if (child := os.fork()) == 0:
        try:
            program(*traced(folder))
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def test_an_ended_span_is_recorded_when_its_end_returns(tmp_path: Path) -> None:
    _, tracer = traced(tmp_path)
    tracer.start_span("a").end()
    assert list(recorded(tmp_path)) == ["a"]


def test_a_span_that_is_not_sampled_leaves_nothing(tmp_path: Path) -> None:
    pipeline = Pipeline()
    pipeline.record(tmp_path)
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    provider.add_span_processor(pipeline)
    provider.get_tracer("test").start_span("a").end()
    assert list(tmp_path.iterdir()) == []


def test_an_open_span_is_in_the_journal_with_the_attributes_known_so_far(tmp_path: Path) -> None:
    _, tracer = traced(tmp_path)
    span = tracer.start_span("a", attributes={"model": "m"})
    (file,) = tmp_path.glob("*.open")
    (open_span,) = open_source(file).spans()
    assert (open_span.name, open_span.attributes) == ("a", {"model": "m"})
    assert open_span.end_ns is None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    span.end()


def test_a_span_still_open_at_exit_is_recorded_once_as_incomplete(tmp_path: Path) -> None:
    pipeline, tracer = traced(tmp_path)
    span = tracer.start_span("a", attributes={gen_ai.OPERATION_NAME: "invoke_agent"})
    span.set_attribute("later", 1)
    span.add_event("happened")
    pipeline.shutdown()
    span.end()
    result = recorded(tmp_path)["a"]
    assert result.attributes[agentool.INCOMPLETE] is True
    assert result.attributes[agentool.STATUS] == "incomplete"
    assert result.attributes["later"] == 1
    assert [event.name for event in result.events] == ["happened"]
    assert list(tmp_path.glob("*.open")) == []


def test_a_span_dropped_without_being_ended_is_recorded_as_incomplete(tmp_path: Path) -> None:
    pipeline, tracer = traced(tmp_path)
    tracer.start_span("dropped")
    gc.collect()
    tracer.start_span("next").end()
    assert recorded(tmp_path)["dropped"].attributes[agentool.INCOMPLETE] is True
    pipeline.shutdown()
    assert pipeline.counts()["created"] == 2


def test_an_incomplete_run_is_rebuilt_as_incomplete(tmp_path: Path) -> None:
    pipeline, tracer = traced(tmp_path)
    names = {gen_ai.OPERATION_NAME: "invoke_agent", gen_ai.AGENT_NAME: "bot"}
    run = tracer.start_span("invoke_agent bot", attributes=names)
    names = {gen_ai.OPERATION_NAME: "execute_tool", gen_ai.TOOL_NAME: "search"}
    call = tracer.start_span("execute_tool search", set_span_in_context(run), attributes=names)
    pipeline.shutdown()
    (result,) = load(tmp_path)
    assert result.status == "incomplete"
    assert [step.type for step in result.steps] == ["tool_call"]
    del call


@needs_fork
def test_recovery_closes_the_open_spans_of_a_dead_process_once(tmp_path: Path) -> None:
    def program(_: Pipeline, tracer: Tracer) -> None:
        run = tracer.start_span("open")
        tracer.start_span("ended", set_span_in_context(run)).end()

    killed(tmp_path, program)
    assert completed(tmp_path) == 1
    assert completed(tmp_path) == 0
    spans = recorded(tmp_path)
    assert spans["open"].attributes[agentool.INCOMPLETE] is True
    assert spans["ended"].parent_id == spans["open"].span_id
    ended = spans["ended"].end_ns
    assert ended is not None
    assert (spans["open"].end_ns or 0) >= ended
    assert [file.suffix for file in tmp_path.iterdir()] == [".jsonl"]


@needs_fork
def test_a_killed_recovery_is_repeated_without_duplicates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(tmp_path, lambda _, tracer: [tracer.start_span(name) for name in "ab"])
    with monkeypatch.context() as patched:
        patched.setattr(Leftovers, "remove", lambda self: None)  # killed just before
        assert completed(tmp_path) == 2
    assert completed(tmp_path) == 0
    assert sorted(recorded(tmp_path)) == ["a", "b"]


@needs_fork
def test_a_line_torn_by_a_kill_is_cut_off_and_its_span_closed(tmp_path: Path) -> None:
    def program(_: Pipeline, tracer: Tracer) -> None:
        tracer.start_span("whole").end()
        tracer.start_span("torn").end()

    killed(tmp_path, program)
    (file,) = tmp_path.glob("*.jsonl")
    file.write_bytes(file.read_bytes()[:-100])
    (opened,) = tmp_path.glob("*.open")
    opened.write_bytes(opened.read_bytes() + b'{"resourceSpans":[{"res')
    assert completed(tmp_path) == 1
    source = open_source(tmp_path)
    assert [span.name for span in source.spans()] == ["whole", "torn"]
    assert source.problems == []


@needs_fork
@pytest.mark.parametrize(
    "value", ["x" * 900_000, {f"k{n}": 'ż\x00"' for n in range(30_000)}], ids=["text", "members"]
)
def test_large_arguments_of_an_open_call_survive_a_kill_whole(tmp_path: Path, value: Any) -> None:
    def program(pipeline: Pipeline, _: Tracer) -> None:
        in_a_tool(pipeline, value, lambda: os._exit(0))

    killed(tmp_path, program)
    assert completed(tmp_path) == 1
    [trace] = load(tmp_path)
    assert arguments_of(trace) == {"value": value}


@needs_fork
def test_oversized_arguments_are_cut_alike_on_open_and_ended_calls(
    tmp_path: Path,
) -> None:
    value = {f"name {n}": "x" * 100 for n in range(20_000)}

    def program(pipeline: Pipeline, _: Tracer) -> None:
        in_a_tool(pipeline, value, lambda: in_a_tool(pipeline, value, int))
        in_a_tool(pipeline, value, lambda: os._exit(0))

    killed(tmp_path, program)
    completed(tmp_path)
    spans = [span.attributes for span in open_source(tmp_path).spans()]
    assert len(spans) == 3
    for key in (gen_ai.TOOL_CALL_ARGUMENTS, agentool.CONTENT_SHORTENED):
        assert len({str(attributes[key]) for attributes in spans}) == 1


def test_a_large_text_is_escaped_once_for_start_and_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentool_otel.otlp import json_encoder as otlp_json

    escaped: list[int] = []
    escape = otlp_json.escaped

    def watched(text: str) -> bytes:
        escaped.append(len(text))
        return escape(text)

    monkeypatch.setattr(otlp_json, "escaped", watched)
    pipeline, _ = traced(tmp_path)
    in_a_tool(pipeline, "x" * 100_000, lambda: None)
    assert len([length for length in escaped if length > 100_000]) == 1
    (span,) = recorded(tmp_path).values()
    assert len(str(span.attributes[gen_ai.TOOL_CALL_ARGUMENTS])) > 100_000


@given(
    st.dictionaries(st.text(min_size=1), st.text() | st.text().map(lambda item: item * 20_000)),
    st.booleans(),
)
def test_the_pieces_of_a_line_add_up_to_the_line(attributes: dict[str, str], keep: bool) -> None:
    span = span_with(attributes)
    complete = encode_span(span) + b"\n"
    started = b"".join(started_line(span, keep))
    assert b"".join(span_line(span)) == complete
    assert started.startswith(complete[:100])


def test_the_files_of_a_living_process_are_left_alone(tmp_path: Path) -> None:
    _, tracer = traced(tmp_path)
    span = tracer.start_span("a")
    assert list(remains_in(tmp_path, RecoveryReport(tmp_path))) == []
    assert completed(tmp_path) == 0
    span.end()


@needs_fork
def test_two_recoveries_at_once_do_not_collide(tmp_path: Path) -> None:
    killed(tmp_path, lambda _, tracer: tracer.start_span("a"))
    for _ in remains_in(tmp_path, RecoveryReport(tmp_path)):
        assert completed(tmp_path) == 0
    assert completed(tmp_path) == 1


@needs_fork
def test_a_span_open_across_a_fork_belongs_to_the_parent(tmp_path: Path) -> None:
    pipeline, tracer = traced(tmp_path)
    span = tracer.start_span("across")
    if (child := os.fork()) == 0:
        tracer.start_span("in the child").end()
        span.end()
        pipeline.shutdown()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    span.end()
    pipeline.shutdown()
    assert sorted(recorded(tmp_path)) == ["across", "in the child"]
    assert len({file.name for file in tmp_path.iterdir()}) == 2


def test_open_spans_end_at_a_changed_destination(
    tmp_path: Path,
) -> None:
    pipeline, tracer = traced(tmp_path / "one")
    span = tracer.start_span("a")
    pipeline.record(tmp_path / "other")
    assert len(list((tmp_path / "other").glob("*.open"))) == 1
    span.end()
    pipeline.shutdown()
    assert list(recorded(tmp_path / "other")) == ["a"]
    assert not (tmp_path / "one").exists()


def test_a_journal_that_has_grown_is_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_GROWN", 10_000)
    pipeline, tracer = traced(tmp_path)
    first = tracer.start_span("first")
    for _ in range(200):
        tracer.start_span("short").end()
    (file,) = tmp_path.glob("*.open")
    assert file.stat().st_size < 25_000
    assert "first" in {span.name for span in open_source(file).spans()}
    first.end()
    pipeline.shutdown()


def test_a_folder_deleted_meanwhile_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentool_otel.tracing.export.pipeline._LOOK_NS", 0)
    pipeline, tracer = traced(tmp_path / "new")
    still_open = tracer.start_span("open")
    tracer.start_span("before").end()
    for file in (tmp_path / "new").iterdir():
        file.unlink()
    (tmp_path / "new").rmdir()
    tracer.start_span("after").end()
    (file,) = (tmp_path / "new").glob("*.open")
    assert "open" in {span.name for span in open_source(file).spans()}
    still_open.end()
    pipeline.shutdown()
    assert sorted(recorded(tmp_path / "new")) == ["after", "open"]


def test_a_full_disk_holds_spans_back_until_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(recording, "_PATIENCE_NS", 0)
    pipeline, tracer = traced(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", _full)
        tracer.start_span("a").end()
        tracer.start_span("b").end()
        assert pipeline.counts()["spooled"] == 2
    tracer.start_span("c").end()
    assert list(recorded(tmp_path)) == ["a", "b", "c"]
    assert pipeline.counts() == {
        "created": 3, "exported": 3, "spooled": 0, "refused": 0, "dropped": 0
    }  # fmt: skip
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_a_disk_that_stays_full_costs_bounded_memory_and_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(recording, "_WAITING", 1_000)
    pipeline, tracer = traced(tmp_path)
    monkeypatch.setattr(os, "write", _full)
    for _ in range(5):
        tracer.start_span("a").end()
    assert pipeline.counts()["dropped"] > 0
    pipeline.shutdown()
    assert pipeline.counts()["dropped"] == 5
    assert "spans were lost" in caplog.records[-1].getMessage()


def test_a_partial_write_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "_PATIENCE_NS", 0)
    pipeline, tracer = traced(tmp_path)
    write, room = os.write, [100]

    def partly(file: int, data: bytes) -> int:
        return write(file, data[: room.pop()]) if room else _full(file, data)

    span = tracer.start_span("a")
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", partly)
        span.end()
    (file,) = tmp_path.glob("*.jsonl")
    assert file.read_bytes() == b""
    assert pipeline.force_flush()
    assert list(recorded(tmp_path)) == ["a"]


def test_a_stage_applies_to_open_and_ended_spans(tmp_path: Path) -> None:
    def masked(span: ReadableSpan) -> ReadableSpan:
        return ReadableSpan("masked", span.get_span_context(), start_time=span.start_time,
                            end_time=span.end_time)  # fmt: skip

    pipeline, tracer = traced(tmp_path)
    pipeline.stages.append(masked)
    span = tracer.start_span("secret")
    tracer.start_span("secret").end()
    assert all(b"secret" not in file.read_bytes() for file in tmp_path.iterdir())
    span.end()


@given(st.dictionaries(st.text(min_size=1), values))
def test_closing_a_document_gives_the_same_as_closing_the_span(
    attributes: dict[str, object],
) -> None:
    span = span_with({**attributes, gen_ai.OPERATION_NAME: "execute_tool"})
    closed = encode_span(close_span(span, ENDED_NS))
    assert as_protobuf(close_document(encode_span(span), ENDED_NS)) == as_protobuf(closed)


def test_a_line_that_is_not_a_span_is_refused() -> None:
    for line in (b"", b"{}", b'{"resourceSpans":[]}', b"[1]"):
        with pytest.raises(ValueError):
            close_document(line, ENDED_NS)


def _full(file: int, data: bytes) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_counts_add_up_where_a_span_found_no_room(tmp_path: Path) -> None:
    import resource

    pipeline, tracer = traced(tmp_path)
    tracer.start_span("first").end()
    (file,) = tmp_path.glob("*.jsonl")
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size, limits[1]))
    try:
        tracer.start_span("waits").end()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert pipeline.counts() == {
        "created": 2, "exported": 1, "spooled": 1, "refused": 0, "dropped": 0,
    }  # fmt: skip
    assert pipeline.force_flush()
    assert pipeline.counts()["exported"] == 2
    assert list(recorded(tmp_path)) == ["first", "waits"]


@pytest.mark.parametrize("then", ["next span", "flush"])
def test_a_span_whose_put_was_given_up_is_put_away(tmp_path: Path, then: str) -> None:
    pipeline, tracer = traced(tmp_path)
    tracer.start_span("first").end()
    journal, store = pipeline._journal, pipeline.store
    assert journal is not None
    line = span_line(span_with({}))
    journal.gate.abandoned.append((store, line, 1, 1, 0, False))
    if then == "flush":
        assert pipeline.force_flush()
    else:
        tracer.start_span("next").end()
    assert not journal.gate.abandoned
    (file,) = tmp_path.glob("*.jsonl")
    assert b"".join(line) in file.read_bytes()
    assert pipeline.counts()["created"] == pipeline.counts()["exported"]
