"""Evaluations of a run are in its trace, and change nothing of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.resources import Resource

from agentool_otel import AssertionResult, EvalResult
from agentool_otel.dialects import classify, writing_dialect
from agentool_otel.evaluation.write_back import spans_and_events
from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import (
    AgentInvocation,
    EvaluationResult,
    Inference,
    Operation,
    ToolExecution,
    Unclassified,
    WorkflowInvocation,
)
from agentool_otel.model.spans import SpanEvent, SpanRecord
from agentool_otel.reading.rebuild.correlation.loose_calls import LooseNodes
from agentool_otel.reading.rebuild.runs import Deferred, DeferredWork, rebuild_loose, rebuild_trace
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.semconv import agentool
from tests.reading.rebuild.trees import DIALECTS, SECOND, span_trees
from tests.records import Collected, asks
from tests.strategies import exact, values

RESULT = EvalResult.from_dict(
    {
        "eval_id": "e",
        "case_id": "c",
        "passed": False,
        "assertion_results": [
            {"assertion_type": "status", "passed": True, "score": 1.0, "reason": "it ended"},
            {"assertion_type": "rubric", "passed": False, "score": 0.0},
        ],
        "composite_score": 0.5,
        "evaluated_at": "2026-03-01T10:01:00Z",
    }
)
JUDGE = Resource({"service.name": "judge"})
EVENT = "gen_ai.evaluation.result"


def said(rebuilt_traces: list[Rebuilt]) -> list[str]:
    """Return the documents of the traces, with their fidelity."""
    return sorted(
        exact([rebuilt_trace.trace.to_dict(), rebuilt_trace.fidelity.to_dict()])
        for rebuilt_trace in rebuilt_traces
    )


def _is_run(span: SpanRecord) -> bool:
    return isinstance(classify(span)[1], (AgentInvocation, WorkflowInvocation))


class Judge:
    """Writes judgements of spans into their traces, as one SDK or another does."""

    def __init__(self, chance: Any, spans: list[SpanRecord], dialect: str):
        self._chance, self._dialect = chance, dialect
        self._runs = {span.span_id for span in spans if _is_run(span)}
        self._count = 0
        self._at = max(span.end_ns or 0 for span in spans) + SECOND

    def span(self, operation: Operation, trace_id: str, parent: str | None) -> SpanRecord:
        """Return a span that begins after the run."""
        name, kind, attributes = writing_dialect(self._dialect).write(operation)
        self._count += 1
        self._at += SECOND
        return SpanRecord(
            trace_id,
            f"e{self._count:015x}",
            parent,
            name,
            kind,
            self._at,
            self._at,
            attributes,
            status="ERROR" if operation.error_type else "UNSET",
            scope="some.sdk",
        )

    def of(self, span: SpanRecord) -> list[SpanRecord]:
        """Return what judges a span: a verdict, the calls of a judge in it, an event beside it."""
        parent = self._chance.choice([span.span_id, None, "f" * 16])
        failed = self._chance.choice([None, "TimeoutError"])
        verdict = EvaluationResult(name="tone", score=0.5, error_type=failed)
        results = [self.span(verdict, span.trace_id, parent)]
        if parent == span.span_id and self._chance.random() < 0.5:
            requests = [message("user", [text("Is this polite?")])]
            operations: list[Operation] = [
                Inference(
                    provider="p", input=requests, output=[message("assistant", [text("no")])]
                ),
                ToolExecution(name="look", arguments={}, result="x", error_type=failed),
            ]
            if span.span_id in self._runs:  # elsewhere it may be what an experiment runs
                operations.append(AgentInvocation(agent_name="judge"))
            for inner in operations:
                results.append(self.span(inner, span.trace_id, results[0].span_id))
        event = SpanEvent(EVENT, self._at, {"gen_ai.evaluation.name": "tone"})
        results.append(SpanRecord(span.trace_id, span.span_id, events=[event]))
        return results


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), chance=st.randoms(use_true_random=False))
def test_a_judged_trace_is_the_same(dialect: str, data: Any, chance: Any) -> None:
    """Steps, status, times, output, metrics, ids and the report, whoever judged what, and how."""
    spans = data.draw(span_trees(dialect))
    if chance.random() < 0.3:  # some of it is not in this store
        spans = chance.sample(spans, max(1, len(spans) * 2 // 3))
    judge = Judge(chance, spans, dialect)
    runs = [span for span in spans if _is_run(span)] or spans
    judgements = [item for span in chance.choices(runs, k=2) for item in judge.of(span)]
    plain, judged = list(rebuild(spans)), list(rebuild([*spans, *judgements]))
    assert said(judged) == said(plain)


def run_behind_http() -> Collected:
    spans = Collected()
    http = spans.add(Unclassified(), name="GET /", kind="SERVER")
    root = spans.add(AgentInvocation(agent_name="clerk"), parent=http)
    spans.add(ToolExecution(name="look", arguments={}, result="x"), parent=root)
    return spans


def test_a_verdict_is_on_the_agents_span_not_on_the_request_around_it() -> None:
    result = run_behind_http()
    (match,) = rebuild(result.spans)
    assert match.anchor is not None
    assert match.anchor.span_id == result.spans[1].span_id
    assert match.anchor.end_ns == result.spans[1].end_ns


def test_a_verdict_on_bare_calls_is_on_the_last_one() -> None:
    collection = Collected()
    collection.add(asks(("c1", "look")), trace=1)
    collection.add(ToolExecution(name="look", call_id="c1", result="x"), trace=1)
    last = collection.add(
        Inference(provider="p", output=[message("assistant", [text("x")])]), trace=1
    )
    runs = list(rebuild(collection.spans))
    judged = next(run for run in runs if run.anchor and run.anchor.span_id == last.span_id)
    assert judged.anchor is not None
    spans = spans_and_events(RESULT, judged.anchor, JUDGE, content=True).spans
    again = list(rebuild([*collection.spans, *spans]))
    assert said(again) == said(runs)
    assert [item.results for item in again if item.trace.trace_id == judged.trace.trace_id] == [
        [RESULT]
    ]
    assert sum(len(item.results) for item in again) == 1


def test_each_run_of_a_trace_has_its_own_verdict() -> None:
    collection = Collected()
    outer = collection.add(AgentInvocation(agent_name="outer"), seconds=9)
    collection.add(AgentInvocation(agent_name="inner"), parent=outer)
    collection.add(ToolExecution(name="look", arguments={}, result="x"), parent=outer)
    spans = list(collection.spans)
    for match in rebuild(collection.spans):
        assert match.anchor is not None
        result = EvalResult.from_dict({**RESULT.to_dict(), "case_id": match.trace.agent_id})
        spans += spans_and_events(result, match.anchor, JUDGE).spans
    results = {item.trace.agent_id: [r.case_id for r in item.results] for item in rebuild(spans)}
    assert results == {"outer": ["outer"], "inner": ["inner"]}


def test_a_verdict_in_another_trace_belongs_to_one_run() -> None:
    """As where several processes rebuild, and one of them has to see all bare calls."""
    collection = Collected()
    root = collection.add(AgentInvocation(agent_name="clerk"), trace=1)
    collection.add(Inference(provider="p", output=[message("assistant", [text("x")])]), trace=1)
    spans = list(collection.spans)
    for result in rebuild(collection.spans):
        assert result.anchor is not None
        spans += spans_and_events(RESULT, result.anchor, JUDGE).spans
    waiting = DeferredWork()
    rebuilt = list(rebuild_trace(spans, lambda left: waiting.add_rest(loose_spans(left))))
    rebuilt += [rebuild_loose(run) for run in waiting.loose_runs()]
    waiting.close()
    assert [len(item.results) for item in rebuilt] == [1, 1]
    assert rebuilt[0].anchor is not None
    assert rebuilt[0].anchor.span_id == root.span_id


def loose_spans(left: Deferred) -> list[SpanRecord]:
    assert isinstance(left, LooseNodes)
    return left.spans


def test_judgements_alone_are_not_a_run() -> None:
    result = run_behind_http()
    (match,) = rebuild(result.spans)
    assert match.anchor is not None
    alone = spans_and_events(RESULT, match.anchor, JUDGE).spans
    event = SpanEvent(EVENT, 1, {"gen_ai.evaluation.name": "tone"})
    span_record = SpanRecord(alone[0].trace_id, result.spans[1].span_id, events=[event])
    assert list(rebuild([*alone, span_record])) == []


def test_judgements_of_other_evaluators_are_scores() -> None:
    """The conventions' event, and OpenInference's span of an evaluator."""
    result = run_behind_http()
    at = result.spans[1].end_ns or 0
    event = SpanEvent(
        EVENT,
        at,
        {
            "gen_ai.evaluation.name": "Relevance",
            "gen_ai.evaluation.score.value": 4,
            "gen_ai.evaluation.score.label": "pass",
            "gen_ai.evaluation.explanation": "it is",
        },
    )
    result.spans.append(
        SpanRecord(result.spans[1].trace_id, result.spans[1].span_id, events=[event])
    )
    result.add(
        Unclassified(),
        parent=result.spans[1],
        name="hallucination",
        attributes={
            "openinference.span.kind": "EVALUATOR",
            "annotations.0.annotation.name": "factual",
            "annotations.0.annotation.label": "factual",
            "annotations.0.annotation.score": 1,
        },
    )
    (match,) = rebuild(result.spans)
    assert match.results == []
    judged = {"span_id": result.spans[1].span_id}
    assert [
        (score.assertion_type, score.passed, score.score, score.reason) for score in match.scores
    ] == [
        ("Relevance", True, 4.0, "it is"),
        ("factual", None, 1.0, AssertionResult(assertion_type="", passed=None).reason),
    ]
    assert all(score.extra | judged == score.extra for score in match.scores)
    assert [score.extra["label"] for score in match.scores] == ["pass", "factual"]


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                *(name for name in agentool.MEANING if name.startswith("agentool.eval.")),
                *("gen_ai.evaluation.name", "gen_ai.evaluation.score.value"),
                *("gen_ai.evaluation.score.label", "gen_ai.evaluation.explanation"),
                "gen_ai.operation.name",
            ]
        ),
        values | st.sampled_from(["x", "chat", "{}", 1, 0.5, True, [1], ["a"]]),
    ),
    st.booleans(),
)
def test_a_trace_is_read_whatever_its_judgements_contain(said: dict[str, Any], event: bool) -> None:
    """Names of ours and of the conventions, holding anything."""
    result = run_behind_http()
    root = result.spans[1]
    if event:
        span_event = SpanEvent(EVENT, root.end_ns, said)
        result.spans.append(SpanRecord(root.trace_id, root.span_id, events=[span_event]))
    else:
        said = {**said, "gen_ai.evaluation.name": said.get("gen_ai.evaluation.name", "x")}
        said.pop("gen_ai.operation.name", None)
        result.add(Unclassified(), parent=root, name="evaluate", attributes=said)
    (match,) = rebuild(result.spans)
    assert len(match.trace.steps) == 2
    assert len(match.results) + len(match.scores) == 1


def test_an_experiment_that_evaluates_by_running_keeps_its_runs() -> None:
    spans = Collected()
    experiment = spans.add(EvaluationResult(name="experiment"))
    root = spans.add(AgentInvocation(agent_name="clerk"), parent=experiment)
    spans.add(ToolExecution(name="look", arguments={}, result="x"), parent=root)
    spans.add(asks(("c1", "judge")), parent=experiment)
    (result,) = rebuild(spans.spans)
    assert result.trace.agent_id == "clerk"
    assert [step.type for step in result.trace.steps] == ["tool_call", "tool_result"]
