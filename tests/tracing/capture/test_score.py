"""`score`: evaluations of a run by people and programs, in its trace."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import context, trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, TraceIdRatioBased

from agentool_otel import AgentRun, AssertionResult, ReasoningTrace, run, score
from agentool_otel.content.policy import Policy
from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.loading import rebuild
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.replaying import replay
from agentool_otel.semconv.table import GENERATIONS
from agentool_otel.tracing.capture import scores
from agentool_otel.tracing.export.pipeline import Pipeline
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from agentool_otel.tracing.spans.settings import settings
from tests.records import records
from tests.tracing.export.logged import Provided
from tests.tracing.export.receiver import HttpReceiver

VALUE, LABEL = "gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label"
COMMENT = "gen_ai.evaluation.explanation"
TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


@pytest.fixture(autouse=True)
def nothing_refused_yet() -> None:
    scores._refused.clear()


def finished_run() -> AgentRun:
    with run("clerk", input="what?") as result:
        result.output = "this"
    return result


def rebuilt(spans: Any) -> Rebuilt:
    [result] = rebuild(records(spans.finished()))
    return result


def scored(spans: Any) -> list[ReadableSpan]:
    return [item for item in spans.finished() if item.name.startswith("evaluate ")]


def essence(result: AssertionResult) -> tuple[Any, ...]:
    return (result.assertion_type, result.score, result.passed, result.extra.get("label"))


def test_feedback_on_a_finished_run_is_in_its_trace_and_changes_nothing(
    spans: Any,
) -> None:
    result = finished_run()
    before = rebuilt(spans).trace
    score(result, "helpful", True, comment="just what I asked")
    score(result, "stars", 4, label="good")
    match = rebuilt(spans)
    assert match.trace == before
    assert [essence(item) for item in match.scores] == [
        ("helpful", 1.0, True, "pass"),
        ("stars", 4.0, None, "good"),
    ]
    assert match.scores[0].reason == "just what I asked"
    assert match.results == []


def test_a_score_is_an_instant_below_the_run_at_its_end(spans: Any) -> None:
    result = finished_run()
    score(result, "helpful", False)
    root, judged = spans.finished()
    assert judged.parent is not None
    assert judged.parent.span_id == root.context.span_id
    assert judged.start_time == judged.end_time == root.end_time
    assert judged.name == "evaluate helpful"
    assert (judged.attributes[VALUE], judged.attributes[LABEL]) == (0.0, "fail")
    assert result.trace_id == f"{root.context.trace_id:032x}"


def test_a_running_run_can_be_scored_without_adding_a_step(spans: Any) -> None:
    with run("clerk") as result:
        result.tool_result(result.tool_call("look"), "x")
        score(result, "plan", 0.5)
        score(trace.get_current_span(), "plan", 0.7)
    match = rebuilt(spans)
    assert [step.type for step in match.trace.steps] == ["tool_call", "tool_result"]
    assert [item.score for item in match.scores] == [0.5, 0.7]


def test_each_of_several_people_counts(spans: Any) -> None:
    result = finished_run()
    for _ in range(3):
        score(result, "helpful", True)
    assert len(rebuilt(spans).scores) == 3


def test_span_and_event_are_one_score(spans: Any, provided: Provided) -> None:
    result = finished_run()
    score(result, "helpful", True)
    [event] = provided.records
    [judged] = scored(spans)
    about = result.span.get_span_context()
    assert (event.trace_id, event.span_id) == (about.trace_id, about.span_id)
    assert event.event_name == "gen_ai.evaluation.result"
    assert judged.context is not None
    assert judged.attributes is not None
    text = f"{judged.context.span_id:016x}"
    assert dict(event.attributes) == {**judged.attributes, "agentool.eval.span_id": text}


@pytest.mark.parametrize("generation", list(GENERATIONS))
def test_a_score_comes_back_in_every_generation_of_the_names(
    spans: Any, provided: Provided, generation: str
) -> None:
    """One that has no event for it has the span."""
    settings.configure(dialect=GenAI(generation))
    score(finished_run(), "helpful", True, comment="yes")
    result = rebuilt(spans)
    assert [essence(item) for item in result.scores] == [("helpful", 1.0, True, "pass")]
    assert len(provided.records) == (generation != "1.36")


# ------------------------------------------------------------------------------ another process


@pytest.mark.parametrize(
    ("told", "parent"),
    [
        (TRACE, None),
        (TRACE.upper(), None),
        (f"{TRACE}:{SPAN}", SPAN),
        (f"00-{TRACE}-{SPAN}-01", SPAN),
    ],
)
def test_a_trace_of_another_process_is_named_by_text(
    spans: Any, told: str, parent: str | None
) -> None:
    """Its id, that of a rebuilt trace, or a propagated context."""
    score(told, "helpful", 1)
    judged = spans.only()
    assert f"{judged.context.trace_id:032x}" == TRACE
    assert (judged.parent and f"{judged.parent.span_id:016x}") == parent
    assert spans.attributes()[VALUE] == 1.0


def test_the_id_of_a_document_names_its_replayed_spans(spans: Any) -> None:
    document = ReasoningTrace.from_dict({"trace_id": "tr_7f3a9b", "agent_id": "a", "steps": []})
    replay(document)
    score("tr_7f3a9b", "helpful", True)
    [result] = rebuild(records(spans.finished()))
    assert result.trace.trace_id == "tr_7f3a9b"
    assert [essence(item) for item in result.scores] == [("helpful", 1.0, True, "pass")]


def test_a_trace_id_alone_finds_the_run_of_the_trace(spans: Any) -> None:
    result = finished_run()
    assert result.trace_id is not None
    score(result.trace_id, "helpful", True)
    assert len(rebuilt(spans).scores) == 1


# --------------------------------------------------------------------------------------- content


def test_a_comment_is_content(spans: Any, provided: Provided) -> None:
    """The name, the value and the label are not."""
    settings.configure(policy=Policy(capture=False))
    score(finished_run(), "helpful", 1, label="good", comment="the patient said")
    [judged] = scored(spans)
    assert judged.attributes is not None
    assert COMMENT not in judged.attributes
    assert "patient" not in repr(provided.records)
    assert judged.attributes[LABEL] == "good"


def test_a_comment_is_masked_redacted_and_kept_off_spans_like_content(
    spans: Any, provided: Provided
) -> None:
    result = finished_run()
    score(result, "a", 1, comment="my key is sk-proj-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
    settings.configure(policy=Policy(capture=True, redact=lambda name, text: text.upper()))
    score(result, "b", 1, comment="quiet")
    settings.configure(policy=Policy(capture=True, on_spans=False, in_events=True))
    score(result, "c", 1, comment="beside")
    on_spans = [(span.attributes or {}).get(COMMENT) for span in scored(spans)]
    assert "sk-proj" not in str(on_spans[0])
    assert on_spans[1:] == ["QUIET", None]
    assert [record.attributes.get(COMMENT) for record in provided.records] == [None, None, "beside"]


# ----------------------------------------------------------------------------------- as a guest


@pytest.mark.parametrize("nonsense", [None, 7, "", "yesterday's", "0" * 32, b"x", object()])
def test_an_unknown_run_is_refused_with_one_warning_and_no_exception(
    spans: Any, nonsense: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        score(nonsense, "helpful", 1)
        score(nonsense, "helpful", 1)
    assert spans.finished() == []
    assert len(caplog.records) == 1
    assert "a score is not recorded" in caplog.text


@pytest.mark.parametrize("nonsense", ["4", None, float("nan"), float("inf"), 10**400])
def test_a_value_that_is_not_a_number_is_refused(
    spans: Any, nonsense: Any, caplog: pytest.LogCaptureFixture
) -> None:
    result = finished_run()
    score(result, "helpful", nonsense)
    assert scored(spans) == []
    assert "its value is no number" in caplog.text


def test_nothing_happens_where_nothing_is_recorded(spans: Any, provided: Provided) -> None:
    result = finished_run()
    token = context.attach(context.set_value(context._SUPPRESS_INSTRUMENTATION_KEY, True))
    score(result, "helpful", True)
    with run("clerk") as suppressed:
        pass
    context.detach(token)
    score(suppressed, "helpful", True)
    score(AgentRun("never begun"), "helpful", True)
    score(trace.INVALID_SPAN, "helpful", True)
    score(f"00-{TRACE}-{SPAN}-00", "helpful", True)  # not sampled there
    settings.enabled = False
    score(result, "helpful", True)
    assert scored(spans) == []
    assert provided.records == []


def provided_by(sampler: Any) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(sampler, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    settings.configure(provider=provider)
    return exporter


def test_a_score_is_sampled_like_its_trace(spans: Any, provided: Provided) -> None:
    unsampled = provided_by(ALWAYS_OFF)
    score(finished_run(), "helpful", True)
    assert unsampled.get_finished_spans() == ()
    half = provided_by(TraceIdRatioBased(0.5))
    for high in (False, True):
        trace_id = f"{'0' * 16}{'f' if high else '1'}{'0' * 15}"
        score(trace_id, "helpful", True)
    [result] = half.get_finished_spans()
    assert result.context is not None
    assert f"{result.context.trace_id:032x}"[16] == "1"
    assert provided.records == []


def test_without_an_sdk_nothing_happens() -> None:
    settings.reset()
    score(TRACE, "helpful", True)
    score(finished_run(), "helpful", True)


def piped(pipeline: Pipeline) -> TracerProvider:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(pipeline)
    settings.configure(provider=provider)
    return provider


def test_a_score_is_recorded_and_sent_like_any_span(spans: Any, tmp_path: Path) -> None:
    """Into the recording, and to an endpoint, offline as soon as it is given."""
    pipeline = Pipeline()
    pipeline.record(tmp_path)
    provider = piped(pipeline)
    result = finished_run()
    score(f"{result.trace_id}", "helpful", True)
    score(result, "helpful", False, comment="no")
    [match] = rebuild(open_source(tmp_path).spans())
    assert sorted(essence(item)[1] for item in match.scores) == [0.0, 1.0]
    provider.shutdown()
    with HttpReceiver() as receiver:
        pipeline = Pipeline()
        pipeline.send(OtlpTarget.at(receiver.endpoint, {}), tmp_path / "spool")
        provider = piped(pipeline)
        score(TRACE, "helpful", True)
        provider.shutdown()
        assert receiver.names() == ["evaluate helpful"]
