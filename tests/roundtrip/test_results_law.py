"""The law for verdicts: an EvalResult written into its trace comes back as it was."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.resources import Resource

from agentool_otel import EvalResult
from agentool_otel.dialects import writing_dialect
from agentool_otel.evaluation.write_back import spans_and_events
from agentool_otel.loading import rebuild
from agentool_otel.model.documents import ASSERTION_TYPES
from agentool_otel.model.operations import AgentInvocation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.otlp.json_encoder import encode_log, encode_spans
from agentool_otel.reading.rebuild.conversion import converted
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.testing.conformance import assert_conformant
from agentool_otel.tracing.export.readable_spans import Readable
from tests.laws import many
from tests.records import Collected
from tests.strategies import exact, maybe, numbers, times, values, with_unknown

SPEC = Path(__file__).parent.parent / "fixtures" / "spec"
RESOURCE = Resource({"service.name": "judge"})
passed = st.none() | st.booleans()
scores = numbers | st.sampled_from([0, 1, 0.0, -0.0, 1.0, 0.925])
assertion_results = with_unknown(
    st.fixed_dictionaries(
        {"assertion_type": st.sampled_from(ASSERTION_TYPES) | st.text(), "passed": passed},
        optional={
            **maybe(score=scores, reason=st.text() | st.just("long " * 1000)),
            "step_ids": st.lists(st.text(max_size=4), max_size=2) | values,
            "label": st.text(max_size=4) | values,
        },
    )
)
results = with_unknown(
    st.fixed_dictionaries(
        {
            "case_id": st.text(),
            "passed": passed,
            "assertion_results": st.lists(assertion_results, max_size=4),
        },
        optional={
            **maybe(eval_id=st.text(), trace_id=st.text(), judge_model=st.text()),
            **maybe(composite_score=scores, evaluated_at=times, notes=st.text()),
            "evaluated": numbers | values,
            "total": numbers | values,
        },
    )
)
"""EvalResults as JSON objects: null beside absent, unknown members, odd numbers and times."""


def run() -> tuple[list[SpanRecord], Rebuilt]:
    spans = Collected()
    spans.add(AgentInvocation(agent_name="researcher"))
    (result,) = rebuild(spans.spans)
    return spans.spans, result


def there_and_back(
    *originals: dict[str, Any],
    content: bool = True,
    parts: tuple[str, ...] = ("spans", "events"),
    dialect: str = "gen_ai",
    times: int = 1,
) -> list[dict[str, Any]]:
    """Write results and the spans of their run into a file; return the results that are read back.

    Args:
        originals: the results, as documents.
        content: whether to write reasons, notes and unknown members.
        parts: the forms in which to write a result: spans, events or both.
        dialect: the dialect of the spans.
        times: the number of copies of each.
    """
    spans, judged = run()
    assert judged.anchor is not None
    readable, words = Readable(), writing_dialect(dialect)
    lines = [encode_spans([*map(readable, spans)])]
    for result in originals:
        value = spans_and_events(EvalResult.from_dict(result), judged.anchor, RESOURCE, content)
        if "spans" in parts:
            lines += [
                encode_spans([readable(converted(span, words)) for span in value.spans])
            ] * times
        if "events" in parts:
            lines += [*map(encode_log, value.events)] * times
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "run.jsonl").write_bytes(b"\n".join(lines))
        (match,) = rebuild(open_source(folder).spans())
    assert exact(match.trace.to_dict()) == exact(judged.trace.to_dict())
    assert match.scores == []
    return [result.to_dict() for result in match.results]


slow = settings(max_examples=many(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("parts", [("spans",), ("events",), ("spans", "events")])
@slow
@given(result=results)
def test_every_result_comes_back(parts: tuple[str, ...], result: dict[str, Any]) -> None:
    """All assertion types of the spec, and any other, by spans alone, events alone or both."""
    assert [exact(item) for item in there_and_back(result, parts=parts)] == [exact(result)]


@slow
@given(
    several=st.lists(results, max_size=3, unique_by=lambda item: exact(item["assertion_results"]))
)
def test_several_results_in_a_trace_are_kept_apart(several: list[dict[str, Any]]) -> None:
    several = [{**item, "case_id": f"{n}"} for n, item in enumerate(several)]
    assert Counter(map(exact, there_and_back(*several))) == Counter(map(exact, several))


@pytest.mark.parametrize("dialect", ["openinference", "traceloop"])
def test_a_result_comes_back_from_spans_in_other_vocabularies(dialect: str) -> None:
    """An evaluator's result stays one in every vocabulary that is written."""
    result = json.loads((SPEC / "eval-result.json").read_text())
    assert there_and_back(result, parts=("spans",), dialect=dialect) == [result]


def test_of_a_result_written_twice_the_fuller_copy_counts() -> None:
    result = json.loads((SPEC / "eval-result.json").read_text())
    assert there_and_back(result, times=3) == [result]
    spans, judged = run()
    assert judged.anchor is not None
    for content in (True, False):
        spans += spans_and_events(
            EvalResult.from_dict(result), judged.anchor, RESOURCE, content
        ).spans
    (match,) = rebuild(spans)
    assert [result.to_dict() for result in match.results] == [result]


def test_without_content_no_reason_and_no_unknown_member_is_written() -> None:
    assertion = {"assertion_type": "status", "passed": False, "score": 0.0}
    bare = {"case_id": "c", "passed": False, "composite_score": 0.5, "evaluated": 1, "total": 1}
    texts = {**assertion, "reason": "secret", "step_ids": ["step_001"], "quote": "secret"}
    result = {**bare, "notes": "secret", "input": "secret", "assertion_results": [texts]}
    results = {**assertion, "step_ids": ["step_001"]}
    assert there_and_back(result, content=False) == [{**bare, "assertion_results": [results]}]
    _, judged = run()
    assert judged.anchor is not None
    value = spans_and_events(EvalResult.from_dict(result), judged.anchor, RESOURCE)
    assert "secret" not in repr(value)
    assert_conformant(value.spans, content=False)


def test_the_spans_of_results_conform_to_the_conventions() -> None:
    _, judged = run()
    assert judged.anchor is not None
    reason = "long " * 1000
    result = EvalResult.from_dict(
        {
            "case_id": "c",
            "passed": None,
            "assertion_results": [
                {"assertion_type": "rubric", "passed": None},
                {"assertion_type": "status", "passed": True, "score": 1.0, "reason": reason},
            ],
        }
    )
    value = spans_and_events(result, judged.anchor, RESOURCE, content=True)
    assert_conformant(value.spans)
    assert [(span.name, span.status) for span in value.spans] == [
        ("evaluate composite_score", "UNSET"),
        ("evaluate rubric", "UNSET"),
        ("evaluate status", "UNSET"),
    ]
    labels = [span.attributes["gen_ai.evaluation.score.label"] for span in value.spans]
    assert labels == ["not_evaluated", "not_evaluated", "pass"]
    values = [span.attributes.get("gen_ai.evaluation.score.value") for span in value.spans]
    assert values == [None, None, 1.0]
    assert len(value.spans[2].attributes["gen_ai.evaluation.explanation"]) == 2048
    assert {event.event_name for event in value.events} == {"gen_ai.evaluation.result"}
    assert {(event.trace_id, event.span_id) for event in value.events} == {(1, 1)}
    assert {(span.parent_id, span.start_ns, span.end_ns) for span in value.spans} == {
        (judged.anchor.span_id, judged.anchor.end_ns, judged.anchor.end_ns)
    }
