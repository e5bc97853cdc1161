"""Langfuse: spans of its SDK, and spans of other vocabularies with its attributes around them."""

from __future__ import annotations

import json
from typing import Any

from agentool_otel.dialects import classify
from agentool_otel.model.messages import message
from agentool_otel.model.messages import text as said
from agentool_otel.model.operations import AgentCreation, AgentInvocation, Usage
from tests.dialects.spelled import coverage, span, spelled, text
from tests.dialects.traces import recorded

RECORDED = recorded("langfuse-5.0.4.langfuse.jsonl")
OF = "langfuse.observation."


def generation(**attributes: Any) -> Any:
    values = {OF + key: value for key, value in attributes.items()}
    return classify(span({OF + "type": "generation", **values}))[1]


def usage(**counts: int) -> Usage:
    read: Usage = generation(usage_details=json.dumps(counts)).usage
    return read


def test_spans_of_the_sdk_are_read() -> None:
    assert spelled(*RECORDED) == text("""
        langfuse: tool lookup arguments={"args":["Paris"],"kwargs":{}}
            result={"city":"Paris","degrees":18}
        langfuse: chat model=gpt-5 temperature=1 in=13 out=4 cached=0 reasoning=0 total=17
          > user: What is the weather?
          < assistant: The answer is 42.
        langfuse: agent agent=weather
          > user: What is the weather?
          < assistant: The answer is 42.
        langfuse: chat model=gpt-5 temperature=1 session=session-1 in=15 out=13 cached=0
            reasoning=0 total=28 tools=get_weather
          > user: What is the weather in Paris?
          < assistant: [call call_000003] get_weather {"city":"What is the weather in Paris?"}
        langfuse: chat provider=openai model=gpt-5 session=session-1 in=15 out=13 cached=0
            cache_written=0 reasoning=0 total=28 tools=get_weather
          > user: What is the weather in Paris?
          < assistant: [call call_000003] get_weather {"city":"What is the weather in Paris?"}
        langfuse: unclassified session=session-1
        langfuse: tool get_weather call=call_000003 session=session-1 arguments={"city":"What
            is the weather in Paris?"} result="18 degrees in What is the weather in Paris?"
        langfuse: unclassified session=session-1
        langfuse: chat model=gpt-5 temperature=1 session=session-1 in=96 out=4 cached=0
            reasoning=0 total=100 tools=get_weather
          > user: What is the weather in Paris?
          > assistant: [call call_000003] get_weather {"city":"What is the weather in Paris?"}
          > tool: [result call_000003] "18 degrees in What is the weather in Paris?"
          < assistant: The answer is 42.
        langfuse: chat provider=openai model=gpt-5 session=session-1 in=96 out=4 cached=0
            cache_written=0 reasoning=0 total=100 tools=get_weather
          > user: What is the weather in Paris?
          > assistant: [call call_000003] get_weather {"city":"What is the weather in Paris?"}
          > tool: [result call_000003] "18 degrees in What is the weather in Paris?"
          < assistant: The answer is 42.
        langfuse: unclassified session=session-1
        langfuse: agent agent=weather session=session-1
          > user: What is the weather in Paris?
          < assistant: The answer is 42.
    """)
    assert coverage(RECORDED) == 0.38


def test_tokens_counted_separately_are_added_to_the_input() -> None:
    assert usage(input=10, output=4, input_cache_read=90, output_reasoning=6, total=110) == Usage(
        input_tokens=100,
        output_tokens=10,
        cache_read_tokens=90,
        reasoning_tokens=6,
        total_tokens=110,
    )


def test_tokens_already_included_stay() -> None:
    assert usage(input=100, output=10, input_cached_tokens=90, total=110).input_tokens == 100


def test_cost_is_the_total_or_the_sum_of_its_parts() -> None:
    assert generation(cost_details='{"input": 1.0, "output": 2.0, "total": 3.5}').cost_usd == 3.5
    assert generation(cost_details='{"input": 1.0, "output": 2.0}').cost_usd == 3.0


def test_level_error_is_an_error() -> None:
    failed = generation(level="ERROR", status_message="rate limited")
    assert (failed.error_type, failed.error_message) == ("_OTHER", "rate limited")


def test_the_first_token_is_measured_from_the_start() -> None:
    texts = {OF + "type": "generation", OF + "completion_start_time": '"2026-01-01T00:00:01.5Z"'}
    operation: Any = classify(span(texts, start_ns=1_767_225_600_000_000_000))[1]
    assert operation.time_to_first_chunk_s == 1.5


