"""Eino with the callbacks of APMPlus: cases that our recording lacks."""

from __future__ import annotations

from typing import Any

from agentool_otel.model.spans import SpanRecord
from tests.dialects.spelled import span, spelled, text


def component(kind: str, name: str, **output: Any) -> SpanRecord:
    prefixed = {f"gen_ai.{key.replace('_', '.')}": value for key, value in output.items()}
    return span(
        {"gen_ai.system": "eino", "runinfo.component": kind, "runinfo.name": name, **prefixed}
    )


def test_messages_are_ordered_by_number_and_zero_settings_are_unset() -> None:
    texts: dict[str, Any] = {f"prompt_{n}_role": "user" for n in range(11)}
    texts |= {
        f"prompt_{n}_content": f"word {n}" for n in range(11) if n != 3
    }  # that had only calls
    del texts["prompt_3_role"]
    call = component("ChatModel", "model", **texts, request_temperature=0.0, request_model="gpt-5")
    words = [line.strip() for line in spelled(call).splitlines() if ">" in line]
    assert words == [f"> user: word {n}" for n in range(11) if n != 3]
    assert "temperature" not in spelled(call)


def test_actions_of_another_agent_are_not_the_question() -> None:
    message = "For context: [helper] called tool: `transfer_to_agent` with arguments: {}."
    call = component(
        "ChatModel",
        "model",
        prompt_0_role="user",
        prompt_0_content="I want a refund",
        prompt_1_role="user",
        prompt_1_content=message,
    )
    assert "> user: I want a refund\n" in spelled(call)
    assert "> assistant" in spelled(call)


def test_what_a_tool_streamed_is_a_list_of_one() -> None:
    tool = component(
        "Tool",
        "look",
        prompt_0_role="user",
        prompt_0_content='"{\\"at\\": 1}"',
        completion_0_content='["found"]',
    )
    assert spelled(tool) == text("""
        eino: tool look arguments={"at":1} result="found"
    """)


def test_a_graph_is_a_workflow_only_at_the_root() -> None:
    root = component("Graph", "asking", prompt_0_role="user", prompt_0_content='"Hello?"')
    lambda_ = component("Lambda", "", prompt_0_content="x")
    lambda_.parent_id = "00f067aa0ba902b7"
    assert spelled(root, lambda_).splitlines()[0] == "eino: workflow asking"
    assert spelled(lambda_).splitlines()[0] == "eino: unclassified"
