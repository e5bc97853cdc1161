"""Results that look like errors are listed in the metadata of a trace."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.model.error_results import LOOKS_LIKE_ERRORS
from agentool_otel.model.operations import AgentInvocation, ToolExecution
from tests.records import Collected


def listed(output: Any, **fields: Any) -> Any:
    spans = Collected()
    agent = spans.add(AgentInvocation(agent_name="bot"))
    spans.add(ToolExecution(name="refund", result=output, **fields), parent=agent)
    (trace,) = spans.rebuilt()
    return trace.get("metadata", {}).get(LOOKS_LIKE_ERRORS)


@pytest.mark.parametrize(
    ("output", "rule"),
    [
        ({"error": "no such booking"}, "has error as its first member"),
        ('{"error": "no such booking"}', "has error as its first member"),
        ("TimeoutError: no answer", "begins with an error"),
        ({"status": "error", "text": "?"}, "has the status error"),
        ([{"type": "text", "text": "Error: no such booking"}], "begins with an error"),
        ({"statusCode": 503, "body": "try later"}, "has the statusCode 503"),
    ],
)
def test_a_result_that_looks_like_an_error_is_listed_with_its_rule(output: Any, rule: str) -> None:
    assert listed(output) == [{"step_id": "step_002", "rule": rule}]


@pytest.mark.parametrize(
    "output",
    [
        {"error": None, "hits": []},
        {"hits": [{"title": "TimeoutError explained"}]},
        "A page about errors.\nError: is a word in it.",
        [],
        [{"type": "text", "text": "The error rate fell to 2 percent."}],
        {"status": "ok", "code": "AB-404"},
        '[{"type": "text", "text": "Error: x", "n": 1e999}]',
        '[{"type": "text", "text": "Error',
        "[" * 3000 + '"text": "Error"',
    ],
)
def test_harmless_results_are_not_listed(output: Any) -> None:
    assert listed(output) is None


def test_a_result_with_a_number_that_fits_no_float_costs_nothing() -> None:
    spans = Collected()
    agent = spans.add(AgentInvocation(agent_name="bot"))
    tool = spans.add(ToolExecution(name="refund", result=[]), parent=agent)
    tool.attributes["gen_ai.tool.call.result"] = '[{"text": "Error: x", "n": 1e999}]'
    (trace,) = spans.rebuilt()
    assert len(trace["steps"]) == 2


def test_a_recorded_error_is_not_listed_again() -> None:
    assert listed({"error": "no answer"}, error_type="TimeoutError") is None
