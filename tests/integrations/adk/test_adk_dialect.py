"""Google ADK: a public trace of schema 1, and spans of both schemas built here."""

from __future__ import annotations

import json
from typing import Any

from agentool_otel.dialects import classify
from agentool_otel.model.messages import message
from agentool_otel.model.messages import text as words
from agentool_otel.model.operations import UNSET
from agentool_otel.model.spans import SpanRecord
from tests.dialects.spelled import coverage, span, spelled, text
from tests.dialects.traces import load

SCHEMA_1 = load("strands_evals_dicts/adk_live_spans.json")
SCOPE = "gcp.vertex.agent"


def tool(arguments: str, response: str, **attributes: Any) -> SpanRecord:
    return span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search",
            "gcp.vertex.agent.llm_request": "{}",
            "gcp.vertex.agent.tool_call_args": arguments,
            "gcp.vertex.agent.tool_response": response,
            **attributes,
        },
        name="execute_tool search",
        scope=SCOPE,
    )


def test_a_public_trace_is_read() -> None:
    assert spelled(*SCHEMA_1) == text("""
        adk: tool calculator call=uwpsprd2 arguments={"expression":"15 * 37"} result="555"
        adk: generate_content provider=gcp.gemini model=gemini-3.5-flash finish=stop
            session=b4866a2a-a3d4-4d2f-8f40-6bb0d03d135c in=157 out=51 reasoning=32
        adk: chat model=gemini-3.5-flash answered_by=gemini-3.5-flash finish=stop
            session=b4866a2a-a3d4-4d2f-8f40-6bb0d03d135c in=157 out=51 reasoning=32
            tools=calculator
            system: You are a math assistant. Use the calculat…math assistant".
          > user: What is 15 multiplied by 37?
          < assistant: [call uwpsprd2] calculator {"expression":"15 * 37"} (stop)
        adk: generate_content provider=gcp.gemini model=gemini-3.5-flash finish=stop
            session=b4866a2a-a3d4-4d2f-8f40-6bb0d03d135c in=222 out=33 reasoning=20
        adk: chat model=gemini-3.5-flash answered_by=gemini-3.5-flash finish=stop
            session=b4866a2a-a3d4-4d2f-8f40-6bb0d03d135c in=222 out=33 reasoning=20
            tools=calculator
            system: You are a math assistant. Use the calculat…math assistant".
          > user: What is 15 multiplied by 37?
          > assistant: [call uwpsprd2] calculator {"expression":"15 * 37"}
          > user: [result uwpsprd2] {"result":"555"}
          < assistant: 15 multiplied by 37 is 555. (stop)
        adk: agent agent=math_agent session=b4866a2a-a3d4-4d2f-8f40-6bb0d03d135c
        adk: unclassified
    """)
    assert coverage(SCHEMA_1) == 0.81


def test_a_call_without_arguments_has_none() -> None:
    assert classify(tool("{}", '{"n": 1}'))[1].arguments == {}  # type: ignore[union-attr]


def test_empty_arguments_with_an_empty_response_were_not_captured() -> None:
    operation: Any = classify(tool("{}", "{}", **{"gen_ai.tool.call.id": "<not specified>"}))[1]
    assert (operation.arguments, operation.result, operation.call_id) == (UNSET, UNSET, None)


def test_a_placeholder_for_unserialisable_values_is_not_a_value() -> None:
    operation: Any = classify(tool("<not serializable>", "<not serializable>"))[1]
    assert (operation.arguments, operation.result) == (UNSET, UNSET)


def test_a_transfer_is_a_handoff() -> None:
    operation: Any = classify(
        tool('{"agent_name": "biller"}', "{}", **{"gen_ai.tool.name": "transfer_to_agent"})
    )[1]
    assert operation.transfer_target == "biller"


def test_the_error_of_an_mcp_tool_is_its_text() -> None:
    response = {"isError": True, "content": [{"type": "text", "text": "no such table"}]}
    failed = tool('{"q": 1}', json.dumps(response), **{"error.type": "MCP_TOOL_ERROR"})
    operation: Any = classify(failed)[1]
    assert (operation.error_type, operation.tool_error) == ("MCP_TOOL_ERROR", "no such table")


def test_internal_spans_are_not_operations() -> None:
    for name in ("invocation", "execute_tool (merged)", "send_data", "invoke_node n"):
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.conversation.id": "s"}
        machinery = span(attributes, name=name, scope=SCOPE)
        assert classify(machinery)[1].kind == "unclassified"


