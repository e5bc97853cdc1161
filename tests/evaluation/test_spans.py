"""Marks of missing data on the spans of a trace decide which checks can be evaluated."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentool_otel import ReasoningTrace, evaluate
from agentool_otel.evaluation import Verdict
from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.replaying import replay
from tests.evaluation.runs import RUN, Object, changed, said, verdict
from tests.records import records

ARGUMENTS, RESULT = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
OUTPUT = "gen_ai.output.messages"
SEARCH = {"type": "contains_tool_call", "tool_name": "search_web", "tool_args": {"limit": 5}}
ASSERTIONS: list[Object] = [
    {"type": "contains_tool_call", "tool_name": "search_web", "tool_args": {"limit": 3}},
    SEARCH,
    {"type": "tool_call_count", "min_calls": 1, "max_calls": 2},
    {"type": "tool_sequence", "tools": ["search_web", "read_page"]},
    {"type": "no_tool_call", "tool_name": "read_page"},
    {"type": "handoff", "to_agent": "writer"},
    {"type": "no_tool_error"},
    {"type": "no_loop"},
    {"type": "output_contains", "text": "Braintrust"},
    {"type": "response_format", "schema": {"required": ["answer"]}},
    {"type": "latency", "max_ms": 15000},
    {"type": "context_efficiency", "max_tokens": 100},
    {"type": "max_cost_usd", "max_usd": 1},
    {"type": "status"},
    {"type": "output_property", "property": "is polite"},
]


def spans_of(run: Object) -> list[SpanRecord]:
    """Return the spans of a run, through the real SDK and a real recording."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    replay(run, provider)
    return records(exporter.get_finished_spans())


def rebuilt(spans: Sequence[SpanRecord]) -> Rebuilt:
    (result,) = rebuild(spans)
    return result


def verdicts(source: ReasoningTrace | Rebuilt) -> Any:
    (result,) = evaluate(ASSERTIONS, [source])
    return result.passed, result.composite_score, said(result.assertion_results)


def masked(run: Object, attribute: str, placeholder: str) -> Rebuilt:
    """Return a run as a Collector passes it on that masks an attribute's value."""
    spans = spans_of(run)
    for span in spans:
        if attribute in span.attributes:
            span.attributes[attribute] = placeholder
            span.attributes["redaction.masked.keys"] = attribute
    return rebuilt(spans)


SPANS = spans_of(RUN)
EXPECTED = verdicts(ReasoningTrace.from_dict(RUN))


def test_a_replayed_trace_has_the_verdicts_of_its_document() -> None:
    assert verdicts(rebuilt(SPANS)) == EXPECTED


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 3))
def test_shuffled_and_doubled_spans_have_the_same_verdicts(chance: random.Random, n: int) -> None:
    spans = SPANS * n
    chance.shuffle(spans)
    assert verdicts(rebuilt(spans)) == EXPECTED


STEPS = st.sampled_from(
    [
        {"type": "reasoning", "content": "I might call search_web"},
        {"type": "memory_read", "query": "limit", "results": [5]},
        {"type": "memory_write", "key": "k", "content": "v"},
        {"type": "of_somebody_else"},
    ]
)


@given(STEPS, st.integers(0, len(RUN["steps"])))
def test_an_unrelated_step_changes_no_verdict(step: Object, at: int) -> None:
    steps = [*RUN["steps"][:at], {**step, "step_id": "more"}, *RUN["steps"][at:]]
    assert verdicts(ReasoningTrace.from_dict(changed(steps=steps))) == EXPECTED


def test_arguments_masked_by_a_collector_do_not_fail_a_check() -> None:
    result = verdict(SEARCH, masked(RUN, ARGUMENTS, "****"))
    assert result.passed is None
    assert "masked by a Collector" in result.reason
    assert result.step_ids == ("step_001",)


def test_an_output_masked_by_a_collector_does_not_fail_a_check() -> None:
    result = verdict({"type": "output_contains", "text": "x"}, masked(RUN, OUTPUT, "****"))
    assert result.passed is None
    assert "redacted" in result.reason


def test_a_masked_output_does_not_hide_arguments() -> None:
    assert verdict(SEARCH, masked(RUN, OUTPUT, "****")).passed is False


@pytest.mark.parametrize("attribute", [ARGUMENTS, OUTPUT])
def test_uncaptured_content_does_not_fail_a_check(attribute: str) -> None:
    spans = spans_of(RUN)
    for span in spans:
        for name in [key for key in span.attributes if key == attribute]:
            del span.attributes[name]
    assertion: Object = {"type": "output_contains", "text": "x"}
    result = verdict(SEARCH if attribute == ARGUMENTS else assertion, rebuilt(spans))
    assert result.passed is None, result
    assert "captured" in result.reason


def test_an_incomplete_run_is_not_known_to_lack_a_call() -> None:
    without_root = [span for span in spans_of(RUN) if span.parent_id is not None]
    results: list[Verdict] = [
        verdict({"type": "no_tool_call", "tool_name": "rm"}, item) for item in rebuild(without_root)
    ]
    assert [item.passed for item in results] == [None] * len(results) != []


def test_one_evaluated_assertion_of_ten_makes_no_pass() -> None:
    spans = spans_of(RUN)
    for span in spans:
        span.attributes.update(dict.fromkeys((ARGUMENTS, RESULT, OUTPUT), "****"))
        span.attributes["redaction.masked.keys"] = ",".join((ARGUMENTS, RESULT, OUTPUT))
    hidden = [{"type": "output_contains", "text": str(n)} for n in range(9)]
    (result,) = evaluate([*hidden, {"type": "status"}], [rebuilt(spans)])
    assert result.passed is None
    assert result.composite_score == 1.0
    assert (result.extra["evaluated"], result.extra["total"]) == (1, 10)
    (enough,) = evaluate([*hidden, {"type": "status"}], [rebuilt(spans)], min_evaluated=0.1)
    assert enough.passed is True
