"""OpenLIT, written from its attribute names and after recordings (`spans/openlit-*.jsonl`)."""

from __future__ import annotations

import json

import pytest

from tests.dialects.spelled import coverage, event, span, spelled, text

SPANS = [
    span(
        {
            "gen_ai.operation.name": "agent",
            "gen_ai.agent.name": "planner",
            "gen_ai.agent.task": "Plan a trip.",
            "gen_ai.agent.actual_output": "Go by train.",
            "gen_ai.agent.instructions": "Be brief.",
            "gen_ai.agent.tools": '["look"]',
            "gen_ai.agent.session_id": "s1",
        },
        scope="openlit",
    ),
    span(
        {
            "gen_ai.operation.name": "model_request",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.usage.input_tokens": 9,
            "gen_ai.usage.prompt_tokens_details.cached_tokens": 4,
            "gen_ai.usage.completion_tokens_details.reasoning_tokens": 2,
            "gen_ai.usage.cost": 0.25,
            "gen_ai.response.tool_calls": json.dumps(
                [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}]
            ),
        },
        event("gen_ai.content.prompt", **{"gen_ai.prompt": "Where?"}),
        event("gen_ai.content.reasoning", **{"gen_ai.reasoning": "A map helps."}),
        event("gen_ai.content.completion", **{"gen_ai.completion": "I look."}),
        scope="openlit",
    ),
    span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            "gen_ai.tool.args": '{"at": "Paris"}',
            "gen_ai.tool.output": "found",
        },
        scope="openlit",
    ),
    span(
        {
            "gen_ai.operation.name": "vectordb",
            "gen_ai.retrieval.query": "Paris",
            "gen_ai.retrieval.documents": '[{"content": "A city."}]',
            "gen_ai.retrieval.source": "atlas",
        },
        scope="openlit",
    ),
    span(
        {
            "gen_ai.operation.name": "tool_coordination",
            "gen_ai.agent.source": "planner",
            "gen_ai.agent.target": "booker",
        },
        scope="openlit",
    ),
    span({"gen_ai.operation.name": "execute_task"}, scope="openlit"),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        openlit: agent agent=planner session=s1 tools=look
            system: Be brief.
          > user: Plan a trip.
          < assistant: Go by train.
        openlit: chat model=gpt-5 cost=0.25 in=9 cached=4 reasoning=2
          > user: Where?
          < assistant: [thinks] A map helps. | I look. | [call c1] look {}
        openlit: tool look arguments={"at":"Paris"} result="found"
        openlit: retrieval query=Paris documents=[{"content":"A city."}]
        openlit: tool transfer_to_booker agent=planner transfer_to=booker
        openlit: unclassified
    """)
    assert coverage(SPANS) == 0.96


def test_a_traced_function_is_a_run_not_a_model_call() -> None:
    traced = span(
        {
            "gen_ai.output.messages": "It is 18.",
            "function.args": "('Weather?',)",
            "function.kwargs": "{}",
        },
        name="weather",
        scope="openlit",
    )
    assert spelled(traced) == text("""
        openlit: workflow weather
          > user: Weather?
          < assistant: It is 18.
    """)
    traced.parent_id = "3" * 16
    assert spelled(traced) == "openlit: unclassified"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("researcher", "agent agent=researcher"),
        ("model", "unclassified"),
        ("Summary.before_model", "unclassified"),
    ],
)
def test_nodes_inside_a_langchain_agent_are_not_agents(name: str, kind: str) -> None:
    node = span(
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name},
        scope="openlit.instrumentation.langgraph",
    )
    assert spelled(node) == f"openlit: {kind}"


def test_a_failed_workflow_is_recognised_by_its_span_name() -> None:
    failed = span(
        {"gen_ai.workflow.name": "weather", "error.type": "ValueError"},
        name="invoke_workflow weather",
        scope="openlit.instrumentation.langgraph",
        status="ERROR",
    )
    assert spelled(failed) == "openlit: workflow weather error=ValueError"


def test_a_langchain_tool_is_read_from_a_python_repr() -> None:
    printed = "content='It\\'s 18' name='look' artifact={'a': 1} tool_call_id='c1'"
    called = span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            "gen_ai.tool.call.arguments": "{'city': 'Paris', 'near': None}",
            "gen_ai.tool.call.result": printed,
        },
        scope="openlit.instrumentation.langchain",
    )
    assert spelled(called) == text("""
        openlit: tool look call=c1 arguments={"city":"Paris","near":null} result="It's 18"
    """)


def test_a_tool_message_with_error_status_is_an_error() -> None:
    called = span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            "gen_ai.tool.call.result": "content='no' name='look' tool_call_id='c1' status='error'",
        },
        scope="openlit.instrumentation.langchain",
    )
    assert spelled(called) == 'openlit: tool look call=c1 tool_error=no result="no"'


def test_the_id_of_a_langchain_run_is_not_a_call_id() -> None:
    called = span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            "gen_ai.tool.call.id": "01a2000b-0a11-7192-9d42-6b199193c331",
        },
        scope="openlit.instrumentation.langchain",
    )
    assert spelled(called) == "openlit: tool look"


def test_minus_one_is_an_unset_parameter() -> None:
    record = span(
        {"gen_ai.operation.name": "chat", "gen_ai.request.max_tokens": -1}, scope="openlit"
    )
    assert spelled(record) == "openlit: chat"


def test_tools_nested_as_openai_nests_them_are_flat() -> None:
    offered = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    record = span(
        {"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": json.dumps(offered)},
        scope="openlit",
    )
    assert spelled(record) == "openlit: chat tools=look"


def test_turns_of_the_agents_sdk_are_not_agents() -> None:
    turn = span(
        {"gen_ai.operation.name": "invoke_agent"}, scope="openlit.instrumentation.openai_agents"
    )
    assert spelled(turn) == "openlit: unclassified"


def test_an_agent_with_a_source_was_handed_over_to_by_it() -> None:
    handoff = span(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "booker",
            "gen_ai.agent.source": "planner",
        },
        scope="openlit.instrumentation.openai_agents",
    )
    assert spelled(handoff) == text("""
        openlit: tool transfer_to_booker agent=planner transfer_to=booker
    """)


def test_the_memory_address_of_an_agent_is_not_its_id() -> None:
    ran = span(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "planner",
            "gen_ai.agent.id": "140350308301712",
        },
        scope="openlit.instrumentation.openai_agents",
    )
    assert spelled(ran) == "openlit: agent agent=planner"


def test_a_model_without_a_price_is_not_free() -> None:
    record = span({"gen_ai.operation.name": "chat", "gen_ai.usage.cost": 0}, scope="openlit")
    assert spelled(record) == "openlit: chat"


def test_the_text_of_a_tool_is_its_response() -> None:
    messages = [{"role": "tool", "parts": [{"type": "text", "content": '{"degrees": 18}'}]}]
    record = span(
        {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(messages)},
        scope="openlit",
    )
    assert spelled(record) == text("""
        openlit: chat
          > tool: [result None] {"degrees":18}
    """)


def test_older_prompts_are_lines_with_roles_and_calls_are_printed() -> None:
    calls = "[{'id': 'c1', 'function': {'arguments': '{\"n\": 1}', 'name': 'f'}}]"
    record = span(
        {"gen_ai.operation.name": "chat", "gen_ai.response.tool_calls": calls},
        event("gen_ai.content.prompt", **{"gen_ai.prompt": "system: Be brief.\nuser: one\ntwo"}),
        event("gen_ai.content.completion", **{"gen_ai.completion": "I look."}),
        scope="openlit.otel.tracing",
    )
    assert spelled(record) == text("""
        openlit: chat
          > system: Be brief.
          > user: one⏎two
          < assistant: I look. | [call c1] f {"n":1}
    """)


def test_calls_may_be_spread_over_one_attribute_per_member() -> None:
    record = span(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.tool.name": "f, g",
            "gen_ai.tool.call.id": "c1, c2",
            "gen_ai.tool.args": '{"n": 1, "m": 2}, {}',
        },
        scope="openlit.otel.tracing",
    )
    assert spelled(record) == text("""
        openlit: chat
          < assistant: [call c1] f {"n":1,"m":2} | [call c2] g {}
    """)


def test_the_available_tools_of_a_response_are_not_calls() -> None:
    tools = "[{'name': 'f', 'parameters': {}, 'type': 'function'}]"
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.response.tool_calls": tools}
    assert spelled(span(attributes, scope="openlit.otel.tracing")) == text("openlit: chat")


def test_an_operation_named_like_the_span_is_known_by_its_first_word() -> None:
    state = {"messages": ["content='hi' id='1'", "content='18' response_metadata={'a': 1}"]}
    root = {
        "gen_ai.operation.name": "workflow RunnableSequence",
        "gen_ai.workflow.output": json.dumps(state),
    }
    spans = [
        span(root, scope="openlit.otel.tracing"),
        span(root, scope="openlit.otel.tracing", parent_id="3" * 16),
        span({"gen_ai.operation.name": "chat gpt-5"}, scope="openlit.otel.tracing"),
        span({"gen_ai.operation.name": "tool look"}, scope="openlit.otel.tracing"),
    ]
    assert spelled(*spans) == text("""
        openlit: workflow RunnableSequence
          < assistant: 18
        openlit: unclassified
        openlit: chat
        openlit: tool look
    """)
