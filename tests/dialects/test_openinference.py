"""Attributes of OpenInference's instrumentors, and their reading."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET

from agentool_otel.dialects import classify
from agentool_otel.model.messages import message, reasoning, text, tool_call, tool_response
from agentool_otel.model.operations import (
    AgentInvocation,
    EvaluationResult,
    Inference,
    Retrieval,
    ToolExecution,
    Unclassified,
    Usage,
    WorkflowInvocation,
)
from agentool_otel.model.spans import SpanEvent, SpanRecord


def read(kind: str | None, attributes: dict[str, Any], **fields: Any) -> Any:
    if kind is not None:
        attributes = {"openinference.span.kind": kind, **attributes}
    dialect, operation = classify(SpanRecord("1" * 32, "2" * 16, attributes=attributes, **fields))
    assert dialect == "openinference"
    return operation


def test_a_model_call_with_all_its_parts() -> None:
    output = "llm.output_messages.0.message"
    operation = read(
        "LLM",
        {
            "llm.model_name": "gpt-4-0613",
            "llm.provider": "openai",
            "llm.invocation_parameters": '{"model":"gpt-4","temperature":0.5,"stop":"END","x":1}',
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "hi",
            f"{output}.role": "assistant",
            f"{output}.contents.0.message_content.type": "reasoning",
            f"{output}.contents.0.message_content.text": "hm",
            f"{output}.contents.0.message_content.signature": "s1",
            f"{output}.contents.1.message_content.type": "text",
            f"{output}.contents.1.message_content.text": "let me look",
            f"{output}.tool_calls.0.tool_call.id": "c1",
            f"{output}.tool_calls.0.tool_call.function.name": "f",
            f"{output}.tool_calls.0.tool_call.function.arguments": '{"a":1}',
            "llm.tools.0.tool.json_schema": '{"type":"function","function":{"name":"f"}}',
            "llm.token_count.prompt": 3,
            "llm.token_count.completion": 4,
            "llm.token_count.prompt_details.cache_input": 2,
            "llm.token_count.completion_details.reasoning": 1,
            "llm.cost.total": 0.25,
            "llm.finish_reason": "tool_calls",
            "session.id": "s",
            "user.id": "u",
        },
    )
    assert operation == Inference(
        provider="openai",
        request_model="gpt-4",
        response_model="gpt-4-0613",
        temperature=0.5,
        stop_sequences=["END"],
        input=[message("user", [text("hi")])],
        output=[
            message(
                "assistant",
                [
                    {**reasoning("hm"), "signature": "s1"},
                    text("let me look"),
                    tool_call("f", {"a": 1}, "c1"),
                ],
            )
        ],
        tools=[{"type": "function", "name": "f"}],
        usage=Usage(input_tokens=3, output_tokens=4, cache_read_tokens=2, reasoning_tokens=1),
        cost_usd=0.25,
        finish_reasons=["tool_calls"],
        conversation_id="s",
        extra={"llm.invocation_parameters": '{"x":1}', "user.id": "u"},
    )


def test_encrypted_reasoning_is_kept() -> None:
    block = "llm.output_messages.0.message.contents.0.message_content"
    operation = read("LLM", {f"{block}.type": "reasoning", f"{block}.encrypted_content": "gAAA"})
    assert operation.output[0]["parts"] == [{**reasoning(""), "encrypted_content": "gAAA"}]


def test_images_are_references_or_data() -> None:
    block = "llm.input_messages.0.message.contents"
    operation = read(
        "LLM",
        {
            f"{block}.0.message_content.type": "image",
            f"{block}.0.message_content.image.image.url": "https://example.com/cat.png",
            f"{block}.1.message_content.type": "image",
            f"{block}.1.message_content.image.image.url": "data:image/png;base64,QQ==",
        },
    )
    assert operation.input[0]["parts"] == [
        {"type": "uri", "modality": "image", "uri": "https://example.com/cat.png"},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "QQ=="},
    ]


def test_a_tool_call_without_arguments_has_none() -> None:
    name = "llm.output_messages.0.message.tool_calls.0.tool_call.function.name"
    assert read("LLM", {name: "f"}).output[0]["parts"] == [tool_call("f", {})]


def test_the_older_function_call_is_a_tool_call() -> None:
    output = "llm.output_messages.0.message"
    operation = read(
        "LLM",
        {f"{output}.function_call_name": "f", f"{output}.function_call_arguments_json": '{"a":1}'},
    )
    assert operation.output[0]["parts"] == [tool_call("f", {"a": 1})]


def test_messages_reassembled_by_a_store_are_read_too() -> None:
    texts = [{"message": {"role": "user", "content": "hi"}}]
    dotted = [{"message.role": "user", "message.content": "hi"}]
    for value in (texts, dotted, json.dumps(texts)):
        operation = read("LLM", {"llm.input_messages": value})
        assert operation.input == [message("user", [text("hi")])]


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("just text", [text("just text")]),
        ('{"choices":[{"message":{"role":"assistant","content":"yes"}}]}', [text("yes")]),
        ('{"content":{"parts":[{"text":"yes"}],"role":"model"}}', [text("yes")]),
        ('{"text":"yes","finish_reason":"stop"}', [text("yes")]),
    ],
)
def test_an_answer_that_is_only_a_value_is_a_message(value: str, parts: list[Any]) -> None:
    [output] = read("LLM", {"output.value": value}).output
    assert (output["role"], output["parts"]) == ("assistant", parts)


def test_a_response_id_and_its_predecessor_are_read_from_the_raw_bodies() -> None:
    operation = read(
        "LLM",
        {
            "output.value": '{"id":"resp_2","object":"response","output":[]}',
            "output.mime_type": "application/json",
            "llm.invocation_parameters": '{"previous_response_id":"resp_1"}',
        },
    )
    assert (operation.response_id, operation.previous_response_id) == ("resp_2", "resp_1")


def test_names_written_twice_are_read_once_and_the_originals_win() -> None:
    operation = read(
        "LLM",
        {
            "llm.provider": "openai",
            "llm.token_count.prompt": 3,
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "x",
            "gen_ai.usage.input_tokens": 9,
            "gen_ai.response.id": "r1",
        },
    )
    usage = Usage(input_tokens=3)
    assert operation == Inference(provider="openai", usage=usage, response_id="r1")


# ---------------------------------------------------------------------------------------- tools


@pytest.mark.parametrize(
    ("attributes", "arguments"),
    [
        ({"input.value": '{"a":1}', "input.mime_type": "application/json"}, {"a": 1}),
        ({"input.value": '{"a":1}'}, {"a": 1}),
        ({"input.value": "714"}, "714"),
        ({"tool.parameters": '{"a":1}'}, {"a": 1}),
        ({"input.value": '{"a":1}', "tool.parameters": '{"a": 1}'}, {"a": 1}),
        ({"tool_call.function.arguments": '{"a":1}'}, {"a": 1}),
    ],
)
def test_arguments_are_found_where_instrumentors_put_them(
    attributes: dict[str, Any], arguments: Any
) -> None:
    operation = read("TOOL", {"tool.name": "f", **attributes})
    assert operation == ToolExecution(name="f", arguments=arguments)


def test_a_schema_is_not_taken_for_arguments() -> None:
    schema = '{"city":{"type":"string"}}'
    operation = read("TOOL", {"tool.name": "f", "tool.parameters": schema})
    assert operation.arguments is UNSET
    assert operation.extra == {"tool.parameters": schema}


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        ({"args": [], "sanitize_inputs_outputs": True, "kwargs": {"a": 1}}, {"a": 1}),
        ({"args": [{"a": 1}], "sanitize_inputs_outputs": True, "kwargs": {}}, {"a": 1}),
        ({"args": ["x"], "sanitize_inputs_outputs": True, "kwargs": {"b": 2}}, {"a": "x", "b": 2}),
    ],
)
def test_smolagents_envelope_is_opened(value: Any, arguments: Any) -> None:
    parameters = '{"a":{"type":"string"},"b":{"type":"integer"}}'
    attributes = {"tool.name": "f", "input.value": json.dumps(value), "tool.parameters": parameters}
    assert read("TOOL", attributes).arguments == arguments


def test_langchains_tool_message_is_opened() -> None:
    value = {"type": "tool", "data": {"content": "18", "tool_call_id": "c1", "status": "success"}}
    operation = read("TOOL", {"tool.name": "f", "output.value": json.dumps(value)})
    assert (operation.call_id, operation.result) == ("c1", "18")


def test_a_tool_message_with_an_error_is_both_error_and_result() -> None:
    value = {"type": "tool", "data": {"content": "no", "tool_call_id": "c1", "status": "error"}}
    operation = read("TOOL", {"tool.name": "f", "output.value": json.dumps(value)})
    assert (operation.tool_error, operation.result) == ("no", "no")


def test_a_tool_of_adk_keeps_adks_own_attributes() -> None:
    operation = read(
        "TOOL",
        {
            "tool.name": "hello",
            "gen_ai.tool.call.id": "c1",
            "gcp.vertex.agent.tool_call_args": '{"a":1}',
            "output.value": '{"id":"c1","name":"hello","response":{"b":2}}',
        },
    )
    assert (operation.call_id, operation.arguments, operation.result) == ("c1", {"a": 1}, {"b": 2})


def test_a_handoff_of_openai_agents_is_a_transfer() -> None:
    operation = read(
        "TOOL", {"input.value": "Triage", "output.value": "Refund Agent"},
        name="handoff to Refund Agent",
    )  # fmt: skip
    assert operation == ToolExecution(
        name="transfer_to_refund_agent", transfer_target="Refund Agent", agent_name="Triage"
    )


@pytest.mark.parametrize(
    "described",
    ["ValueError('no')Traceback (most recent call last): ...", "ValueError: no"],
)
def test_an_exception_event_has_the_error_that_the_status_hides(described: str) -> None:
    operation = read(
        "TOOL",
        {"tool.name": "f"},
        status="ERROR",
        status_message=described,
        events=[
            SpanEvent(
                "exception",
                attributes={"exception.type": "ValueError", "exception.message": "no"},
            )
        ],
    )
    assert (operation.error_type, operation.error_message) == ("ValueError", "no")


def test_a_javascript_stack_is_not_part_of_the_message() -> None:
    output = "no map\n\nTypeError: no map\n    at look (file.mjs:1:2)\n    at run (file.mjs:3:4)"
    operation = read("TOOL", {"tool.name": "f"}, status="ERROR", status_message=output)
    assert (operation.error_type, operation.error_message) == ("TypeError", "no map")


def test_results_wrapped_by_langchain_js_are_unwrapped() -> None:
    kwargs = {"content": "18", "tool_call_id": "c1", "status": "success"}
    results = {"output": {"type": "constructor", "kwargs": kwargs}}
    operation = read("TOOL", {"tool.name": "f", "output.value": json.dumps(results)})
    assert (operation.call_id, operation.result) == ("c1", "18")


def test_calls_without_ids_take_them_from_the_value() -> None:
    call = {"id": "c1", "name": "f", "args": {"a": 1}}
    kwargs = {"content": "", "tool_calls": [call]}
    values = {"type": "constructor", "id": ["AIMessage"], "kwargs": kwargs}
    operation = read(
        "LLM",
        {
            "output.value": json.dumps({"generations": [[{"message": values}]]}),
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f",
        },
    )
    assert operation.output == [message("assistant", [tool_call("f", {"a": 1}, "c1")])]


def test_text_as_the_responses_api_calls_it_is_text() -> None:
    content = "llm.output_messages.0.message.contents.0.message_content"
    operation = read("LLM", {f"{content}.type": "output_text", f"{content}.text": "Hello."})
    assert operation.output == [message("assistant", [text("Hello.")])]


def test_a_result_in_a_users_message_is_a_result() -> None:
    output = "llm.input_messages.0.message"
    messages = {f"{output}.role": "user", f"{output}.tool_call_id": "c1", f"{output}.content": "18"}
    assert read("LLM", messages).input == [message("user", [tool_response("18", "c1")])]


def test_of_results_that_share_a_message_none_is_lost() -> None:
    """Names have room for one, and Anthropic's API has all of them in one message."""
    output = "llm.input_messages.0.message"
    results = [
        {"type": "tool_result", "tool_use_id": name, "content": name} for name in ("c1", "c2")
    ]
    operation = read(
        "LLM",
        {
            f"{output}.role": "user",
            f"{output}.tool_call_id": "c2",
            f"{output}.content": "c2",
            "input.value": json.dumps({"messages": [{"role": "user", "content": results}]}),
        },
    )
    parts = [tool_response("c1", "c1"), tool_response("c2", "c2")]
    assert operation.input == [message("user", parts)]


