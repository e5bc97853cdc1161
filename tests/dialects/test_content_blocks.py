"""Content blocks of Anthropic's, Bedrock's and Google's APIs, in the dialects that keep them."""

from __future__ import annotations

import json
from typing import Any

from agentool_otel.dialects import classify
from agentool_otel.model.messages import message, parts_of, reasoning, text, tool_response
from tests.dialects.spelled import span, spelled
from tests.dialects.spelled import text as lines

SEALED = {**reasoning(""), "encrypted_content": "c2VhbGVk"}
SIGNED = {**reasoning("Hm."), "signature": "c2ln"}
ANTHROPIC = [
    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "c2VhbGVk"},
]
BEDROCK = [
    {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
    {"reasoningContent": {"redactedContent": "c2VhbGVk"}},
]
FAILED = {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}


def read(attributes: dict[str, Any], **fields: Any) -> Any:
    return classify(span(attributes, **fields))[1]


def stored(value: Any, gave: Any = None) -> Any:
    """A model call as MLflow keeps it: the request and the response."""
    attributes = {"mlflow.spanInputs": json.dumps(value), "mlflow.spanOutputs": json.dumps(gave)}
    return read({"mlflow.spanType": '"CHAT_MODEL"', **attributes})


def test_thoughts_are_kept_with_their_signature() -> None:
    langchain = {"type": "reasoning_content", "reasoning_content": {"text": "Hm."}}
    answered = stored({}, {"role": "assistant", "content": [langchain]})
    assert parts_of(answered.output[0]) == [reasoning("Hm.")]
    for blocks in (ANTHROPIC, BEDROCK):
        answer = {"role": "assistant", "content": blocks}
        assert parts_of(stored({}, answer).output[0]) == [SIGNED, SEALED]


def test_a_result_flagged_as_an_error_stays_flagged() -> None:
    bedrock = {"toolResult": {"toolUseId": "c1", "content": "no", "status": "error"}}
    expected = {**tool_response("no", "c1"), "is_error": True}
    for block in (FAILED, bedrock):
        request = stored({"messages": [{"role": "user", "content": [block]}]})
        assert parts_of(request.input[0]) == [expected]


def test_a_request_to_bedrock_has_its_model_and_tools() -> None:
    tool = {"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}
    request = stored({"modelId": "claude", "toolConfig": {"tools": [tool]}, "messages": []})
    assert request.request_model == "claude"
    assert request.tools == [{"type": "function", "name": "look", "parameters": {"type": "object"}}]


def test_a_request_to_a_model_of_bedrock_is_in_its_body() -> None:
    body = json.dumps({"max_tokens": 9, "messages": [{"role": "user", "content": "?"}]})
    gave = {"ResponseMetadata": {}, "body": {"role": "assistant", "content": "!"}}
    request = stored({"modelId": "claude", "body": body}, gave)
    assert (request.request_model, request.max_tokens) == ("claude", 9)
    assert request.input == [message("user", [text("?")])]
    assert request.output == [message("assistant", [text("!")])]


def test_the_printed_name_of_a_stream_is_not_an_answer() -> None:
    assert stored({}, "<anthropic.Stream object at 0x7fe8392d0c90>").output is None
    assert stored({}, {"ResponseMetadata": {}, "body": "EventStream"}).output is None


def test_google_takes_the_parts_of_one_message() -> None:
    request = stored({"contents": ["What is this?", {"text": None, "inline_data": {}}]})
    assert parts_of(request.input[0])[0] == text("What is this?")


def test_openinference_calls_a_sealed_thought_data() -> None:
    part = "llm.output_messages.0.message.contents.0.message_content"
    texts = {f"{part}.type": "reasoning", f"{part}.data": "c2VhbGVk"}
    answered = read({"openinference.span.kind": "LLM", **texts})
    assert parts_of(answered.output[0]) == [SEALED]


def test_openinference_takes_thoughts_and_errors_from_the_values() -> None:
    """Flattened messages have no name for an error, and LangChain's leave the thoughts out."""
    kwargs = {"content": [*ANTHROPIC, {"type": "text", "text": "So."}]}
    results = {"type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": kwargs}
    operation = read(
        {
            "openinference.span.kind": "LLM",
            "input.value": json.dumps({"messages": [{"role": "user", "content": [FAILED]}]}),
            "llm.input_messages.0.message.role": "tool",
            "llm.input_messages.0.message.tool_call_id": "c1",
            "llm.input_messages.0.message.content": "no",
            "output.value": json.dumps({"generations": [[{"message": results}]]}),
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "So.",
        }
    )
    assert parts_of(operation.input[0]) == [{**tool_response("no", "c1"), "is_error": True}]
    assert parts_of(operation.output[0]) == [SIGNED, SEALED, text("So.")]


def test_openinference_joins_results_that_are_separate_in_the_value() -> None:
    """Of Bedrock's, which writes one message for them, without ids."""
    results = [{"type": "tool_result", "tool_use_id": name, "content": name} for name in ("a", "b")]
    part = "llm.input_messages.1.message.contents"
    operation = read(
        {
            "openinference.span.kind": "LLM",
            "input.value": json.dumps({"messages": [{"role": "user", "content": results}]}),
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.0.message.content": "Be brief.",
            "llm.input_messages.1.message.role": "tool",
            f"{part}.0.message_content.text": "a",
            f"{part}.1.message_content.text": "b",
        }
    )
    assert [parts_of(item) for item in operation.input] == [
        [text("Be brief.")],
        [tool_response("a", "a"), tool_response("b", "b")],
    ]


def test_openllmetry_encodes_the_thoughts_it_does_not_know() -> None:
    parts = [{"type": "text", "content": json.dumps(item)} for item in (BEDROCK[0], ANTHROPIC[1])]
    json_text = json.dumps([{"role": "assistant", "parts": parts}])
    scope = "opentelemetry.instrumentation.bedrock"
    answered = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.output.messages": json_text,
            "llm.request.type": "chat",
        },
        scope=scope,
    )
    assert parts_of(answered.output[0]) == [SIGNED, SEALED]


def test_openllmetry_leaves_googles_tools_as_they_were_declared() -> None:
    declared = [{"function_declarations": [{"name": "look", "parameters": {}}]}]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": json.dumps(declared)}
    operation = read(attributes, scope="opentelemetry.instrumentation.google_generativeai")
    assert operation.tools == [{"type": "function", "name": "look", "parameters": {}}]


def test_openlit_prints_the_input_of_googles_models() -> None:
    part = {"type": "tool_call_response", "id": "", "response": "{'result': {'degrees': 18}}"}
    json_text = json.dumps([{"role": "user", "parts": [part]}])
    operation = read(
        {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json_text}, scope="openlit"
    )
    assert parts_of(operation.input[0])[0]["response"] == {"result": {"degrees": 18}}


def test_openlit_names_a_call_that_failed_in_its_span_only() -> None:
    failed = span({}, name="chat no-such-model", scope="openlit.anthropic", status="ERROR")
    assert spelled(failed) == lines("""
        openlit: chat model=no-such-model error=_OTHER
    """)
