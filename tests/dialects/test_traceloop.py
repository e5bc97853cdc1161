"""Attributes of OpenLLMetry, and their reading."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentool_otel.dialects import classify
from agentool_otel.model.messages import message, text, tool_call
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    McpRequest,
    Retrieval,
    ToolExecution,
    Unclassified,
    Usage,
    WorkflowInvocation,
)
from agentool_otel.model.spans import SpanRecord

LANGCHAIN = "opentelemetry.instrumentation.langchain"


def read(attributes: dict[str, Any], **fields: Any) -> Any:
    dialect, operation = classify(SpanRecord("1" * 32, "2" * 16, attributes=attributes, **fields))
    assert dialect == "traceloop"
    return operation


def entity(kind: str, name: str, **values: Any) -> dict[str, Any]:
    dumps = {f"traceloop.entity.{key}": json.dumps(value) for key, value in values.items()}
    return {"traceloop.span.kind": kind, "traceloop.entity.name": name, **dumps}


def test_indexed_messages_and_functions_of_older_releases() -> None:
    operation = read(
        {
            "llm.request.type": "chat",
            "gen_ai.system": "OpenAI",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "hi",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.finish_reason": "tool_calls",
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "f",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"a":1}',
            "llm.request.functions.0.name": "f",
            "llm.request.functions.0.description": "does",
            "llm.request.functions.0.parameters": '{"type":"object"}',
            "llm.usage.total_tokens": 7,
            "gen_ai.usage.prompt_tokens": 3,
            "gen_ai.usage.completion_tokens": 4,
            "gen_ai.usage.cache_read_input_tokens": 2,
            "gen_ai.usage.reasoning_tokens": 1,
            "traceloop.association.properties.session_id": "s",
        }
    )
    assert operation == Inference(
        provider="OpenAI",
        input=[message("user", [text("hi")])],
        output=[message("assistant", [tool_call("f", {"a": 1}, "c1")], "tool_call")],
        tools=[
            {
                "type": "function",
                "name": "f",
                "description": "does",
                "parameters": {"type": "object"},
            }
        ],
        usage=Usage(
            input_tokens=3,
            output_tokens=4,
            cache_read_tokens=2,
            reasoning_tokens=1,
            total_tokens=7,
        ),
        conversation_id="s",
    )


def test_langchains_envelopes_are_opened() -> None:
    requests = {
        "input_str": "{'city': 'Rome'}",
        "inputs": {"city": "Rome"},
        "kwargs": {"tool_call_id": "c1"},
    }
    message = {"content": "18", "tool_call_id": "c1", "status": "success"}
    answered = {"output": {"lc": 1, "type": "constructor", "kwargs": message}, "kwargs": {}}
    assert read(entity("tool", "weather", input=requests, output=answered)) == ToolExecution(
        name="weather", call_id="c1", arguments={"city": "Rome"}, result="18"
    )


def test_a_failed_langchain_tool_has_its_error_and_the_text_for_the_model() -> None:
    message = {"content": "no", "tool_call_id": "c1", "status": "error"}
    operation = read(entity("tool", "f", output={"output": {"lc": 1, "kwargs": message}}))
    assert (operation.tool_error, operation.result) == ("no", "no")


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"input_str": "{'city': 'Rome'}"}, {"city": "Rome"}),
        ({"input_str": "Rome"}, "Rome"),
        ({"args": [], "kwargs": {"a": 1}}, {"a": 1}),
        ({"args": [{"a": 1}], "kwargs": {}}, {"a": 1}),
        ({"a": 1}, {"a": 1}),
        ("plain", "plain"),
    ],
)
def test_the_arguments_of_a_tool(given: Any, arguments: Any) -> None:
    assert read(entity("tool", "f", input=given)).arguments == arguments


def test_a_tools_name_is_taken_from_the_span_name_as_a_last_resort() -> None:
    assert read({"traceloop.span.kind": "tool"}, name="search.tool").name == "search"


def test_a_workflow_has_input_and_output_from_its_entity() -> None:
    operation = read(
        entity(
            "workflow",
            "graph",
            input={"inputs": {"messages": [["user", "hi"]]}},
            output={"outputs": {"messages": [["user", "hi"], ["ai", "hello"]]}},
        )
    )
    assert operation == WorkflowInvocation(
        workflow_name="graph",
        input=[message("user", [text("hi")])],
        output=[message("assistant", [text("hello")])],
    )


def test_an_executors_output_is_its_answer() -> None:
    operation = read(entity("workflow", "AgentExecutor", output={"outputs": {"output": "hello"}}))
    assert operation.output == [message("assistant", [text("hello")])]


def test_a_response_of_openai_agents_is_a_model_call() -> None:
    attributes = {
        "gen_ai.operation.name": "response",
        "llm.request.type": "response",
        "gen_ai.completion.1.tool_calls.0.id": "c1",
        "gen_ai.completion.1.tool_calls.0.name": "f",
        "gen_ai.completion.1.tool_calls.0.arguments": "{}",
    }
    operation = read(attributes, scope="opentelemetry.instrumentation.openai_agents")
    assert operation.output == [message("assistant", [tool_call("f", {}, "c1")])]


def test_a_langchain_workflow_named_agent_is_one_without_the_run_id() -> None:
    operation = read(
        {
            **entity("workflow", "weather"),
            "traceloop.association.properties.lc_agent_name": "weather",
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "weather",
            "gen_ai.agent.id": "01a1fddb",
        },
        scope=LANGCHAIN,
    )
    assert isinstance(operation, AgentInvocation)
    assert (operation.agent_name, operation.agent_id) == ("weather", None)


def test_the_span_around_a_graphs_own_span_is_not_a_second_run() -> None:
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.workflow.nodes": ["model"]}
    assert isinstance(read(attributes, scope=LANGCHAIN), Unclassified)


@pytest.mark.parametrize("name", ["invoke_agent", "execute_task", None])
def test_a_task_is_not_an_agent_whatever_its_name(name: str | None) -> None:
    output = {} if name is None else {"gen_ai.operation.name": name}
    assert isinstance(read({**entity("task", "node"), **output}), Unclassified)


def test_a_crews_agent_is_named_by_its_role() -> None:
    crew = {**entity("agent", "x"), "crewai.agent.role": "Researcher"}
    assert read(crew).agent_name == "Researcher"


def test_a_crews_result_is_its_workflows_answer() -> None:
    operation = read({**entity("workflow", "crew"), "crewai.crew.result": "done"})
    assert operation.output == [message("assistant", [text("done")])]


def test_a_crew_of_older_releases_is_recognised_by_its_span_name() -> None:
    attributes = {"crewai.crew.name": "report", "crewai.crew.result": "done"}
    assert read(attributes, name="crewai.workflow") == WorkflowInvocation(
        workflow_name="report", output=[message("assistant", [text("done")])]
    )


def test_a_handoff_names_who_hands_to_whom() -> None:
    operation = read(
        {
            "traceloop.span.kind": "handoff",
            "gen_ai.operation.name": "handoff",
            "gen_ai.handoff.from_agent": "A",
            "gen_ai.handoff.to_agent": "B",
            "gen_ai.agent.name": "A",
        }
    )
    assert operation == ToolExecution(name="transfer_to_B", transfer_target="B", agent_name="A")


def test_a_handoff_to_an_unknown_agent_has_no_name() -> None:
    attributes = {"traceloop.span.kind": "handoff", "gen_ai.handoff.to_agent": "unknown"}
    assert read(attributes).transfer_target is None


def test_a_retrieval_is_read_from_its_entity() -> None:
    results = {"documents": [{"page_content": "that", "metadata": {}}], "count": 1}
    operation = read(
        {
            **entity("task", "Retriever", input={"query": "what?"}, output=results),
            "gen_ai.operation.name": "vector_db_retrieve",
        }
    )
    assert isinstance(operation, Retrieval)
    assert operation.query == "what?"
    assert operation.documents == [{"content": "that", "metadata": {}}]


def test_an_mcp_request_may_have_an_internal_span() -> None:
    operation = read(
        {
            **entity("tool", "search"),
            "mcp.method.name": "tools/call",
            "mcp.request.argument": '{"q":"x"}',
            "mcp.response.value": '{"found":1}',
            "mcp.request.id": "1",
        }
    )
    assert operation == McpRequest(
        tool_name="search", request_id="1", arguments={"q": "x"}, result={"found": 1}
    )


def test_instructions_that_are_bare_text_are_a_part() -> None:
    attributes = {"gen_ai.operation.name": "create_agent", "gen_ai.system_instructions": "be brief"}
    assert read(attributes, scope=LANGCHAIN).system == [text("be brief")]


def test_tools_nested_as_openai_nests_them_are_flat() -> None:
    tools = json.dumps([{"type": "function", "function": {"name": "f"}}])
    operation = read({"llm.request.type": "chat", "gen_ai.tool.definitions": tools})
    assert operation.tools == [{"type": "function", "name": "f"}]


def test_a_langchain_tool_message_is_unwrapped_even_without_its_type() -> None:
    results = {"output": {"kwargs": {"content": "late", "tool_call_id": "c1", "status": "error"}}}
    operation = read({**entity("tool", "look"), "traceloop.entity.output": json.dumps(results)})
    assert (operation.call_id, operation.result, operation.tool_error) == ("c1", "late", "late")


def test_a_langgraph_command_is_a_handoff_to_its_goto() -> None:
    operation = read(
        {
            "gen_ai.operation.name": "goto",
            "langgraph.command.source_node": "planner",
            "langgraph.command.goto_node": "booker",
        },
        scope=LANGCHAIN,
    )
    assert isinstance(operation, ToolExecution)
    assert (operation.agent_name, operation.transfer_target) == ("planner", "booker")


def test_a_langgraph_command_that_ends_the_graph_is_not_a_handoff() -> None:
    attributes = {"gen_ai.operation.name": "goto", "langgraph.command.goto_node": "__end__"}
    assert isinstance(read(attributes, scope=LANGCHAIN), Unclassified)


def test_a_tool_called_through_mcp_is_an_mcp_request() -> None:
    operation = read(
        {
            **entity("tool", "add"),
            "traceloop.entity.input": '{"tool_name": "add", "arguments": {"a": 1}}',
            "traceloop.entity.output": '{"result": "2"}',
        },
        scope="opentelemetry.instrumentation.mcp.instrumentation",
    )
    assert operation == McpRequest(tool_name="add", arguments={"a": 1}, result="2")


def test_a_retrieval_of_bare_values_is_read() -> None:
    operation = read(
        {
            "gen_ai.operation.name": "vector_db_retrieve",
            "traceloop.entity.input": '"what?"',
            "traceloop.entity.output": '[{"page_content": "that"}]',
        }
    )
    assert (operation.query, operation.documents) == ("what?", [{"content": "that"}])


def test_a_function_without_arguments_has_no_input() -> None:
    assert read(entity("workflow", "report", input={"args": [], "kwargs": {}})).input is None


def test_a_name_made_up_by_the_contrib_instrumentation_is_ignored() -> None:
    scope = "opentelemetry.instrumentation.openai_agents"
    printed = (
        "ResponseFunctionToolCall(arguments='{\"a\":42}', call_id='call_1', name='double', "
        "type='function_call', id='fc_1', caller=None, status='completed')"
    )
    json_text = json.dumps([message("assistant", [text(printed)])])
    own = {
        "gen_ai.agent.id": "agent",
        "gen_ai.agent.description": "OpenAI Agents instrumentation",
    }
    agent = read(
        {**own, "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"}, scope=scope
    )
    assert (agent.agent_id, agent.agent_name, agent.agent_description) == (None, "clerk", None)
    call = read(
        {**own, "gen_ai.operation.name": "chat", "gen_ai.output.messages": json_text}, scope=scope
    )
    assert call.output == [message("assistant", [tool_call("double", {"a": 42}, "call_1")])]
