"""OpenInference's names in addition to ours: the added attributes, and that reading
ignores them.
"""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentool_otel.dialects import classify
from agentool_otel.dialects.openinference import repeated_names as names
from agentool_otel.loading import rebuild
from agentool_otel.model import operations as ops
from agentool_otel.model.messages import message, reasoning, text, tool_call, tool_response
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.otlp.protobuf_encoder import encode_span
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.replaying import replay
from agentool_otel.semconv.marks import MARK_LENGTH, MARK_TRUNCATED
from agentool_otel.semconv.table import CONTENT
from tests.dialects.test_gen_ai_law import collected, operations
from tests.strategies import traces

THEIRS = st.dictionaries(
    st.sampled_from(
        [
            *(
                "input.value",
                "output.mime_type",
                "session.id",
                "user.id",
                "openinference.span.kind",
            ),
            *("retrieval.documents.0.document.id", "langfuse.observation.completion_start_time"),
            *("agentool.also", "metadata"),
        ]
    ),
    st.text(max_size=4) | st.just("openinference"),
    max_size=3,
)


def with_names(span: SpanRecord) -> SpanRecord:
    return structs.replace(span, attributes={**span.attributes, **names.added_names(span)})


def added(operation: ops.Operation) -> Attributes:
    """Return the attributes that are added to the span of an operation, without their mark."""
    result = names.added_names(collected(operation))
    assert result.pop("agentool.also") == "openinference"
    return result


def values(operation: ops.Operation) -> tuple[Any, Any]:
    """Input and output, as they are shown: text, or the value of JSON text."""
    result = added(operation)
    return shown(result, "input"), shown(result, "output")


def shown(attributes: Attributes, side: str) -> Any:
    as_json = attributes.get(f"{side}.mime_type") == "application/json"
    return json.loads(attributes[f"{side}.value"]) if as_json else attributes.get(f"{side}.value")


# ----------------------------------------------------------------------------------- what is added


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        (ops.AgentInvocation(agent_name="a"), "AGENT"),
        (ops.ToolExecution(name="t"), "TOOL"),
        (ops.ToolExecution(name="transfer_to_b", transfer_target="b"), "TOOL"),
        (ops.Retrieval(), "RETRIEVER"),
        (ops.MemoryOperation(operation="search_memory"), "RETRIEVER"),
        (ops.MemoryOperation(operation="upsert_memory"), "CHAIN"),
        (ops.WorkflowInvocation(), "CHAIN"),
        (ops.Plan(), "CHAIN"),
        (ops.Unclassified(extra={"app.note": 1}), "CHAIN"),
    ],
)
def test_every_span_but_model_calls_has_a_kind(operation: ops.Operation, kind: str) -> None:
    assert added(operation)["openinference.span.kind"] == kind


@pytest.mark.parametrize("operation", [ops.Inference(), ops.Embeddings(request_model="e")])
def test_model_calls_have_none(operation: ops.Operation) -> None:
    assert names.added_names(collected(operation)) == {}


def test_a_run_shows_its_first_and_last_message() -> None:
    run = ops.AgentInvocation(
        input=[message("user", [text("1+2?")])], output=[message("assistant", [text("3")], "stop")]
    )
    assert values(run) == ("1+2?", "3")
    assert added(run)["input.mime_type"] == "text/plain"


def test_a_run_without_text_shows_its_input_as_json() -> None:
    run = ops.WorkflowInvocation(extra={"agentool.input": '{"a":1}', "agentool.output": "[2]"})
    assert values(run) == ({"a": 1}, [2])


@pytest.mark.parametrize("given", [{"a": [1]}, [1], 7, None, "plain"])
def test_a_tool_shows_its_arguments_and_result_unchanged(given: Any) -> None:
    assert values(ops.ToolExecution(name="t", arguments=given, result=given)) == (given, given)


def test_a_tool_that_only_has_an_error_shows_it() -> None:
    assert values(ops.ToolExecution(name="t", tool_error="no such city"))[1] == "no such city"


def test_a_handoff_shows_its_message() -> None:
    handoff = ops.ToolExecution(name="transfer_to_b", transfer_target="b", transfer_message="go on")
    assert values(handoff) == ("go on", None)


def test_memory_shows_written_content_and_found_records() -> None:
    written = ops.MemoryOperation(operation="upsert_memory", record_id="city", content={"n": "Rom"})
    assert values(written) == ({"key": "city", "content": {"n": "Rom"}}, None)
    assert values(ops.MemoryOperation(operation="create_memory", content=[1])) == ([1], None)
    assert values(ops.MemoryOperation(query="where?", results=["Rom"])) == ("where?", ["Rom"])


def test_a_retrieval_shows_query_and_documents() -> None:
    documents = [{"id": "d1", "content": "Rom", "score": 0.5}, {"content": {"a": 1}, "score": None}]
    result = added(ops.Retrieval(query="where?", documents=documents))
    assert result.pop("openinference.span.kind") == "RETRIEVER"
    assert json.loads(result.pop("output.value")) == [
        {"page_content": "Rom", "metadata": {"id": "d1", "score": 0.5}},
        {"page_content": '{"a":1}', "metadata": {}},
    ]
    assert result == {
        "input.value": "where?",
        "input.mime_type": "text/plain",
        "output.mime_type": "application/json",
        "retrieval.documents.0.document.id": "d1",
        "retrieval.documents.0.document.content": "Rom",
        "retrieval.documents.0.document.score": 0.5,
        "retrieval.documents.1.document.content": '{"a":1}',
    }


