"""How the last answer of a run ended decides the status of the run, where nothing else does."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import AgentInvocation, Inference, ToolExecution
from agentool_otel.model.statuses import INCOMPLETE_STREAM
from agentool_otel.semconv import agentool
from tests.records import Collected

ASKED = [message("user", [text("What is it?")])]


def answer(words: str, **fields: Any) -> Inference:
    return Inference(input=ASKED, output=[message("assistant", [text(words)])], **fields)


@pytest.mark.parametrize(
    "operation",
    [answer("Half an ans"), Inference(input=ASKED), ToolExecution(name="search")],
)
def test_a_call_that_the_program_died_in_has_not_ended(operation: Any) -> None:
    spans = Collected()
    spans.add(operation).attributes[agentool.INCOMPLETE] = True
    (trace,) = spans.rebuilt()
    assert (trace["status"], trace["metadata"]["incomplete"]) == ("in_progress", True)


@pytest.mark.parametrize(
    ("output", "status", "ends"),
    [
        ("Half an ans", "error", [True]),
        (None, "success", [False]),
        ("The whole answer.", "success", [False]),
    ],
)
def test_an_agent_fails_by_a_broken_answer_only_if_that_is_its_output(
    output: str | None, status: str, ends: list[bool]
) -> None:
    spans = Collected()
    given = [message("assistant", [text(output)])] if output is not None else None
    agent = spans.add(AgentInvocation(agent_name="bot", input=ASKED, output=given), seconds=9)
    agent.attributes[agentool.STATUS] = "success"
    spans.add(answer("The whole answer.", finish_reasons=["stop"]), parent=agent)
    spans.add(answer("Half an ans", error_type=INCOMPLETE_STREAM), parent=agent)
    (trace,) = spans.rebuilt()
    unfinished = trace["metadata"]["unfinished"]
    assert (trace["status"], [item.get("is_output", False) for item in unfinished]) == (
        status,
        ends,
    )


def test_an_agent_fails_by_a_broken_answer_where_no_content_was_captured() -> None:
    spans = Collected()
    agent = spans.add(AgentInvocation(agent_name="bot"), seconds=9)
    agent.attributes[agentool.STATUS] = "success"
    spans.add(Inference(error_type=INCOMPLETE_STREAM), parent=agent)
    (trace,) = spans.rebuilt()
    assert trace["status"] == "error"


def test_an_answer_that_ended_before_an_error_is_whole() -> None:
    spans = Collected()
    spans.add(answer("Whole.", finish_reasons=["stop"], error_type="ReadError"))
    (trace,) = spans.rebuilt()
    assert trace["status"] == "error"
    assert "unfinished" not in trace.get("metadata", {})


@pytest.mark.parametrize(("left", "status"), [(True, "in_progress"), (False, "success")])
def test_a_choice_that_never_ended_beside_one_that_did(left: bool, status: str) -> None:
    spans = Collected()
    span = spans.add(answer("one", finish_reasons=["stop", "error"]))
    if left:
        span.attributes[agentool.INTERRUPTED] = "closed"
    (trace,) = spans.rebuilt()
    assert trace["status"] == status
    assert trace["metadata"]["unfinished"][0]["end"] == ("left" if left else "broken_off")
