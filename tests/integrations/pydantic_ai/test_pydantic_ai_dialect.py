"""pydantic-ai: a public trace of version 2.9, and spans written from the tables of older ones."""

from __future__ import annotations

import json

from tests.dialects.spelled import coverage, span, spelled, text
from tests.dialects.traces import load

PUBLIC = load("strands_evals_dicts/pydantic_ai_live_spans.json")
EVENTS = [
    {"event.name": "gen_ai.system.message", "role": "system", "content": "Be brief."},
    {"event.name": "gen_ai.user.message", "role": "user", "content": "Weather?"},
    {
        "event.name": "gen_ai.choice",
        "index": 0,
        "message": {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "w", "arguments": "{}"}}
            ],
        },
    },
]
VERSION_1 = [
    span(
        {
            "agent_name": "meteo",
            "model_name": "gpt-4o",
            "all_messages_events": json.dumps(
                [*EVENTS[:2], {"role": "assistant", "content": "Sunny.", "gen_ai.message.index": 1}]
            ),
            "final_result": "Sunny.",
            "gen_ai.usage.input_tokens": 31,
            "gen_ai.usage.output_tokens": 9,
        },
        name="meteo run",
        scope="pydantic-ai",
    ),
    span(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.system": "openai",
            "gen_ai.request.model": "gpt-4o",
            "model_request_parameters": '{"function_tools":[{"name":"w"}],"output_tools":[]}',
            "events": json.dumps(EVENTS),
            "operation.cost": 0.002,
        },
        name="chat gpt-4o",
        scope="pydantic-ai",
    ),
    span(
        {
            "gen_ai.tool.name": "w",
            "gen_ai.tool.call.id": "c1",
            "tool_arguments": '{"in":"SF"}',
            "tool_response": "sunny",
        },
        name="running tool",
        scope="pydantic-ai",
    ),
    span({"tools": ["w"]}, name="running 1 tool", scope="pydantic-ai"),
]


def test_a_public_trace_is_read() -> None:
    assert spelled(*PUBLIC) == text("""
        pydantic_ai: chat provider=bedrock model=us.anthropic.claude-sonnet-4-5-20250929-v1:0
            answered_by=us.anthropic.claude-sonnet-4-5-20250929-v1:0
            response=bffa7bef-c9f7-4812-b5da-c789fc6f22a8 finish=tool_call cost=0.0028149
            session=019f8b0c-5147-74b5-b1e4-f9b086da98e0 in=588 out=53 tools=get_weather
          > system: You are a helpful assistant. Use the provi…ols when needed.
          > user: What's the weather like in Seattle right now?
          < assistant: [call tooluse_ThYFd3WOkO59ZUHC77SIdX] get_weather {"city":"Seattle"}
            (tool_call)
        pydantic_ai: tool get_weather call=tooluse_ThYFd3WOkO59ZUHC77SIdX agent=agent
            session=019f8b0c-5147-74b5-b1e4-f9b086da98e0 arguments={"city":"Seattle"}
            result="62°F, cloudy with light rain"
        pydantic_ai: chat provider=bedrock model=us.anthropic.claude-sonnet-4-5-20250929-v1:0
            answered_by=us.anthropic.claude-sonnet-4-5-20250929-v1:0
            response=e18a158b-d4d9-4c86-912c-169abedd12cc finish=stop cost=0.0026004
            session=019f8b0c-5147-74b5-b1e4-f9b086da98e0 in=663 out=25 tools=get_weather
          > system: You are a helpful assistant. Use the provi…ols when needed.
          > user: What's the weather like in Seattle right now?
          > assistant: [call tooluse_ThYFd3WOkO59ZUHC77SIdX] get_weather {"city":"Seattle"}
            (tool_call)
          > user: [result tooluse_ThYFd3WOkO59ZUHC77SIdX] "62°F, cloudy with light rain"
          < assistant: The current weather in Seattle is 62°F and…Seattle weather! (stop)
        pydantic_ai: agent model=us.anthropic.claude-sonnet-4-5-20250929-v1:0 agent=agent
            session=019f8b0c-5147-74b5-b1e4-f9b086da98e0 in=1251 out=78
          > system: You are a helpful assistant. Use the provi…ols when needed.
          > user: What's the weather like in Seattle right now?
          < assistant: [call tooluse_ThYFd3WOkO59ZUHC77SIdX] get_weather {"city":"Seattle"}
            (tool_call)
          < user: [result tooluse_ThYFd3WOkO59ZUHC77SIdX] "62°F, cloudy with light rain"
          < assistant: The current weather in Seattle is 62°F and…Seattle weather!
    """)
    assert coverage(PUBLIC) == 0.77


