"""A span that is written the short way leaves the documents that the SDK's way leaves.

Any program of decorated calls, whatever it does to its spans and wherever it is killed, runs both
ways; what stands in the recording or the spool is equal but for ids and times.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import pytest
from google.protobuf.json_format import MessageToJson  # type: ignore[import-untyped] # no stubs
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import SpanContext, StatusCode

from agentool_otel.content.policy import Policy
from agentool_otel.otlp.span_parts import JsonParts
from agentool_otel.tracing.capture import agent, run, session, step, tool
from agentool_otel.tracing.capture.model_calls import model_call
from agentool_otel.tracing.export.disk.frames import read_spool
from agentool_otel.tracing.export.disk.leftovers import RecoveryReport
from agentool_otel.tracing.export.disk.recovery import complete_recordings
from agentool_otel.tracing.export.pipeline import Pipeline, masked_pipeline
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from agentool_otel.tracing.spans.direct_call import Sharing
from agentool_otel.tracing.spans.own_span import OwnSpan
from agentool_otel.tracing.spans.settings import settings


class Failed(Exception):
    pass


class Killed(BaseException):
    pass


class Act(NamedTuple):
    """One call: what it gets, does to its span, and comes to."""

    kind: str
    value: Any
    touch: str | None
    end: str
    inside: list[Act]


TOUCHES: dict[str, Callable[[Any], object]] = {
    "attribute": lambda span: span.set_attribute("mine", "password=hunter2-hunter2"),
    "ours": lambda span: span.set_attribute("agentool.step.index", 77),
    "arguments": lambda span: span.set_attribute("gen_ai.tool.call.arguments", "{}"),
    "event": lambda span: span.add_event(
        "seen", {"token": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}
    ),
    "link": lambda span: span.add_link(SpanContext(1, 2, False)),
    "status": lambda span: span.set_status(StatusCode.ERROR, "as they say"),
    "name": lambda span: span.update_name("password: hunter2-hunter2"),
    "no name": lambda span: span.update_name(7),
    "plain name": lambda span: span.update_name("another"),
    "end": lambda span: span.end(),
    "read": lambda span: [getattr(span, name, None) for name in ("attributes", "events", "links")],
    "exception": lambda span: span.record_exception(ValueError("no luck")),
}
KINDS = [
    "tool",
    "tool",
    "tool",
    "agent",
    "clerk",
    "clerk",
    "session",
    "memory",
    "handoff",
    "thought",
    "model",
    "theirs",
]
TEXTS = st.sampled_from(
    ["", "rain in Lisbon", "über", "\ud800", "password=hunter2-hunter2", 'a\nb\t"c"']
) | st.text(max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


def acts_of(inside: st.SearchStrategy[list[Act]]) -> st.SearchStrategy[Act]:
    return st.builds(
        Act,
        st.sampled_from(KINDS),
        VALUES,
        st.none() | st.sampled_from(sorted(TOUCHES)),
        st.sampled_from(["value", "value", "value", "large", "error", "killed"]),
        inside,
    )


PROGRAMS = st.lists(
    st.recursive(
        acts_of(st.just([])),
        lambda inner: acts_of(st.lists(inner, max_size=3)),
        max_leaves=6,
    ),
    min_size=1,
    max_size=3,
)


failures = itertools.count()
"""Exceptions with equal texts may be taken for one another once the first is gone."""


def perform(act: Act) -> Any:
    given = [act.value, "x" * 40_000] if act.end == "large" else act.value

    def body(*_: Any) -> Any:
        if act.touch is not None and act.kind != "session":
            TOUCHES[act.touch](trace.get_current_span())
        for other in act.inside:
            perform(other)
        if act.end == "error":
            raise Failed(f"{next(failures)}: token=ghp_0123456789abcdefghijABCDEFGHIJ012345")
        if act.end == "killed":
            raise Killed
        return given

    with suppress(Failed):
        if act.kind == "tool":
            return tool(name="work", description="Works.")(lambda value: body())(given)
        if act.kind == "agent":
            return agent(name="helper")(lambda value: body())(given)
        if act.kind == "clerk":  # as most agents: of text
            return agent(name="clerk", description="Answers.")(lambda text: str(body()))(str(given))
        if act.kind == "session":
            with session(f"s{act.value!r}"[:30]):
                return body()
        if act.kind == "memory":
            return step("memory_read")(lambda query: body())(given)
        if act.kind == "handoff":
            return step("handoff")(lambda to_agent: body())("other")
        if act.kind == "thought":
            return step("reasoning")(body)()
        if act.kind == "model":
            with model_call("gpt-5", messages=[{"role": "user", "content": f"{given}"}]) as call:
                call.output(str(given))
                call.usage(3, 4)
                return body()
        with settings.tracer("theirs").start_as_current_span("theirs", attributes={"n": 1}):
            return body()
    return None


def configured(begin: Callable[[Pipeline], object], direct: bool) -> Pipeline:
    """Return a pipeline that all spans of ours go to, as `instrument()` makes it."""
    settings.reset()
    pipeline, masking = masked_pipeline()
    begin(pipeline)
    provider = TracerProvider(resource=Resource({"service.name": "bot"}), shutdown_on_exit=False)
    provider.add_span_processor(pipeline)
    settings.configure(provider=provider, policy=Policy(capture=True))
    settings.on_described = pipeline.opened
    settings.repeat_times = True
    if direct:
        settings.writer = pipeline.direct_writer(masking)
        assert settings.writer is not None
    return pipeline


_IDS = re.compile(
    r'(?<=")(?:[0-9a-f]{32}|[0-9a-f]{16}|[A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{11}=)(?=")'
)
_SESSION = re.compile(r"inferred-[0-9a-f]{32}")
_TIMES = re.compile(r'(?<=")1[0-9]{18}(?=")')


def without_chance(documents: list[str]) -> list[str]:
    """Return documents with ids numbered in their order, and without times."""
    numbers: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return f"id {numbers.setdefault(found[0], len(numbers))}"

    named = [_SESSION.sub("session", document) for document in documents]
    return [_TIMES.sub("time", _IDS.sub(number, document)) for document in named]


def run_in_child(program: Callable[[], None]) -> None:
    """Run a program in a forked process that ends as a killed one does."""
    if (child := os.fork()) == 0:
        code = 1
        try:
            with suppress(Killed):
                program()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def left_by(program: list[Act], begin: Callable[[Pipeline, str], object], direct: bool) -> Path:
    """Return the folder of a process that was killed in a program."""
    folder = mkdtemp()

    def performed() -> None:
        configured(lambda pipeline: begin(pipeline, folder), direct)
        for act in program:
            perform(act)

    run_in_child(performed)
    return Path(folder)


def recorded(program: list[Act], direct: bool) -> list[str]:
    """Return the documents of a killed program, once they are recovered."""
    folder = left_by(program, Pipeline.record, direct)
    try:
        complete_recordings(folder, RecoveryReport(folder))
        paths = sorted(folder.glob("*.jsonl"))
        return [line for path in paths for line in path.read_text("utf-8").splitlines()]
    finally:
        shutil.rmtree(folder)


def spooled(program: list[Act], direct: bool) -> list[str]:
    """Return what a killed program has left for a receiver that is down: ended spans, then notes of
    those that have started."""
    target = OtlpTarget.at("http://127.0.0.1:9", {})
    folder = left_by(program, lambda pipeline, folder: pipeline.send(target, folder), direct)
    try:
        ended = [
            MessageToJson(ExportTraceServiceRequest.FromString(request), indent=None)
            for path in folder.glob("*.spool")
            for stretch in read_spool(path, 1 << 20)
            for request in stretch.spans
        ]
        journals = [path.read_text("utf-8").splitlines() for path in folder.glob("*.open")]
        return [*ended, *(line for lines in journals for line in lines[1:])]
    finally:
        shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(Sharing, "usual_calls", 0)  # each function here is called once
    yield
    settings.reset()


pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@given(PROGRAMS)
def test_both_ways_leave_the_same_recording(program: list[Act]) -> None:
    expected = without_chance(recorded(program, direct=False))
    assert without_chance(recorded(program, direct=True)) == expected


@given(PROGRAMS)
def test_both_ways_leave_the_same_for_a_receiver(program: list[Act]) -> None:
    expected = without_chance(spooled(program, direct=False))
    assert without_chance(spooled(program, direct=True)) == expected


def test_calls_of_any_kind_take_the_short_way(tmp_path: Path) -> None:
    configured(lambda pipeline: pipeline.record(tmp_path), direct=True)
    kinds: list[bool] = []

    def look(*_: Any) -> None:
        span: Any = trace.get_current_span()
        kinds.append(isinstance(span, OwnSpan) and span.agentool_writer is settings.writer)

    def inside() -> None:
        look()
        tool(look)()
        step("memory_read")(look)("q")
        with model_call("gpt-5", messages="hi"):
            look()

    agent(inside)()
    with run("mine"):
        look()
    assert kinds == [True] * 5


def test_a_span_that_cannot_be_encoded_takes_the_long_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = configured(lambda pipeline: pipeline.record(tmp_path), direct=True)
    monkeypatch.setattr(pipeline, "_strict", False)
    monkeypatch.setattr(JsonParts, "ended", lambda *_: 1 / 0)
    tool(name="work")(lambda: "done")()
    (path,) = tmp_path.glob("*.jsonl")
    assert b"execute_tool work" in path.read_bytes()
    assert pipeline.counts()["dropped"] == 0
