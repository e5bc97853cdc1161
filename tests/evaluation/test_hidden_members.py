"""Data that is hidden inside an object, or on one side of a call, hides nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agentool_otel.loading import rebuild
from agentool_otel.semconv import agentool
from tests.evaluation.judges import RUBRIC, asked
from tests.evaluation.runs import RUN, Object, changed, verdict
from tests.evaluation.test_spans import spans_of
from tests.laws import many

_ENDS = ("… [truncated: 99 characters]", "... (truncated)", "\ufffd")
_PATTERNS = (
    "a",
    "a$",
    "^.",
    "(?!b)",
    r"\bb",
    "truncated",
    "…",
    r"\[",
    "[^a]",
    "(a)b?",
    r"\w\W",
    "c*",
)
_outputs = (
    lambda text: {"x": text, "y": 1},
    lambda text: ["a", text],
    lambda text: {"x": [{"y": text}]},
)


@settings(max_examples=many(1000))
@given(
    st.text("abc \n", max_size=9),
    st.integers(0, 9),
    st.sampled_from(_ENDS),
    st.sampled_from(_PATTERNS),
    st.sampled_from(_outputs),
)
def test_a_cut_text_in_an_object_is_a_gap(
    text: str, kept: int, end: str, pattern: str, output: Any
) -> None:
    for assertion in (
        {"type": "output_matches", "pattern": pattern},
        {"type": "output_contains", "text": re.sub(r"\W", "", pattern) or "b"},
    ):
        before = verdict(assertion, changed(output=output(text))).passed
        after = verdict(assertion, changed(output=output(text[:kept] + end))).passed
        assert after in (None, before), assertion


@pytest.mark.parametrize(
    "assertion",
    [
        {"type": "tool_call_count", "max_calls": 2},
        {"type": "no_tool_error"},
        {"type": "no_tool_call", "tool_name": "delete"},
        {"type": "handoff", "to_agent": "nobody"},
        {"type": "tool_sequence", "tools": ["search_web", "read_page"], "mode": "exact"},
    ],
)
def test_a_cut_output_object_hides_no_calls(assertion: Object) -> None:
    spans = spans_of(changed(output={"answer": "LangSmith and Braintrust", "sources": 2}))
    cut = [
        replace(span, attributes={**span.attributes, agentool.OUTPUT: '{"answer": "L'})
        if agentool.OUTPUT in span.attributes
        else span
        for span in spans
    ]
    assert cut != spans
    (before,), (after,) = rebuild(spans), rebuild(cut)
    assert verdict(assertion, after).passed is verdict(assertion, before).passed is not None


def test_a_judge_of_a_rubric_sees_that_a_result_is_missing() -> None:
    steps = [step for step in RUN["steps"] if step["step_id"] != "step_004"]
    hidden = asked(RUBRIC, steps=steps).hidden
    assert hidden == "no result of the calls at step_003 was recorded"


def test_a_failed_call_without_a_result_hides_nothing() -> None:
    failed = {"call_id": "c2", "error": "no such page"}
    steps = [
        {**step, "tool_result": failed} if step["step_id"] == "step_004" else step
        for step in RUN["steps"]
    ]
    assert asked(RUBRIC, steps=steps).hidden is None


@pytest.mark.parametrize(
    ("pattern", "last", "expected"),
    [
        ("zebra", "zebra", True),
        ("zebra", "horse", False),
        ("characters", "horse", False),  # a long value is not shortened before the search
        ("zebra", "zeb… [truncated: 5 characters]", None),
        ("characters", "zeb… [truncated: 5 characters]", None),
    ],
)
def test_a_pattern_searches_the_whole_of_an_object(
    pattern: str, last: str, expected: bool | None
) -> None:
    steps = [
        {**step, "tool_call": {**step["tool_call"], "arguments": {"query": ["x" * 90, last]}}}
        if step["step_id"] == "step_001"
        else step
        for step in RUN["steps"]
    ]
    assertion = {
        "type": "args_match",
        "tool_name": "search_web",
        "arg_patterns": {"query": pattern},
    }
    assert verdict(assertion, changed(steps=steps)).passed is expected