def test_version_1_has_its_messages_in_one_attribute() -> None:
    assert spelled(*VERSION_1) == text("""
        pydantic_ai: agent model=gpt-4o agent=meteo in=31 out=9
          > system: Be brief.
          > user: Weather?
          < assistant: Sunny.
        pydantic_ai: chat provider=openai model=gpt-4o cost=0.002 tools=w
          > system: Be brief.
          > user: Weather?
          < assistant: [call c1] w {}
        pydantic_ai: tool w call=c1 arguments={"in":"SF"} result="sunny"
        pydantic_ai: unclassified
    """)
    assert coverage(VERSION_1) == 0.94


def test_a_continued_conversation_outputs_only_new_messages() -> None:
    messages = [
        {"role": "user", "parts": [{"type": "text", "content": "one"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "1"}]},
        {"role": "user", "parts": [{"type": "text", "content": "two"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "2"}]},
    ]
    record = span(
        {
            "gen_ai.operation.name": "invoke_agent",
            "pydantic_ai.all_messages": json.dumps(messages),
            "pydantic_ai.new_message_index": 2,
        },
    )
    assert spelled(record) == text("""
        pydantic_ai: agent
          > user: one
          > assistant: 1
          > user: two
          < assistant: 2
    """)


def test_unmarked_input_comes_from_the_model_calls() -> None:
    messages = [
        {"role": "user", "content": "one", "event.name": "gen_ai.user.message"},
        {"role": "assistant", "content": "1", "event.name": "gen_ai.assistant.message"},
        {"role": "user", "content": "two", "event.name": "gen_ai.user.message"},
        {"role": "assistant", "content": "2", "event.name": "gen_ai.assistant.message"},
    ]
    record = span({"agent_name": "meteo", "all_messages_events": json.dumps(messages)})
    assert spelled(record) == text("""
        pydantic_ai: agent agent=meteo
          < assistant: 2
    """)


def test_a_retry_prompt_does_not_start_a_run() -> None:
    messages = [
        {"role": "user", "parts": [{"type": "text", "content": "one"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "?"}]},
        {"role": "user", "parts": [{"type": "text", "content": "Fix the errors and try again."}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "1"}]},
    ]
    record = span({"agent_name": "meteo", "pydantic_ai.all_messages": json.dumps(messages)})
    assert spelled(record) == text("""
        pydantic_ai: agent agent=meteo
          > user: one
          < assistant: ?
          < user: Fix the errors and try again.
          < assistant: 1
    """)


def test_the_start_of_a_run_is_counted_in_requests_and_responses() -> None:
    """A request with a system prompt is two messages on the span."""
    messages = [
        {"role": role, "parts": [{"type": "text", "content": words}]}
        for role, words in [
            *(("system", "Be brief."), ("user", "one"), ("assistant", "1")),
            *(("user", "two"), ("assistant", "2")),
        ]
    ]
    record = span(
        {
            "gen_ai.operation.name": "invoke_agent",
            "pydantic_ai.all_messages": json.dumps(messages),
            "pydantic_ai.new_message_index": 2,
        },
    )
    assert spelled(record) == text("""
        pydantic_ai: agent
          > system: Be brief.
          > user: one
          > assistant: 1
          > user: two
          < assistant: 2
    """)