# --------------------------------------------------------------------- agents, chains, the others


def test_a_crewai_agents_input_is_its_task_and_its_output_the_raw_one() -> None:
    arguments = '{"agent": {"role": "writer"}, "context": "", "tools": []}'
    operation = read(
        "AGENT",
        {
            "graph.node.id": "writer",
            "task_key": "k",
            "formatted_description": "Write.",
            "input.value": arguments,
            "input.mime_type": "application/json",
            "output.value": '{"description": "Write.", "raw": "A line.", "json_dict": null}',
            "output.mime_type": "application/json",
        },
    )
    assert (operation.input, operation.output) == (
        [message("user", [text("Write.")])],
        [message("assistant", [text("A line.")])],
    )
    assert operation.extra["input.value"] == arguments


def test_an_agent_is_named_by_its_node_where_it_has_no_name() -> None:
    assert read("AGENT", {"graph.node.id": "Refunds"}).agent_name == "Refunds"


@pytest.mark.parametrize(
    ("name", "agent"), [("weather.run", "weather"), ("agent_run [hello]", "hello"), ("x", "x")]
)
def test_an_agent_is_named_by_its_span_at_last(name: str, agent: str) -> None:
    assert read("AGENT", {}, name=name).agent_name == agent


def test_the_whole_run_of_openai_agents_is_a_workflow() -> None:
    scope = "openinference.instrumentation.openai_agents"
    operation = read("AGENT", {}, name="Agent workflow", scope=scope)
    assert operation == WorkflowInvocation(workflow_name="Agent workflow")


