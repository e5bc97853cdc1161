"""Matching a trace with a case if it names none and has the input of none."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel import evaluate
from agentool_otel.errors import EvaluationError
from agentool_otel.evaluation.cases.matching import MatchRule
from tests.evaluation.runs import Object
from tests.evaluation.test_evaluate import case, trace

CASES = [
    case("new", input="is new", context={"ticket": 7}),
    case("old", input="is old", context={"ticket": 8}),
    case("none"),
]


def tried(match: MatchRule | None, **members: Any) -> list[str]:
    """The cases that a trace is a try of."""
    results = evaluate(CASES, [trace(**members)], match=match, unmatched=lambda *_: None)
    return [result.case_id for result in results if result.to_dict().get("trace_id")]


@pytest.mark.parametrize(
    ("match", "members", "found"),
    [
        (None, {}, []),
        ("contains", {}, ["new"]),
        ("contains", {"input": "What is it?"}, []),
        ("contains", {"input": "You are kind. Say what is new."}, ["new"]),
        ("contains", {"input": ["is new"]}, []),
        ("session_id", {"session_id": "old"}, ["old"]),
        ("session_id", {}, []),
        ("metadata.case", {"metadata": {"case": "none"}}, ["none"]),
        ("metadata.ticket=context.ticket", {"metadata": {"ticket": 8}}, ["old"]),
        ("metadata.ticket=context.ticket", {"metadata": {"ticket": True}}, []),
        ("metadata.ticket.id=context.ticket", {"metadata": {"ticket": 7}}, []),
        ("origin", {"origin": "new"}, ["new"]),
        (lambda trace, case: case.case_id != "none", {}, ["new", "old"]),
    ],
)
def test_a_rule_selects_cases(match: MatchRule | None, members: Object, found: list[str]) -> None:
    assert tried(match, **members) == found


def test_the_named_case_and_the_input_take_precedence_over_the_rule() -> None:
    assert tried("session_id", session_id="old", input="is new") == ["new"]
    assert tried("session_id", session_id="old", metadata={"case_id": "none"}) == ["none"]
    assert tried("session_id", session_id="old", metadata={"case_id": "gone"}) == []


@pytest.mark.parametrize("rule", ["", "=case_id", "metadata.x="])
def test_invalid_rule_is_rejected_immediately(rule: str) -> None:
    with pytest.raises(EvaluationError, match="match is `contains`, a member of the trace"):
        evaluate(CASES, [], match=rule)
