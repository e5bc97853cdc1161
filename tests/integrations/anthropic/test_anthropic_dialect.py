"""Anthropic's SDK, which writes spans by itself: a recording, and spans written from its source."""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects import classify
from tests.dialects.spelled import coverage, span, spelled, text
from tests.dialects.traces import recorded

SCOPE = "com.anthropic.sdk.python"
RECORDED = recorded("anthropic-2.12.0.anthropic.jsonl")


def test_the_error_of_a_failed_tool_is_the_text_sent_to_the_model() -> None:
    assert spelled(*(item for item in RECORDED if "custom_tool_use" in item.name)) == text("""
        anthropic: tool get_weather call=toolu_0000010 session=conversation-1
            arguments={"city":"Paris"} result={"city":"Paris","degrees":18}
        anthropic: tool get_weather call=toolu_0000011 session=conversation-1 error=tool_error
            tool_error=no station in Rome arguments={"city":"Rome"} result="no station in
            Rome"
    """)
    assert coverage(RECORDED) == 0.66


def test_api_requests_without_a_model_are_not_model_calls() -> None:
    counted = span({"gen_ai.request.model": "claude-sonnet-5"}, scope=SCOPE)
    created = span({"gen_ai.agent.name": "a", "gen_ai.request.model": "b"}, scope=SCOPE)
    assert spelled(counted, created) == "anthropic: unclassified\nanthropic: unclassified"


def test_the_stop_reason_of_a_message_is_read() -> None:
    attributes = {"gen_ai.operation.name": "chat", "anthropic.message.stop_reason": "refusal"}
    operation: Any = classify(span(attributes, scope=SCOPE))[1]
    assert operation.finish_reasons == ["content_filter"]


def test_the_thread_of_a_session_is_the_conversation() -> None:
    attributes = {"anthropic.session.thread.id": "t", "anthropic.session.id": "s"}
    ran = span({"gen_ai.operation.name": "execute_tool", **attributes}, scope=SCOPE, name="f")
    assert spelled(ran) == "anthropic: tool f session=t"