def test_an_agents_input_and_output_are_messages() -> None:
    operation = read(
        "AGENT",
        {
            "agent.name": "a",
            "input.value": '{"task":"do it","stream":false}',
            "output.value": "done",
        },
    )
    assert operation == AgentInvocation(
        agent_name="a",
        input=[message("user", [text("do it")])],
        output=[message("assistant", [text("done")])],
    )


def test_an_agno_agents_input_is_its_message_not_the_printed_objects() -> None:
    values = {"run_response": "RunResponse(content=None)", "session_id": "s", "message": "hi"}
    operation = read("AGENT", {"input.value": json.dumps(values)})
    assert operation.input == [message("user", [text("hi")])]


def test_a_graphs_output_is_the_answer_in_its_state() -> None:
    state = {
        "messages": [
            {"type": "human", "data": {"content": "hi"}},
            {"type": "ai", "data": {"content": "hello"}},
        ]
    }
    attributes = {"input.value": '{"messages":[["user","hi"]]}', "output.value": json.dumps(state)}
    assert read("CHAIN", attributes, name="LangGraph", parent_id="3" * 16) == WorkflowInvocation(
        workflow_name="LangGraph",
        input=[message("user", [text("hi")])],
        output=[message("assistant", [text("hello")])],
    )


def test_a_chain_that_langchain_calls_an_agent_is_one() -> None:
    attributes = {"metadata": '{"lc_agent_name":"weather"}'}
    assert read("CHAIN", attributes, name="weather", parent_id="3" * 16).agent_name == "weather"
    inner = read("CHAIN", attributes, name="model", parent_id="3" * 16)
    assert isinstance(inner, Unclassified)