def test_a_model_call_has_the_shape_of_openai() -> None:
    call = ops.Inference(
        request_model="m",
        response_model="m-1",
        system=[text("be brief")],
        input=[
            message(
                "user", [text("look"), {"type": "uri", "modality": "image", "uri": "http://i"}]
            ),
            message("assistant", [tool_call("add", {"a": 1}, "c1")]),
            message("tool", [tool_response(3, "c1")]),
        ],
        output=[message("assistant", [reasoning("hm"), tool_call("add", {}, "c2")], "tool_call")],
        tools=[{"type": "function", "name": "add", "parameters": {}}],
    )
    requests = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
    again = {"id": "c2", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    assert values(call) == (
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "be brief"},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "look"},
                        {"type": "image_url", "image_url": {"url": "http://i"}},
                    ],
                },
                {"role": "assistant", "content": None, "tool_calls": [requests]},
                {"role": "tool", "tool_call_id": "c1", "content": "3"},
            ],
            "tools": [{"type": "function", "function": {"name": "add", "parameters": {}}}],
        },
        {
            "object": "chat.completion",
            "model": "m-1",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "reasoning_content": "hm",
                        "tool_calls": [again],
                    },
                    "finish_reason": "tool_calls",
                }
            ],
        },
    )


def test_session_and_token_names_match_openinference() -> None:
    call = ops.Inference(
        conversation_id="s1",
        time_to_first_chunk_s=0.5,
        usage=ops.Usage(output_tokens=9, reasoning_tokens=4),
    )
    span = structs.replace(collected(call), start_ns=1_790_000_000_250_000_000)
    assert names.added_names(span) == {
        "session.id": "s1",
        "llm.token_count.completion_details.reasoning": 4,
        "langfuse.observation.completion_start_time": '"2026-09-21T14:13:20.750Z"',
        "agentool.also": "openinference",
    }


@given(operations)
def test_without_content_on_the_span_none_is_added(operation: ops.Operation) -> None:
    span = collected(operation)
    for name in CONTENT & span.attributes.keys():
        del span.attributes[name]
    result = names.added_names(span)
    assert not {key for key in result if key.endswith(".value") or key.startswith("retrieval.")}


@pytest.mark.parametrize("cut", [{MARK_TRUNCATED: "bytes", MARK_LENGTH: 9}, "…", 7, None])
def test_the_rest_of_a_shortened_value_is_shown(cut: Any) -> None:
    call = ops.Inference(input=[cut, message("user", [text("hi")])], output=[cut], tools=[cut])
    assert values(call)[0]["messages"][-1] == {"role": "user", "content": "hi"}


# ------------------------------------------------------------------------------------ what is not


@pytest.mark.parametrize(
    "change",
    [
        {"scope": "openinference.instrumentation.openai"},
        {"scope": ""},
        {
            "attributes": {
                "gen_ai.operation.name": "invoke_agent",
                "openinference.span.kind": "TOOL",
            }
        },
        {"attributes": {"gen_ai.operation.name": "invoke_agent", "traceloop.span.kind": "agent"}},
    ],
)
def test_spans_of_other_dialects_stay_unchanged(change: dict[str, Any]) -> None:
    span = collected(ops.AgentInvocation(input=[message("user", [text("?")])]))
    assert names.added_names(structs.replace(span, **change)) == {}


def test_an_existing_attribute_keeps_its_value() -> None:
    span = collected(ops.AgentInvocation(conversation_id="s", extra={"session.id": "theirs"}))
    assert names.added_names(span) == {
        "openinference.span.kind": "AGENT",
        "agentool.also": "openinference session.id",
    }


# --------------------------------------------------------------------------------- when it is read


@given(operations, THEIRS)
def test_a_span_is_read_as_if_nothing_had_been_added(
    operation: ops.Operation, theirs: dict[str, str]
) -> None:
    span = collected(operation)
    span.attributes.update(theirs)
    expanded = with_names(span)
    if "agentool.also" not in theirs:
        assert names.without_added_names(expanded) == span
    assert names.added_names(expanded) == {} or expanded.attributes == span.attributes


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(traces)
def test_a_trace_and_its_report_come_out_the_same(document: dict[str, Any]) -> None:
    spans = replayed(document)
    expanded = [with_names(span) for span in spans]
    assert any("agentool.also" in span.attributes for span in expanded)
    [plain], [second] = rebuild(spans), rebuild(expanded)
    assert second.to_bytes() == plain.to_bytes()
    assert second.fidelity == plain.fidelity


def replayed(document: dict[str, Any]) -> list[SpanRecord]:
    memory = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    replay(document, provider)
    sent = b"".join(map(encode_span, memory.get_finished_spans()))
    return list(SpanFiles([BytesIO(sent)]).spans())


def test_our_names_are_read_even_without_the_mark() -> None:
    span = with_names(collected(ops.ToolExecution(name="t", arguments={"a": 1}, result="r")))
    del span.attributes["agentool.also"]
    dialect, operation = classify(span)
    assert dialect == "gen_ai"
    assert isinstance(operation, ops.ToolExecution)
    assert operation.arguments == {"a": 1}
    assert operation.result == "r"
