"""Rig: cases that our recording lacks."""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects import classify
from agentool_otel.model.operations import ToolExecution
from tests.dialects.spelled import span


def ended(outcome: str, **text: Any) -> Any:
    named = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
    result = classify(span({**named, "gen_ai.tool.call.outcome": outcome, **text}))[1]
    assert isinstance(result, ToolExecution)
    return result.error_type, result.tool_error


def test_a_failed_tool_has_its_error_kind_and_the_text_for_the_model() -> None:
    attributes = {
        "gen_ai.tool.error.type": "timeout",
        "gen_ai.tool.call.result": "it took too long",
    }
    assert ended("error", **attributes) == ("timeout", "it took too long")


def test_a_tool_without_content_failed_all_the_same() -> None:
    assert ended("error", **{"gen_ai.tool.error.type": "other"}) == ("other", "error")


def test_a_denied_call_is_an_error_and_a_skipped_one_is_not() -> None:
    assert ended("denied") == ("permission_denied", "denied")
    assert ended("skipped", **{"gen_ai.tool.call.result": "not now"}) == (None, None)