@pytest.mark.parametrize("kind", ["GUARDRAIL", "PROMPT", "UNKNOWN", "SOMETHING"])
def test_a_kind_without_an_operation_keeps_all_attributes(kind: str) -> None:
    operation = read(kind, {"input.value": "x", "session.id": "s"})
    results = {"openinference.span.kind": kind, "input.value": "x"}
    assert operation == Unclassified(conversation_id="s", extra=results)


def test_a_retrieval_has_documents() -> None:
    document = "retrieval.documents.0.document"
    operation = read(
        "RETRIEVER",
        {
            "input.value": "what?",
            f"{document}.id": "d1",
            f"{document}.content": "that",
            f"{document}.score": 0.5,
            f"{document}.metadata": '{"page":1}',
        },
    )
    document_read = {"content": "that", "id": "d1", "metadata": {"page": 1}, "score": 0.5}
    assert operation == Retrieval(query="what?", documents=[document_read])


def test_a_reranking_is_a_retrieval_marked_as_such() -> None:
    operation = read(
        "RERANKER",
        {
            "reranker.query": "what?",
            "reranker.top_k": 1,
            "reranker.model_name": "m",
            "reranker.output_documents.0.document.content": "that",
        },
    )
    assert operation == Retrieval(
        query="what?", top_k=1, request_model="m", documents=[{"content": "that"}],
        extra={"openinference.span.kind": "RERANKER"},
    )  # fmt: skip


