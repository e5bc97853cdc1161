"""Content on spans, on events, on both: the same trace comes back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.ground import environment
from agentool_otel.loading import load
from agentool_otel.model.codec import encode
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.grouping.by_trace import by_trace
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.semconv.table import GENERATIONS
from agentool_otel.testing.conformance import check_all
from tests.tracing.setup.test_setup import run

PROGRAM = """
import agentool_otel
from agentool_otel.tracing.spans.live import begin
from agentool_otel.model.operations import Inference
agentool_otel.instrument()

@agentool_otel.tool
def find(query, limit=3): return {"found": [query] * limit}

@agentool_otel.tool
def fail(why): raise ValueError("no " + why)

@agentool_otel.step("memory_read")
def recall(query): return ["a", "b"]

@agentool_otel.step("memory_write")
def keep(key, content): return None

@agentool_otel.step("handoff")
def hand_over(to_agent, message): return {"taken": True}

@agentool_otel.step("reasoning")
def think(): return "I should look"

def infer(asked, *parts):
    asked = [{"role": "user", "parts": [{"type": "text", "content": asked}]}]
    answer = [{"role": "assistant", "parts": list(parts), "finish_reason": "stop"}]
    bare = Inference(provider="openai", request_model="gpt-5")
    live = begin(bare)
    live.end(Inference(provider="openai", request_model="gpt-5", input=asked, output=answer,
                       system=[{"type": "text", "content": "Be brief."}],
                       tools=[{"type": "function", "name": "find"}]))

@agentool_otel.agent
def clerk(question):
    think()
    infer(question, {"type": "reasoning", "content": "hm"},
          {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"query": "x" * SIZE}})
    find("x" * SIZE)
    try: fail("luck")
    except ValueError: pass
    recall("q")
    keep("k", ["kept", 2])
    hand_over("helper", "please help")
    infer(question, {"type": "text", "content": "done"})
    return "done"

clerk("what?")
with agentool_otel.run("by-hand", input={"a": [1]}, session_id="s") as by_hand:
    by_hand.reasoning("thought", context_tokens=7)
    call = by_hand.tool_call("search", {"q": 2**70})
    by_hand.tool_result(call, ["n"])
    by_hand.tool_result(by_hand.tool_call("search", {"q": 2}), error="went wrong")
    by_hand.handoff("writer", "compose")
    by_hand.memory_read("q", [1])
    by_hand.memory_read("q", None)
    by_hand.memory_read("q", {"found": [1]})
    by_hand.memory_write({"a": 1}, key="k")
    by_hand.output = {"deep": [1]}
"""
CHANGING = re.compile(r"time|duration|_at$|id$")
CONTENT = ("what?", "I should look", "hm", "no luck", "thought", "went wrong", "Be brief.",
           "kept", "please help", "compose")  # fmt: skip


def rebuilt(folder: Path) -> list[Any]:
    """The traces of a recording without what differs from run to run."""

    def same(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: same(v) for k, v in value.items() if not CHANGING.search(k)}
        return [same(item) for item in value] if isinstance(value, list) else value

    traces = [same(encode(trace)) for trace in load(folder / ".agentool")]
    return sorted(traces, key=lambda trace: len(trace["steps"]))


def record(folder: Path, mode: str, size: Any = 1, **environ: str) -> Path:
    folder.mkdir()
    run(folder, PROGRAM.replace("SIZE", str(size)), **{environment.CAPTURE: mode}, **environ)
    return folder


def spans_of(folder: Path) -> list[SpanRecord]:
    """The spans of a recording by themselves."""
    spans = open_source(folder / ".agentool").spans()
    return [span for span in spans if span.start_ns is not None]


MODES = ("SPAN_ONLY", "EVENT_ONLY", "SPAN_AND_EVENT")


@pytest.fixture(scope="module")
def on_spans(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The traces that come back from the baseline with content on spans."""
    traces = rebuilt(record(tmp_path_factory.mktemp("baseline") / "spans", "SPAN_ONLY"))
    assert [len(trace["steps"]) for trace in traces] == [9, 10]
    assert all(text in str(traces) for text in CONTENT if text != "Be brief.")
    return traces


def joined(folder: Path) -> list[SpanRecord]:
    """The spans of a recording with the log records in their context."""
    traces = by_trace(open_source(folder / ".agentool").spans())
    return [span for trace in traces for span in trace]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_same_trace_comes_back(
    tmp_path: Path, on_spans: list[Any], generation: str, mode: str
) -> None:
    folder = record(tmp_path / "other", mode, AGENTOOL_SEMCONV=generation)
    assert rebuilt(folder) == on_spans


def test_without_content_all_generations_give_the_same_trace(tmp_path: Path) -> None:
    baseline, *others = (
        rebuilt(record(tmp_path / generation, "NO_CONTENT", AGENTOOL_SEMCONV=generation))
        for generation in GENERATIONS
    )
    assert [len(trace["steps"]) for trace in baseline] == [9, 10]
    assert others == [baseline] * len(others)


