"""Every older generation of the conventions is read; two of them can be written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentool_otel.dialects import classify
from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.errors import ConfigurationError
from agentool_otel.model.messages import message, reasoning, text, tool_call, tool_response
from agentool_otel.model.operations import Inference, ToolExecution, Unclassified, Usage
from agentool_otel.model.spans import SpanEvent, SpanRecord

ASKED = message("user", [text("hi")])
CALL = tool_call("f", {"a": 1}, "c1")


def read(attributes: dict[str, Any], *events: SpanEvent, **fields: Any) -> Any:
    span = SpanRecord("1" * 32, "2" * 16, attributes=attributes, events=list(events), **fields)
    return classify(span)[1]


def event(name: str, **attributes: Any) -> SpanEvent:
    return SpanEvent(name, attributes=attributes)


def test_v1_26_prompt_and_completion_attributes_are_messages() -> None:
    operation = read(
        {
            "gen_ai.system": "openai",
            "gen_ai.request.model": "gpt-4",
            "gen_ai.usage.prompt_tokens": 3,
            "gen_ai.usage.completion_tokens": 4,
            "gen_ai.prompt": json.dumps([{"role": "user", "content": "hi"}]),
            "gen_ai.completion": json.dumps([{"role": "assistant", "content": "hello"}]),
        }
    )
    assert operation == Inference(
        provider="openai",
        request_model="gpt-4",
        usage=Usage(input_tokens=3, output_tokens=4),
        input=[ASKED],
        output=[message("assistant", [text("hello")])],
    )


def test_v1_27_content_events_are_messages() -> None:
    operation = read(
        {"gen_ai.operation.name": "chat"},
        event("gen_ai.content.prompt", **{"gen_ai.prompt": '[{"role":"user","content":"hi"}]'}),
        event("gen_ai.content.completion", **{"gen_ai.completion": "hello"}),
    )
    assert operation.input == [ASKED]
    assert operation.output == [message("assistant", [text("hello")])]


def test_calls_in_events_of_awss_sdk_for_java_are_calls() -> None:
    """OpenTelemetry Java agent 2.33, Bedrock."""
    calls = [{"id": "c1", "type": "function", "name": "f", "arguments": '{"a":1}'}]
    operation = read(
        {"gen_ai.operation.name": "chat"},
        event("gen_ai.choice", index=0, finish_reason="tool_use", toolCalls=json.dumps(calls)),
    )
    assert operation.output == [message("assistant", [CALL], "tool_call")]


def test_v1_28_message_events_are_messages_in_order() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}]
    operation = read(
        {"gen_ai.operation.name": "chat"},
        event("gen_ai.user.message", content="hi"),
        event("gen_ai.assistant.message", tool_calls=json.dumps(calls)),
        event("gen_ai.tool.message", content="found", id="c1"),
        event("gen_ai.choice", index=0, finish_reason="tool_calls", tool_calls=json.dumps(calls)),
    )
    assert operation.input == [
        ASKED,
        message("assistant", [CALL]),
        message("tool", [tool_response("found", "c1")]),
    ]
    assert operation.output == [message("assistant", [CALL], "tool_call")]


def test_bedrock_blocks_in_message_events_are_parts() -> None:
    blocks = [
        {"reasoningContent": {"reasoningText": {"text": "hm"}}},
        {"text": "let me look"},
        {"toolUse": {"toolUseId": "c1", "name": "f", "input": {"a": 1}}},
    ]
    operation = read(
        {"gen_ai.operation.name": "chat"},
        event("gen_ai.choice", message=json.dumps(blocks), finish_reason="tool_use"),
    )
    [output] = operation.output
    assert output["parts"] == [reasoning("hm"), text("let me look"), CALL]


def test_a_details_event_holds_current_attributes() -> None:
    operation = read(
        {"gen_ai.operation.name": "chat"},
        event(
            "gen_ai.client.inference.operation.details",
            **{"gen_ai.input.messages": json.dumps([ASKED]), "gen_ai.response.model": "m"},
        ),
    )
    assert (operation.input, operation.response_model) == ([ASKED], "m")


def test_indexed_attributes_are_messages_with_tool_calls() -> None:
    operation = read(
        {
            "gen_ai.system": "OpenAI",
            "llm.request.type": "chat",
            "gen_ai.request.model": "gpt-4",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "hi",
            "gen_ai.prompt.10.role": "tool",
            "gen_ai.prompt.10.content": "found",
            "gen_ai.prompt.10.tool_call_id": "c1",
            "gen_ai.prompt.2.role": "assistant",
            "gen_ai.prompt.2.tool_calls.0.id": "c1",
            "gen_ai.prompt.2.tool_calls.0.name": "f",
            "gen_ai.prompt.2.tool_calls.0.arguments": '{"a":1}',
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "done",
            "gen_ai.completion.0.finish_reason": "stop",
        }
    )
    assert operation.input == [
        ASKED,
        message("assistant", [CALL]),
        message("tool", [tool_response("found", "c1")]),
    ]
    assert operation.output == [message("assistant", [text("done")], "stop")]


def test_a_prompt_template_name_is_not_taken_for_a_message() -> None:
    operation = read({"gen_ai.operation.name": "chat", "gen_ai.prompt.name": "greeting"})
    assert operation.extra == {"gen_ai.prompt.name": "greeting"}


@pytest.mark.parametrize(
    ("old", "field", "value"),
    [
        ("gen_ai.response.finish_reason", "finish_reasons", ["stop"]),
        ("gen_ai.request.reasoning_effort", "reasoning_level", "stop"),
    ],
)
def test_names_that_moved_are_read(old: str, field: str, value: Any) -> None:
    operation = read({"gen_ai.operation.name": "chat", old: "stop"})
    assert getattr(operation, field) == value


def test_a_current_name_wins_over_its_older_form() -> None:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.system": "old"}
    assert read({**attributes, "gen_ai.provider.name": "new"}).provider == "new"


def test_arguments_in_text_in_text_are_an_object() -> None:
    twice = json.dumps(json.dumps({"a": 1}))
    operation = read({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": twice})
    assert operation.arguments == {"a": 1}


def test_structured_values_are_read_as_well_as_text() -> None:
    operation = read({"gen_ai.operation.name": "chat", "gen_ai.input.messages": [ASKED]})
    assert operation.input == [ASKED]


def test_numbers_that_a_store_made_text_are_numbers_again() -> None:
    operation = read({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": "12"})
    assert operation.usage == Usage(input_tokens=12)


def test_cut_json_stays_visible_instead_of_vanishing() -> None:
    cut = '[{"role":"user","parts":[{"type":"te'
    operation = read({"gen_ai.operation.name": "chat", "gen_ai.input.messages": cut})
    assert operation.input is None
    assert operation.extra == {"gen_ai.input.messages": cut}


def test_a_placeholder_of_another_sdk_is_not_a_value() -> None:
    operation = read(
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": "<not specified>"}
    )
    assert operation.call_id is None


def test_a_kind_that_a_store_dropped_is_read_from_our_attribute() -> None:
    attributes = {"gen_ai.operation.name": "invoke_agent", "agentool.span.kind": "CLIENT"}
    assert read(attributes, kind="INTERNAL").remote


def test_a_tool_span_filled_in_by_hand_has_bare_names() -> None:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}
    bare = {"input": '{"a": 1}', "output": "done"}
    operation = read({**attributes, **bare})
    assert (operation.arguments, operation.result, operation.extra) == ({"a": 1}, "done", {})
    operation = read({**attributes, **bare, "gen_ai.tool.call.arguments": "{}"})
    assert (operation.arguments, operation.extra) == ({}, {"input": '{"a": 1}'})


def test_a_handoff_operation_is_a_transfer() -> None:
    operation = read(
        {
            "gen_ai.operation.name": "agent_handoff",
            "gen_ai.handoff.from_agent": "a",
            "gen_ai.handoff.to_agent": "b",
        }
    )
    assert operation == ToolExecution(
        name="transfer_to_b", transfer_target="b", agent_name="a", extra={}
    )


def test_an_unknown_operation_keeps_all_its_attributes() -> None:
    attributes = {"gen_ai.operation.name": "think_hard", "gen_ai.x": 1}
    assert read(attributes) == Unclassified(extra=attributes)


def test_an_unrelated_span_is_of_no_dialect() -> None:
    span = SpanRecord("1" * 32, "2" * 16, attributes={"http.method": "GET"})
    assert classify(span) == (None, Unclassified(extra={"http.method": "GET"}))


@pytest.mark.parametrize("generation", ["1.41", "1.36"])
def test_what_an_older_generation_writes_is_read_back(generation: str) -> None:
    operation = Inference(
        provider="x_ai",
        request_model="grok",
        usage=Usage(input_tokens=1, output_tokens=2),
        finish_reasons=["stop"],
        temperature=0.5,
    )
    name, kind, attributes = GenAI(generation).write(operation)
    assert read(attributes, name=name, kind=kind) == operation


def test_generation_1_36_uses_the_names_of_its_time() -> None:
    _, _, attributes = GenAI("1.36").write(Inference(provider="x_ai"))
    assert attributes == {"gen_ai.operation.name": "chat", "gen_ai.system": "xai"}


def test_an_unknown_generation_is_refused_by_name() -> None:
    with pytest.raises(ConfigurationError, match=r"unknown semconv generation '0\.9'; known are"):
        GenAI("0.9")


def test_a_choice_with_only_a_tool_call_is_a_message() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    json_text = json.dumps({"role": "assistant", "tool_calls": [call]})
    operation = read({"gen_ai.operation.name": "chat"}, event("gen_ai.choice", message=json_text))
    assert operation.output == [message("assistant", [CALL])]


@pytest.mark.parametrize(
    "messages",
    [
        "hi",
        '[{"role": "user", "content": "hi"}]',
        '[{"role": "user", "parts": [{"text": "hi"}]}]',
        '{"role": "user", "parts": [{"type": "text", "content": "hi"}]}',
        ['{"role": "user", "content": "hi"}'],
        [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
    ],
)
def test_messages_in_any_providers_shape_are_read(messages: Any) -> None:
    operation = read({"gen_ai.operation.name": "chat", "gen_ai.input.messages": messages})
    assert operation.input == [ASKED]


def test_tool_calls_in_openais_shape_are_read() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    json_text = json.dumps([{"role": "assistant", "content": None, "tool_calls": [call]}])
    operation = read({"gen_ai.operation.name": "chat", "gen_ai.output.messages": json_text})
    assert operation.output == [message("assistant", [CALL])]


def test_messages_that_were_cut_in_the_middle_stay_unread() -> None:
    operation = read(
        {"gen_ai.operation.name": "chat", "gen_ai.input.messages": '[{"role": "user", "con'}
    )
    assert operation.input is None
    assert "gen_ai.input.messages" in operation.extra


def test_instructions_that_are_bare_text_are_a_part() -> None:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.system_instructions": "be brief"}
    assert read(attributes).system == [text("be brief")]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({"gen_ai.agent.handoff.target.name": "clerk"}, "execute_tool transfer_to_clerk"),
        ({"gen_ai.transfer.target.name": "clerk"}, "execute_tool pass_on"),
        ({"gen_ai.operation.name": "agent_handoff", "gen_ai.handoff.to_agent": "clerk"}, ""),
        ({"gen_ai.operation.name": "handoff"}, "handoff from chief to clerk"),
    ],
)
def test_a_handoff_is_read_in_every_proposed_form(said: dict[str, str], name: str) -> None:
    attributes = {"gen_ai.operation.name": "execute_tool", **said}
    assert read(attributes, name=name).transfer_target == "clerk"


def test_indexed_messages_under_the_current_names_are_messages() -> None:
    operation = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages.0.role": "user",
            "gen_ai.input.messages.0.content": "hi",
            "gen_ai.output.messages.0.content": "hello",
        }
    )
    assert operation.input == [ASKED]
    assert operation.output == [message("assistant", [text("hello")])]


def test_an_indexed_refusal_is_a_part() -> None:
    operation = read({"llm.request.type": "chat", "gen_ai.completion.0.refusal": "no"})
    assert operation.output[0]["parts"] == [{"type": "refusal", "content": "no"}]


def test_an_exception_in_a_log_record_is_the_spans_error() -> None:
    record = event(
        "gen_ai.client.operation.exception",
        **{"exception.type": "RateLimitError", "exception.message": "slow down"},
    )
    operation = read({"gen_ai.operation.name": "chat"}, record)
    assert (operation.error_type, operation.error_message) == ("RateLimitError", "slow down")


def test_the_body_of_azures_events_is_one_attribute() -> None:
    operation = read(
        {"gen_ai.operation.name": "chat"},
        event("gen_ai.user.message", **{"gen_ai.event.content": '{"role":"user","content":"hi"}'}),
        event("gen_ai.choice", **{"gen_ai.event.content": '{"message":{"content":"hello"}}'}),
    )
    assert operation.input == [ASKED]
    assert operation.output == [message("assistant", [text("hello")])]


def test_a_run_with_message_events_ends_with_the_answer() -> None:
    operation = read(
        {"gen_ai.operation.name": "invoke_agent"},
        event("gen_ai.user.message", content="hi"),
        event("gen_ai.assistant.message", content={"text": {"value": "hello"}}),
    )
    assert operation.input == [ASKED]
    assert operation.output == [message("assistant", [text("hello")])]


def test_a_choice_of_google_has_its_parts_in_the_content() -> None:
    turn = {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"a": 1}}}]}
    operation = read({"gen_ai.operation.name": "chat"}, event("gen_ai.choice", content=turn))
    assert operation.output == [message("assistant", [tool_call("f", {"a": 1})])]


def test_sentrys_names_of_request_and_answer_are_read() -> None:
    operation = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.messages": '[{"role":"user","content":"hi"}]',
            "gen_ai.response.text": '["hello"]',
            "gen_ai.response.tool_calls": '[{"id":"c1","name":"f","arguments":"{\\"a\\":1}"}]',
        }
    )
    assert operation.input == [ASKED]
    assert operation.output == [message("assistant", [text("hello"), CALL])]


def test_a_details_event_in_older_names_is_read() -> None:
    body = {"gen_ai.usage.cache_creation.input_tokens": 3}
    operation = read(
        {"gen_ai.operation.name": "chat"},
        event("gen_ai.client.inference.operation.details", **body),
    )
    assert operation.usage == Usage(cache_write_tokens=3)
    assert operation.extra == {}


def test_a_failed_span_has_the_type_of_its_exception() -> None:
    raised = event("exception", **{"exception.type": "ValueError", "exception.message": "no"})
    operation = read({"gen_ai.operation.name": "chat"}, raised, status="ERROR")
    assert (operation.error_type, operation.error_message) == ("ValueError", "no")


def test_the_printed_class_of_an_error_is_its_name() -> None:
    operation = read({"gen_ai.operation.name": "chat", "error.type": "<class 'a.NotFound'>"})
    assert operation.error_type == "a.NotFound"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True},
        {"toolResult": {"toolUseId": "c1", "content": "no", "status": "error"}},
        {"type": "tool-error", "toolCallId": "c1", "error": "no"},
        {
            "type": "tool-result",
            "toolCallId": "c1",
            "output": {"type": "error-text", "value": "no"},
        },
    ],
)
def test_a_result_that_a_provider_flags_as_an_error_stays_one(block: dict[str, Any]) -> None:
    sent = json.dumps([{"role": "user", "content": [block]}])
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": sent}
    _, operation = classify(SpanRecord("1" * 32, "2" * 16, attributes=attributes))
    assert isinstance(operation, Inference)
    assert operation.input == [message("user", [{**tool_response("no", "c1"), "is_error": True}])]


def test_a_completion_of_thinking_is_reasoning() -> None:
    """OpenLLMetry before 0.55, of Anthropic's models."""
    operation = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.completion.0.role": "thinking",
            "gen_ai.completion.0.content": "Hm.",
            "gen_ai.completion.1.role": "assistant",
            "gen_ai.completion.1.content": "hello",
        }
    )
    assert operation.output == [
        message("assistant", [reasoning("Hm.")]),
        message("assistant", [text("hello")]),
    ]


def test_spans_of_a_model_server_are_model_calls() -> None:
    attributes = {
        "gen_ai.latency.e2e": 0.5,
        "gen_ai.latency.time_in_queue": 0.01,
        "gen_ai.usage.prompt_tokens": 41,
        "gen_ai.usage.completion_tokens": 23,
        "gen_ai.request.id": "chatcmpl-1",
    }
    request = SpanRecord("a" * 32, "b" * 16, name="llm_request", attributes=attributes)
    _, operation = classify(request)
    assert isinstance(operation, Inference)
    assert operation.usage == Usage(input_tokens=41, output_tokens=23)