def test_schema_2_is_read_as_the_conventions() -> None:
    texts = [
        span(
            {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "trip"},
            scope=SCOPE,
        ),
        span(
            {
                "gen_ai.operation.name": "generate_content",
                "gen_ai.provider.name": "gcp.gemini",
                "gen_ai.request.model": "gemini-3",
                "gen_ai.input.messages": json.dumps([message("user", [words("hi")])]),
                "gen_ai.usage.input_tokens": 9,
                "gen_ai.usage.cache_read.input_tokens": 4,
                "gen_ai.usage.cache_creation.input_tokens": 2,
            },
            scope=SCOPE,
        ),
    ]
    assert spelled(*texts) == text("""
        adk: workflow trip
        adk: generate_content provider=gcp.gemini model=gemini-3 in=9 cached=4 cache_written=2
          > user: hi
    """)
    assert coverage(texts) == 1.0


def test_before_schemas_runs_and_tools_are_recognised_by_span_name() -> None:
    spans = [
        span({}, name="agent_run [weather]", scope=SCOPE),
        span(
            {"gcp.vertex.agent.tool_call_args": '{"city":"Rome"}', "gen_ai.system": SCOPE},
            name="tool_call [get_weather]",
            scope=SCOPE,
        ),
        span({"gcp.vertex.agent.llm_request": "{}"}, name="tool_response [get_weather]"),
    ]
    assert spelled(*spans) == text("""
        adk: agent agent=weather
        adk: tool get_weather arguments={"city":"Rome"}
        adk: unclassified
    """)


def test_a_result_that_was_not_specified_is_none() -> None:
    _, operation = classify(tool("{}", '{"result":"<not specified>"}'))
    assert getattr(operation, "result", None) is UNSET


def test_the_error_of_a_failed_tool_is_in_its_result() -> None:
    failed: Any = classify(
        span(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "search",
                "gen_ai.tool.call.result": '{"error": "no station"}',
                "error.type": "TOOL_ERROR",
            },
            scope=SCOPE,
        )
    )[1]
    assert failed.tool_error == "no station"


def test_an_agent_of_version_1_10_is_named_by_its_span_only() -> None:
    assert spelled(span({}, name="agent_run [weather]", scope=SCOPE)) == "adk: agent agent=weather"


def test_adk_for_java_writes_members_in_camel_case() -> None:
    """google-adk 1.8.0 for Java."""
    request = {
        "model": "gemini-2.5-flash",
        "contents": [{"role": "user", "parts": [{"text": "Where?"}]}],
        "config": {"systemInstruction": {"parts": [{"text": "Be brief."}]}, "maxOutputTokens": 9},
    }
    response = {
        "content": {"role": "model", "parts": [{"text": "There."}]},
        "finishReason": "STOP",
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
        "modelVersion": "gemini-2.5-flash-001",
    }
    spans = [
        span(
            {
                "gen_ai.operation.name": "call_llm",
                "gcp.vertex.agent.llm_request": json.dumps(request),
                "gcp.vertex.agent.llm_response": json.dumps(response),
            },
            name="call_llm",
            scope=SCOPE,
        ),
        tool('{"at":1}', '{"found":true}', **{"gen_ai.tool_call.id": "adk-1"}),
    ]
    assert spelled(*spans) == text("""
        adk: chat model=gemini-2.5-flash answered_by=gemini-2.5-flash-001 finish=stop
            max_tokens=9 in=3 out=2
            system: Be brief.
          > user: Where?
          < assistant: There. (stop)
        adk: tool search call=adk-1 arguments={"at":1} result={"found":true}
    """)


def test_spans_of_tool_responses_are_not_calls() -> None:
    """google-adk 0.5.0 for Java, of one tool and of several."""
    attributes = {"gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.tool_response": "{}"}
    spans = [
        span(attributes, name=name, scope=SCOPE)
        for name in ("tool_response [look]", "tool_response")
    ]
    assert spelled(*spans) == "adk: unclassified\nadk: unclassified"


def test_a_message_of_another_agent_is_not_the_users() -> None:
    contents = [
        {"role": "user", "parts": [{"text": "Where?"}]},
        {"role": "user", "parts": [{"text": "For context:"}, {"text": "[desk] said: There."}]},
    ]
    call = span(
        {"gcp.vertex.agent.llm_request": json.dumps({"contents": contents})},
        name="call_llm",
        scope=SCOPE,
    )
    assert spelled(call) == text("""
        adk: chat
          > user: Where?
          > assistant: For context: | [desk] said: There.
    """)


def test_actions_of_another_agent_are_not_the_question() -> None:
    operation: Any = classify(
        span(
            {
                "gen_ai.operation.name": "generate_content",
                "gen_ai.input.messages": json.dumps(
                    [
                        message("user", [words("I want a refund")]),
                        message(
                            "user", [words("For context:"), words("[helper] said: I pass you on")]
                        ),
                    ]
                ),
            },
            scope=SCOPE,
        )
    )[1]
    assert [(item["role"], item.get("name")) for item in operation.input] == [
        ("user", None),
        ("assistant", "helper"),
    ]