def test_the_inner_vocabulary_is_read_with_the_attributes_langfuse_moved() -> None:
    vercel = span(
        {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.model.id": "gpt-5",
            "gen_ai.usage.input_tokens": 62,
            OF + "type": "generation",
            OF + "input": '[{"role":"user","content":[{"type":"text","text":"Weather?"}]}]',
            OF + "output": '[{"toolCallId":"c1","toolName":"weather","input":"{}"}]',
            OF + "cost_details": '{"total": 0.5}',
            "session.id": "s1",
        },
        scope="ai",
    )
    tool = span(
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "weather",
            "ai.toolCall.id": "c1",
            OF + "type": "tool",
            OF + "input": '{"in": "SF"}',
            OF + "output": '{"t": 64}',
        },
        scope="ai",
    )
    assert spelled(vercel, tool) == text("""
        langfuse: chat model=gpt-5 cost=0.5 session=s1 in=62
          > user: Weather?
          < assistant: [call c1] weather {}
        langfuse: tool weather call=c1 arguments={"in":"SF"} result={"t":64}
    """)
    assert coverage([vercel, tool]) == 1.0


def test_a_langgraph_thread_is_the_session_by_default() -> None:
    thread = {OF + "type": "agent", OF + "metadata.thread_id": '"t1"'}
    assert classify(span(thread))[1].conversation_id == "t1"
    assert classify(span({**thread, "session.id": "s1"}))[1].conversation_id == "s1"


def test_spans_of_an_older_sdk_are_recognised_by_their_attributes() -> None:
    output = {"type": "tool", "name": "search", "tool_call_id": "c1", "content": "found"}
    state = {"messages": [{"type": "human", "content": "hi"}, {"type": "ai", "content": "hello"}]}
    texts = [
        span(
            {OF + "type": "span", OF + "input": "{'q': 1}", OF + "output": json.dumps(output)},
            parent_id="3" * 16,
            name="search",
        ),
        span(
            {
                OF + "type": "span",
                OF + "input": json.dumps({"messages": state["messages"][:1]}),
                OF + "output": json.dumps(state),
            },
            name="LangGraph",
        ),
        span({OF + "type": "span", OF + "input": "x", OF + "output": "y"}, parent_id="3" * 16),
        span({OF + "type": "span"}, name="a wrapper"),
    ]
    assert spelled(*texts) == text("""
        langfuse: tool search call=c1 arguments={"q":1} result="found"
        langfuse: agent agent=LangGraph
          > user: hi
          < assistant: hello
        langfuse: unclassified
        langfuse: unclassified
    """)


def test_a_node_named_agent_is_a_step_of_the_graph() -> None:
    node = {OF + "type": "agent", OF + "metadata.langgraph_node": "agent", OF + "output": "{}"}
    read = [
        classify(span(attributes, name="agent", parent_id="3" * 16))[1]
        for attributes in (node, {**node, OF + "metadata.langgraph_node": "boss"})
    ]
    assert [type(item).__name__ for item in read] == ["Unclassified", "AgentInvocation"]


def test_a_session_passed_to_the_callback_is_the_session() -> None:
    attributes = {"metadata.langfuse_session_id": "s", "metadata.thread_id": "t"}
    assert generation(**attributes).conversation_id == "s"


def test_attributes_from_langsmiths_exporter_are_read_as_langsmiths() -> None:
    value, gave = {"prompt": "Rain?"}, {"role": "assistant", "content": "No."}
    stored = {
        OF + "type": "span",
        OF + "input": json.dumps(value),
        OF + "output": json.dumps(gave),
        "langsmith.span.kind": "chain",
        "langsmith.trace.name": "claude.conversation",
        "gen_ai.operation.name": "chain",
    }
    operation = classify(span(stored, name="claude.conversation", scope="langsmith"))[1]
    assert isinstance(operation, AgentInvocation)
    assert operation.output == [message("assistant", [said("No.")])]


def test_values_of_the_inner_vocabulary_win_where_it_has_them() -> None:
    stored = {OF + "type": "agent", "gen_ai.operation.name": "create_agent"}
    operation = classify(span(stored, name="agent.1", scope="ai.koog"))[1]
    assert isinstance(operation, AgentCreation)
