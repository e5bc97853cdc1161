"""Recognising documents, and naming their problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.model import documents as d
from agentool_otel.model.spec_documents import document_class
from agentool_otel.model.validation import Finding, findings, identify, intended_kind, problems

SPEC = Path(__file__).parents[1] / "fixtures" / "spec"


def example(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((SPEC / f"{name}.json").read_text("utf-8"))
    return value


def trace_with(**members: Any) -> dict[str, Any]:
    return {**example("reasoning-trace"), **members}


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("tool-spec", d.ToolSpec),
        ("tool-exchange", d.ToolExchange),
        ("reasoning-trace", d.ReasoningTrace),
        ("eval-case", d.EvalCase),
        ("eval-result", d.EvalResult),
        ("tool-registry", d.ToolRegistry),
    ],
)
def test_an_example_of_the_spec_is_recognised_and_has_no_problems(
    name: str, cls: type[d.Document]
) -> None:
    assert identify(example(name)) is cls
    assert problems(example(name)) == []


@pytest.mark.parametrize(
    ("data", "cls"),
    [
        (example("tool-exchange")["tool_call"], d.ToolCall),
        (example("tool-exchange")["tool_result"], d.ToolResult),
        *((step, d.Step) for step in example("reasoning-trace")["steps"]),
        (example("reasoning-trace")["metrics"], d.TraceMetrics),
        *((assertion, d.Assertion) for assertion in example("eval-case")["assertions"]),
        (example("eval-result")["assertion_results"][0], d.AssertionResult),
        (example("tool-registry")["tools"][0], d.RegisteredTool),
        ({"type": "handoff"}, d.Step),
        ({"type": "reasoning", "name": "n", "arguments": {}}, d.Step),
        ({"type": "memory_read", "call_id": "c", "output": "x"}, d.Step),
        ({"type": "tool_call", "id": "c", "name": "n", "arguments": {}}, d.ToolCall),
    ],
)
def test_a_part_of_a_document_is_recognised(data: dict[str, Any], cls: type[d.Document]) -> None:
    assert identify(data) is cls


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"name": "x"}',
        '{"type": "object"}',
        '{"type": ["reasoning"]}',
        '{"resourceSpans": []}',
        '{"trace_id": "1", "span_id": "2", "name": "chat"}',
    ],
)
def test_other_json_is_not_a_document(text: str) -> None:
    assert identify(json.loads(text)) is None


def test_a_trace_without_its_id_still_gets_the_missing_member_named() -> None:
    assert findings({"agent_id": "a", "steps": []}) == [
        Finding("error", "$", "expected an object with member 'trace_id', got one without it")
    ]


@pytest.mark.parametrize("data", [{}, 3, "[]", "{", None])
def test_a_value_that_is_no_document_is_an_error(data: object) -> None:
    assert [finding.level for finding in findings(data)] == ["error"]


def test_a_problem_reads_as_a_sentence() -> None:
    assert problems(trace_with(steps=3)) == [
        "error: expected array of objects, got int 3 - at $.steps"
    ]


def test_a_document_may_be_required_to_be_of_a_type() -> None:
    assert findings(example("tool-spec"), d.ToolSpec) == []
    assert findings(example("tool-spec"), d.EvalCase)[0].level == "error"


def test_a_document_object_is_checked_like_its_json() -> None:
    trace = d.ReasoningTrace.from_dict(trace_with(finished_at="2026-03-01T09:00:00Z"))
    assert findings(trace) == findings(trace.to_dict())


# --- warnings -----------------------------------------------------------------------------------


def paths(data: dict[str, Any]) -> list[str]:
    result = findings(data)
    assert {finding.level for finding in result} == {"warning"}
    return [finding.path for finding in result]


def test_a_repeated_step_id_is_a_warning() -> None:
    steps = [{"type": "x", "step_id": "s"}, {"type": "x", "step_id": "s"}, {"type": "x"}]
    assert paths({"trace_id": "t", "steps": steps}) == ["$.steps[1].step_id"]


def test_a_result_without_its_call_is_a_warning() -> None:
    steps = [{"type": "tool_result", "tool_result": {"call_id": "nobody", "output": 1}}]
    assert paths({"trace_id": "t", "steps": steps}) == ["$.steps[0].tool_result.call_id"]


def test_a_result_may_stand_before_its_call() -> None:
    call, result = {"id": "a", "name": "t"}, {"call_id": "a"}
    steps = [{"type": "r", "tool_result": result}, {"type": "c", "tool_call": call}]
    assert problems({"trace_id": "t", "steps": steps}) == []


def test_a_run_that_finished_before_it_started_is_a_warning() -> None:
    assert paths(trace_with(finished_at="2026-03-01T09:59:59.9Z")) == ["$.finished_at"]


def test_times_are_compared_as_moments() -> None:
    assert problems(trace_with(finished_at="2026-03-01T09:00:00-02:00")) == []


def test_text_that_is_no_time_is_a_warning() -> None:
    assert paths(trace_with(started_at="this morning")) == ["$.started_at"]


def test_a_count_that_disagrees_with_the_steps_is_a_warning() -> None:
    assert paths(trace_with(metrics={"step_count": 5, "tool_call_count": 0})) == [
        "$.metrics.step_count",
        "$.metrics.tool_call_count",
    ]


def test_an_exchange_of_two_different_calls_is_a_warning() -> None:
    data = {"tool_call": {"id": "a", "name": "t"}, "tool_result": {"call_id": "b"}}
    assert paths(data) == ["$.tool_result.call_id"]


@pytest.mark.parametrize(
    ("data", "cls"),
    [
        ({"case_id": "a"}, d.EvalCase),
        ({"case_id": "a", "tags": [], "$schema": "x"}, d.EvalCase),
        ({"case_id": "a", "trace_id": "t"}, d.EvalResult),
        ({"trace_id": "t"}, d.ReasoningTrace),
        ({"tools": []}, d.ToolRegistry),
        ({"parameters": {}}, d.ToolSpec),
        ({"type": "handoff"}, d.Step),
        ({"name": "x"}, None),
        ({"output": "x"}, None),
        ({"case_id": "a", "colour": "red"}, None),
        ({"trace_id": "1", "span_id": "2"}, None),
        ({}, None),
    ],
)
def test_an_incomplete_document_has_the_one_kind_it_fits(
    data: dict[str, Any], cls: type[d.Document] | None
) -> None:
    assert intended_kind(data) is cls


def test_all_missing_members_are_named() -> None:
    assert problems('{"assertion_results": [{}]}') == [
        "error: expected an object with members 'assertion_type' and 'passed', got one without "
        "them - at $.assertion_results[0]"
    ]


CALL = {"id": "c", "name": "n", "arguments": {}}


@pytest.mark.parametrize(
    ("data", "cls"),
    [
        (CALL, d.ToolCall),
        ({"type": "tool_call", **CALL}, d.ToolCall),
        ({"type": "tool_call", "step_id": "s", **CALL}, None),
        ({"type": "reasoning", "content": "x", **CALL}, None),
        ({"type": "tool_call", "tool_call": CALL, "tool_result": {}}, None),
    ],
)
def test_a_step_is_no_document_of_its_own(data: dict[str, Any], cls: type[d.Document]) -> None:
    assert document_class(data) is cls
