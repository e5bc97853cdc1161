"""Attributes of older releases of OpenInference's instrumentors, and their reading."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentool_otel.dialects import classify
from agentool_otel.model.messages import message, text, tool_call, tool_response
from agentool_otel.model.operations import (
    Unclassified,
    Usage,
)
from agentool_otel.model.spans import SpanEvent, SpanRecord


def read(kind: str | None, attributes: dict[str, Any], **fields: Any) -> Any:
    if kind is not None:
        attributes = {"openinference.span.kind": kind, **attributes}
    dialect, operation = classify(SpanRecord("1" * 32, "2" * 16, attributes=attributes, **fields))
    assert dialect == "openinference"
    return operation


LANGCHAIN = "openinference.instrumentation.langchain"


@pytest.mark.parametrize(
    "name",
    [
        "agent",
        "ChannelWrite<agent,messages>",
        "RunnableAssign<agent_scratchpad>",
        "ToolsAgentOutputParser",
    ],
)
def test_a_runnable_with_agent_in_its_name_is_not_an_agent(name: str) -> None:
    attributes = {"metadata": '{"langgraph_step": 1, "langgraph_node": "agent"}'}
    operation = read("AGENT", attributes, name=name, parent_id="3" * 16, scope=LANGCHAIN)
    assert isinstance(operation, Unclassified)


@pytest.mark.parametrize("name", ["AgentExecutor", "research_agent", "agent"])
def test_a_langchain_run_named_after_an_agent_is_an_agent(name: str) -> None:
    operation = read("AGENT", {}, name=name, parent_id="3" * 16, scope=LANGCHAIN)
    assert operation.agent_name == name


def test_messages_that_langchain_printed_are_messages() -> None:
    calls = "additional_kwargs={'tool_calls': []} response_metadata={'finish_reason': 'tool_calls'}"
    state = [
        "content='hi' additional_kwargs={} response_metadata={} id='2b2aaeba'",
        f"content=[{{'type': 'text', 'text': 'I look.'}}] {calls} id='run-1-0'",
        "content='18' name='f' tool_call_id='c1'",
        """content="it's 18" response_metadata={'model_name': 'm'} id='run-2-0'""",
    ]
    operation = read("CHAIN", {"output.value": json.dumps({"messages": state})}, name="LangGraph")
    assert operation.output == [
        message("assistant", [text("I look.")]),
        message("tool", [tool_response("18", "c1")]),
        message("assistant", [text("it's 18")]),
    ]


def test_a_printed_tool_message_is_opened() -> None:
    value = {"output": "content='no' name='f' tool_call_id='c1' status='error'"}
    operation = read("TOOL", {"tool.name": "f", "output.value": json.dumps(value)})
    assert (operation.call_id, operation.result, operation.tool_error) == ("c1", "no", "no")


def test_a_raw_response_is_read_from_its_bodies() -> None:
    values = {
        "model": "m",
        "input": [{"type": "function_call_output", "call_id": "c1", "output": "18"}],
    }
    answered = {
        "object": "response",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "18."}]}],
        "usage": {"input_tokens": 5, "input_tokens_details": {"cached_tokens": 2}}
        | {"output_tokens": 3},
    }
    attributes = {"input.value": json.dumps(values), "output.value": json.dumps(answered)}
    operation = read("LLM", attributes)
    assert operation.input == [message("tool", [tool_response("18", "c1")])]
    assert operation.output == [message("assistant", [text("18.")])]
    assert operation.usage == Usage(input_tokens=5, output_tokens=3, cache_read_tokens=2)


def test_a_workflow_of_llama_index_answers_its_response() -> None:
    originals = {"ctx": "<Context object at 0x7f>", "start_event": "AgentWorkflowStartEvent()"}
    answer = {"response": {"role": "assistant", "blocks": [{"text": "hi"}]}, "tool_calls": []}
    values = {"input.value": json.dumps(originals), "output.value": json.dumps(answer)}
    operation = read("CHAIN", values, name="FunctionAgent.run")
    assert operation.input is None
    assert operation.output == [message("assistant", [text("hi")])]


def test_role_and_arguments_are_read_from_crewais_printed_objects() -> None:
    values = {"agent": "id=UUID('e8') role='clerk' goal='Know.' tools=[Tool(name='f')]"}
    task = {"task_key": "k", "formatted_description": "Do it.", "input.value": json.dumps(values)}
    assert read("AGENT", task, name="Task._execute_core").agent_name == "clerk"
    used = {
        "tool_string": "Action: f",
        "tool": "CrewStructuredTool(name='f')",
        "calling": "tool_name='f' arguments={'city': 'Rome'}",
    }
    operation = read("TOOL", {"tool.name": "f", "input.value": json.dumps(used)})
    assert operation.arguments == {"city": "Rome"}


def test_agnos_printed_objects_give_tokens_but_no_input() -> None:
    values = {"run_response": "RunOutput(run_id='r')", "session": "AgentSession()"}
    assert read("AGENT", {"input.value": json.dumps(values)}, name="clerk.run").input is None
    answer = "ModelResponse(content='hi', response_usage=Metrics(input_tokens=3, output_tokens=4))"
    operation = read("LLM", {"output.value": answer, "output.mime_type": "text/plain"})
    assert operation.usage == Usage(input_tokens=3, output_tokens=4)


def test_each_call_in_beeais_events_is_read_once() -> None:
    def event(kind: str, target: str, **values: str) -> Any:
        values = {f"{key}.value": value for key, value in values.items()}
        scope = "openinference.instrumentation.beeai"
        return read(kind, {"target": target, **values}, scope=scope, name=f"{target}-1")

    call = event("TOOL", "tool.search.wikipedia.success", input='{"query": "Rome"}', output="old")
    assert (call.name, call.arguments, call.result) == ("wikipedia", {"query": "Rome"}, "old")
    assert event("LLM", "backend.openai.chat.start", input="Rome?").input is not None
    for kind, target in (
        ("TOOL", "tool.search.wikipedia.start"),
        ("TOOL", "tool.search.wikipedia.finish"),
        ("LLM", "backend.openai.chat.success"),
        ("AGENT", "agent.react.update"),
    ):
        assert isinstance(event(kind, target), Unclassified)


def test_content_in_a_log_record_of_the_aws_distribution_is_the_spans() -> None:
    def collected(argument: str, gave: dict[str, Any]) -> Any:
        values = {"input": argument, "output": json.dumps(gave)}
        body = {key: {"messages": [{"content": value}]} for key, value in values.items()}
        event = SpanEvent(LANGCHAIN, None, body)
        return read(None, {}, scope=LANGCHAIN, name=LANGCHAIN, events=[event])

    calls = [{"name": "weather", "args": {"city": "Rome"}, "id": "c1"}]
    request = collected(
        "Rain?", {"generations": [[{"text": "", "message": {"tool_calls": calls}}]]}
    )
    assert request.input == [message("user", [text("Rain?")])]
    assert request.output == [message("assistant", [tool_call("weather", {"city": "Rome"}, "c1")])]
    messages = {"type": "tool", "name": "weather", "content": "no", "tool_call_id": "c1"}
    used = collected("{'city': 'Rome'}", messages)
    assert (used.name, used.call_id, used.result) == ("weather", "c1", "no")
