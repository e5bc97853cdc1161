"""TruLens: public spans of its tests, and some written from its attribute names."""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects import classify
from agentool_otel.model.messages import message
from agentool_otel.model.messages import text as words
from tests.dialects.spelled import coverage, span, spelled, text
from tests.dialects.traces import load

OF = "ai.observability."
PUBLIC = [
    *load("trulens_otel/record_root_span.json"),
    *load("trulens_otel/retrieval_span.json"),
    *load("trulens_otel/generation_span.json"),
]
FROM_NAMES = [
    span(
        {
            OF + "span_type": "tool",
            OF + "call.kwargs.city": "Paris",
            OF + "call.return": '{"degrees": 18}',
            OF + "call.error": "late",
            OF + "conversation_id": "c1",
        },
        name="app.Weather.look",
    ),
    span(
        {
            OF + "span_type": "eval_root",
            OF + "eval_root.metric_name": "groundedness",
            OF + "eval_root.score": 0.5,
        }
    ),
    span({OF + "span_type": "graph_node"}),
]


def test_public_spans_are_read() -> None:
    assert spelled(*PUBLIC) == text("""
        trulens: workflow __main__.RAG.query
          > user: What is the best coffee?
          < assistant: Hello! I'm happy to help. ⏎⏎When it comes …it down further!
        trulens: retrieval query=What is the best coffee? documents=["\\nStarbucks Corporation
            is an American m…nd pharmacy.\\n"]
        trulens: chat model=gpt-4o-mini-2024-07-18 cost=0.00010619999999999999 in=336 out=93
            total=429
          > user: What is the best coffee?
          < assistant: Hello! I'm happy to help. ⏎⏎When it comes …it down further!
    """)
    assert coverage(PUBLIC) == 0.44


def test_tools_errors_and_scores_are_read() -> None:
    assert spelled(*FROM_NAMES) == text("""
        trulens: tool look session=c1 error=_OTHER message=late arguments={"city":"Paris"}
            result={"degrees":18}
        trulens: evaluation groundedness score=0.5
        trulens: unclassified
    """)
    assert coverage(FROM_NAMES) == 1.0


def test_the_question_is_the_input_and_its_context_stays_separate() -> None:
    texts = {
        OF + "span_type": "generation",
        OF + "call.kwargs.context_str": "It rains.",
        OF + "call.kwargs.question": "Weather?",
    }
    operation: Any = classify(span(texts))[1]
    assert operation.input == [message("user", [words("Weather?")])]
    assert operation.extra == {OF + "call.kwargs.context_str": "It rains."}


def test_messages_of_a_provider_function_win_over_the_question() -> None:
    texts = {
        OF + "span_type": "generation",
        OF + "call.kwargs.messages.0.role": "user",
        OF + "call.kwargs.messages.0.content": "Weather?",
        OF + "call.kwargs.query": "select",
    }
    operation: Any = classify(span(texts))[1]
    assert operation.input == [message("user", [words("Weather?")])]


def test_a_cost_in_another_currency_is_not_in_dollars() -> None:
    texts = {
        OF + "span_type": "generation",
        OF + "cost.cost": 3.0,
        OF + "cost.cost_currency": "Snowflake credits",
    }
    operation: Any = classify(span(texts))[1]
    assert operation.cost_usd is None
    assert operation.extra[OF + "cost.cost"] == 3.0


def test_a_tool_called_through_mcp_has_attributes_of_its_own() -> None:
    texts = {
        OF + "span_type": "mcp",
        OF + "mcp.tool_name": "add",
        OF + "mcp.input_arguments": '{"a": 1}',
        OF + "mcp.output_content": '"no numbers"',
        OF + "mcp.output_is_error": True,
        OF + "mcp.execution_time_ms": 5.0,
    }
    operation: Any = classify(span(texts))[1]
    assert (operation.name, operation.arguments, operation.result) == (
        *("add", {"a": 1}),
        "no numbers",
    )
    assert (operation.error_message, operation.duration_ms) == ("no numbers", 5.0)


def test_the_tokens_of_an_agents_model_calls_are_the_agents_usage() -> None:
    ran = span(
        {
            OF + "span_type": "agent",
            OF + "call.kwargs.question": "Weather?",
            OF + "cost.num_prompt_tokens": 183,
            OF + "cost.num_completion_tokens": 27,
        },
        name="app.Weather.ask",
    )
    assert spelled(ran) == text("""
        trulens: agent agent=app.Weather.ask in=183 out=27
          > user: Weather?
    """)


def test_a_tool_is_called_without_its_module() -> None:
    called = span(
        {
            OF + "span_type": "tool",
            OF + "call.function": "app.look",
            "gen_ai.tool.name": "app.look",
        },
        name="app.look",
    )
    assert spelled(called) == "trulens: tool look"


def test_a_tool_of_a_graph_is_read_from_the_input_of_its_node() -> None:
    called = span(
        {
            OF + "span_type": "tool",
            OF + "call.function": "langgraph.prebuilt.tool_node.ToolNode.invoke",
            OF + "call.kwargs.input": (
                '[{"name": "look", "args": {"city": "Paris"}, "id": "c1", "type": "tool_call"}]'
            ),
            OF + "call.return": "{'messages': [ToolMessage(content='18', tool_call_id='c1')]}",
            OF + "mcp.input_arguments": "([{'name': 'look'}], {'metadata': Runtime(None)})",
            OF + "mcp.output_content": "{'messages': [ToolMessage(content='18')]}",
            OF + "graph_node.output_state": "18",
            "gen_ai.tool.name": "langgraph.prebuilt.tool_node.ToolNode.invoke",
        },
        name="look",
    )
    assert spelled(called) == 'trulens: tool look call=c1 arguments={"city":"Paris"} result="18"'


def test_a_graph_has_the_thread_of_its_config_and_its_recorded_answer() -> None:
    ran = span(
        {
            OF + "span_type": "record_root",
            OF + "record_root.input": "Weather?",
            OF + "record_root.output": "18",
            OF + "call.return": "{'messages': [AIMessage(content='18')]}",
            OF + "call.kwargs.config": '{"configurable": {"thread_id": "t1"}}',
        },
        name="graph",
    )
    assert spelled(ran) == text("""
        trulens: workflow graph session=t1
          > user: Weather?
          < assistant: 18
    """)
