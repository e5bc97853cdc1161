"""The message of a handoff is written as arguments of its transfer tool, and read back."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.dialects import classify
from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.ground.json_codec import loads
from agentool_otel.loading import rebuild
from agentool_otel.model.operations import UNSET, ToolExecution
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.semconv.table import GENERATIONS
from agentool_otel.testing.conformance import check_all
from agentool_otel.tracing.capture import agent, run, step
from tests.records import records

ARGUMENTS, RESULT = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"


def read(attributes: Attributes) -> ToolExecution:
    name = "execute_tool transfer_to_writer"
    span = SpanRecord("1" * 32, "2" * 16, name=name, attributes=attributes, scope="agentool_otel")
    _, result = classify(span)
    assert isinstance(result, ToolExecution)
    return result


def steps(spans: Any) -> list[dict[str, Any]]:
    [result] = rebuild(records(spans.finished()))
    return result.trace.to_dict()["steps"]  # type: ignore[no-any-return]


def test_the_message_of_a_reported_handoff_is_in_the_tools_arguments(spans: Any) -> None:
    with run("planner") as result:
        result.handoff("writer", "write it")
    handoff, _ = spans.finished()
    assert loads(handoff.attributes[ARGUMENTS]) == {"message": "write it"}
    assert "agentool.transfer.message" not in handoff.attributes
    assert RESULT not in handoff.attributes  # nobody says what came of it
    assert check_all(spans.finished()) == []
    (message,) = steps(spans)
    assert (message["type"], message["to_agent"], message["message"]) == (
        "handoff",
        "writer",
        "write it",
    )
    assert "write it" not in str({**message, "message": ""})


def test_a_decorated_handoff_has_its_result_too(spans: Any) -> None:
    @step("handoff")
    def hand_over(to_agent: str, message: str) -> str:
        return "written"

    @agent
    def planner() -> None:
        hand_over("writer", "write it")

    planner()
    handoff, _ = spans.finished()
    assert loads(handoff.attributes[ARGUMENTS]) == {"message": "write it"}
    assert loads(handoff.attributes[RESULT]) == {"result": "written"}
    assert [(item["type"], item["message"]) for item in steps(spans)] == [("handoff", "write it")]


def test_without_content_a_handoff_still_names_its_target(spans: Any) -> None:
    spans.without_content()
    with run("planner") as result:
        result.handoff("writer", "write it")
    handoff, _ = spans.finished()
    assert "write it" not in str(handoff.attributes)
    assert "agentool.tool.wrapped" not in handoff.attributes
    assert handoff.attributes["agentool.transfer.target"] == "writer"


@pytest.mark.parametrize("generation", GENERATIONS)
def test_recordings_with_the_earlier_name_are_read(generation: str) -> None:
    earlier = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "transfer_to_writer",
        "agentool.transfer.target": "writer",
        "agentool.transfer.message": "write it",
    }
    operation = read(earlier)
    assert (operation.transfer_message, operation.arguments) == ("write it", UNSET)
    assert read(GenAI(generation).write(operation).attributes) == operation


def test_arguments_of_a_transfer_tool_stay_unchanged() -> None:
    tool_execution = ToolExecution(
        name="transfer_to_writer",
        transfer_target="writer",
        transfer_message="write it",
        arguments={"message": "another"},
    )
    attributes = GenAI().write(tool_execution).attributes
    assert loads(attributes[ARGUMENTS]) == {"message": "another"}
    assert attributes["agentool.transfer.message"] == "write it"
    assert read(attributes).transfer_message == "write it"


def test_text_that_replaces_handoff_arguments_is_the_message() -> None:
    attributes: Attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "transfer_to_writer",
        "agentool.transfer.target": "writer",
        ARGUMENTS: "[removed]",
        "agentool.tool.wrapped": ["message"],
    }
    assert read(attributes).transfer_message == "[removed]"