def test_an_evaluators_annotation_is_its_verdict() -> None:
    annotation = "annotations.0.annotation"
    operation = read(
        "EVALUATOR",
        {
            f"{annotation}.name": "correct",
            f"{annotation}.score": 1.0,
            f"{annotation}.label": "yes",
            f"{annotation}.annotator_kind": "LLM",
        },
    )
    assert operation == EvaluationResult(
        name="correct", score=1.0, label="yes", extra={f"{annotation}.annotator_kind": "LLM"}
    )


def test_a_text_completion_has_prompts_and_choices() -> None:
    operation = read(
        "LLM", {"llm.prompts.0.prompt.text": "once", "llm.choices.0.completion.text": "upon"}
    )
    assert operation.input == [message("user", [text("once")])]
    assert operation.output == [message("assistant", [text("upon")])]


def test_a_span_without_a_kind_is_recognised_by_its_attributes() -> None:
    assert read(None, {"llm.token_count.prompt": 3}) == Inference(usage=Usage(input_tokens=3))
    answered = {
        "llm.input_messages.0.message.role": "tool",
        "llm.input_messages.0.message.tool_call_id": "c1",
        "llm.input_messages.0.message.content": "found",
    }
    assert read(None, answered).input == [message("tool", [tool_response("found", "c1")])]


def test_arguments_that_langchain_printed_are_an_object() -> None:
    operation = read("TOOL", {"input.value": "{'a': 1, 'b': None}"}, name="f")
    assert operation.arguments == {"a": 1, "b": None}


def test_a_value_with_the_mime_type_of_text_stays_text() -> None:
    attributes = {"input.value": "{'a': 1}", "input.mime_type": "text/plain"}
    operation = read("TOOL", attributes, name="f")
    assert operation.arguments == "{'a': 1}"