@pytest.mark.parametrize("mode", [*MODES, "NO_CONTENT"])
@pytest.mark.parametrize("generation", GENERATIONS)
def test_spans_and_events_are_those_of_the_generation(
    tmp_path: Path, generation: str, mode: str
) -> None:
    folder = record(tmp_path / "any", mode, AGENTOOL_SEMCONV=generation)
    assert check_all(joined(folder), generation=generation) == []
    on_spans = mode.startswith("SPAN_")
    assert check_all(spans_of(folder), content=on_spans, generation=generation) == []


def test_before_1_37_messages_are_events_each(tmp_path: Path) -> None:
    folder = record(tmp_path / "older", "SPAN_ONLY", AGENTOOL_SEMCONV="1.36")
    first, second = (span for span in joined(folder) if span.name == "chat gpt-5")
    assert [event.name for event in first.events] == [
        *("gen_ai.system.message", "gen_ai.user.message", "gen_ai.choice")
    ]
    assert not any("messages" in name for span in (first, second) for name in span.attributes)
    request, answered = second.events[1:]
    assert request.attributes["gen_ai.system"] == "openai"
    assert request.attributes["content"] == "what?"
    assert answered.attributes["finish_reason"] == "stop"
    assert answered.attributes["message"] == {"content": "done"}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_offloaded_content_is_restored(tmp_path: Path, generation: str) -> None:
    least = {"AGENTOOL_MAX_ATTRIBUTE_BYTES": "2000"}
    on_spans = rebuilt(record(tmp_path / "spans", "SPAN_ONLY", 3000, **least))
    assert "x" * 3000 in str(on_spans)
    assert (
        rebuilt(
            record(tmp_path / "events", "EVENT_ONLY", 3000, AGENTOOL_SEMCONV=generation, **least)
        )
        == on_spans
    )


def test_spans_hold_no_content_in_event_only_mode(tmp_path: Path) -> None:
    spans = spans_of(record(tmp_path / "events", "EVENT_ONLY"))
    assert len(spans) == 16
    assert check_all(spans, content=False) == []
    error = "no luck"  # of an exception: not content
    assert not any(text in str(spans) for text in CONTENT if text != error)


def test_the_events_conform_to_the_conventions(tmp_path: Path) -> None:
    folder = record(tmp_path / "events", "SPAN_AND_EVENT")
    spans = joined(folder)
    assert check_all(spans) == []
    (first, _) = (span for span in spans if span.name == "chat gpt-5")
    (event,) = first.events
    assert event.name == gen_ai.EVENT_INFERENCE_DETAILS
    assert event.attributes[gen_ai.REQUEST_MODEL] == "gpt-5"
    (request,) = event.attributes[gen_ai.INPUT_MESSAGES]
    assert request["parts"] == [{"type": "text", "content": "what?"}]
    (tool,) = (span for span in spans if span.name == "execute_tool find")
    assert [event.name for event in tool.events] == [agentool.EVENT_DETAILS]


def test_events_come_while_their_span_is_open(tmp_path: Path) -> None:
    folder = record(tmp_path / "events", "EVENT_ONLY")
    spans = joined(folder)
    messages = [
        (span.start_ns or 0, event.time_ns or 0, span.end_ns or 0)
        for span in spans
        for event in span.events
        if event.name in (gen_ai.EVENT_INFERENCE_DETAILS, agentool.EVENT_DETAILS)
    ]
    assert len(messages) > 9
    assert all(start <= time <= end for start, time, end in messages)


def test_without_content_there_are_no_events(tmp_path: Path) -> None:
    folder = record(tmp_path / "none", "NO_CONTENT")
    text = next((folder / ".agentool").glob("*.jsonl")).read_text()
    assert "resourceLogs" not in text


def test_without_a_receiver_of_events_there_is_a_notice_and_no_content(tmp_path: Path) -> None:
    code = PROGRAM.replace("SIZE", "1")
    environ = {environment.CAPTURE: "EVENT_ONLY", "OTEL_LOGS_EXPORTER": "none"}
    done = run(tmp_path, code, **environ)
    assert done.stderr == (
        f"{environment.CAPTURE} asks for events, but log records go nowhere "
        "(OTEL_LOGS_EXPORTER=none): content is not captured; hint: SPAN_ONLY sets it on spans\n"
    )
    assert check_all(spans_of(tmp_path), content=False) == []


def test_without_a_receiver_of_events_messages_are_on_spans(
    tmp_path: Path, on_spans: list[Any]
) -> None:
    code = PROGRAM.replace("SIZE", "1")
    environ = {
        environment.CAPTURE: "SPAN_ONLY",
        "OTEL_LOGS_EXPORTER": "none",
        "AGENTOOL_SEMCONV": "1.36",
    }
    done = run(tmp_path, code, **environ)
    assert done.stderr == (
        "AGENTOOL_SEMCONV=1.36 has messages in log records, but those go nowhere "
        "(OTEL_LOGS_EXPORTER=none): messages are on spans, under names of ours\n"
    )
    assert rebuilt(tmp_path) == on_spans
    assert check_all(spans_of(tmp_path), generation="1.36") == []
