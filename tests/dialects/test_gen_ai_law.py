"""The law `read(write(operation)) == operation`, and conformance of the written spans."""

from __future__ import annotations

import string
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from agentool_otel.dialects import classify
from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.model import operations as ops
from agentool_otel.model.messages import message, reasoning, text, tool_call, tool_response
from agentool_otel.model.spans import SpanEvent, SpanRecord
from agentool_otel.semconv import gen_ai
from agentool_otel.semconv.table import GENERATIONS
from agentool_otel.testing.conformance import check
from tests.laws import many

words = st.text(string.ascii_letters + "äß日 _-.", min_size=1, max_size=10)
counts = st.integers(0, 2**62)
doubles = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | doubles | st.text()
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
parts = st.one_of(
    st.builds(text, st.text()),
    st.builds(reasoning, st.text()),
    st.builds(tool_call, words, values, st.none() | words),
    st.builds(tool_response, values, st.none() | words),
)
messages = st.lists(
    st.builds(message, st.sampled_from(["system", "user", "assistant", "tool"]), st.lists(parts)),
    max_size=3,
)
outputs = st.lists(st.builds(message, st.just("assistant"), st.lists(parts), words), max_size=2)
definitions = st.lists(
    st.fixed_dictionaries({"type": st.just("function"), "name": words}), max_size=2
)
extra = st.dictionaries(words.map(lambda word: f"app.{word}"), st.text() | counts, max_size=2)


def optional(**fields: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    return {name: st.none() | field for name, field in fields.items()}


def content(**fields: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    return {name: st.just(UNSET) | field for name, field in fields.items()}


usages = st.builds(
    ops.Usage,
    input_tokens=counts,
    **optional(
        output_tokens=counts,
        cache_read_tokens=counts,
        cache_write_tokens=counts,
        reasoning_tokens=counts,
        text_input_tokens=counts,
        image_input_tokens=counts,
        audio_input_tokens=counts,
        text_output_tokens=counts,
        image_output_tokens=counts,
        audio_output_tokens=counts,
    ),
)
server = optional(server_address=words, server_port=st.integers(0, 65535))
common: dict[str, Any] = {**optional(conversation_id=words, error_type=words), "extra": extra}
without_content = st.one_of(
    st.builds(
        ops.Embeddings,
        provider=words,
        usage=st.none() | st.builds(ops.Usage, input_tokens=counts),
        **common,
        **server,
        **optional(
            request_model=words,
            response_model=words,
            dimensions=counts,
            encoding_formats=st.lists(words),
        ),
    ),
    st.builds(
        ops.ToolExecution,
        name=words,
        **common,
        **content(arguments=values, result=values),
        **optional(
            call_id=words,
            tool_type=st.sampled_from(["function", "extension", "datastore"]),
            description=words,
            agent_name=words,
            transfer_target=words,
            transfer_message=st.text(),
            tool_error=st.text(),
            duration_ms=doubles | counts,
            cost_tokens=counts,
            exit_code=counts,
        ),
    ),
    st.builds(
        ops.AgentInvocation,
        remote=st.just(True),
        provider=words,
        **common,
        **server,
        **optional(agent_name=words, agent_id=words, agent_version=words, usage=usages),
    ),
    st.builds(ops.Plan, **common, **optional(agent_name=words)),
    st.builds(
        ops.AgentCreation,
        provider=words,
        **common,
        **server,
        **optional(agent_name=words, agent_id=words, request_model=words),
    ),
    st.builds(
        ops.FetchResponse,
        provider=words,
        response_id=words,
        **common,
        **server,
        **optional(response_model=words, response_status=words, finish_reasons=st.lists(words)),
    ),
    st.builds(
        ops.MemoryOperation,
        operation=st.sampled_from(
            ["search_memory", "create_memory", "update_memory", "upsert_memory", "delete_memory"]
        ),
        **common,
        **server,
        **content(content=values, results=values),
        **optional(store_id=words, record_id=words, record_count=counts, query=st.text()),
    ),
    st.builds(
        ops.McpRequest,
        side=st.sampled_from(["client", "server"]),
        method=st.sampled_from(["tools/call", "tools/list", "prompts/get"]),
        **common,
        **content(arguments=values, result=values),
        **optional(tool_name=words, request_id=words, session_id=words, transport=st.just("pipe")),
    ),
)
"""Operations that hold no messages and no documents, which vocabularies differ in."""
operations = st.one_of(
    without_content,
    st.builds(
        ops.Inference,
        operation=st.sampled_from(["chat", "generate_content", "text_completion"]),
        provider=words,
        **common,
        **server,
        **optional(
            request_model=words,
            response_model=words,
            response_id=words,
            previous_response_id=words,
            finish_reasons=st.lists(words),
            system=st.lists(st.builds(text, st.text())),
            input=messages,
            output=outputs,
            tools=definitions,
            usage=usages,
            cost_usd=doubles,
            stream=st.just(True),
            time_to_first_chunk_s=doubles,
            output_type=st.sampled_from(["text", "json"]),
            temperature=doubles,
            top_p=doubles,
            top_k=counts,
            max_tokens=counts,
            frequency_penalty=doubles,
            presence_penalty=doubles,
            stop_sequences=st.lists(words),
            seed=counts,
            choice_count=counts,
            reasoning_level=words,
            compacted=st.just(True),
        ),
    ),
    st.builds(
        ops.Retrieval,
        **common,
        **server,
        **optional(
            provider=words,
            data_source_id=words,
            query=st.text(),
            documents=st.lists(
                st.fixed_dictionaries({"id": words, "score": doubles, "content": values})
            ),
            top_k=counts,
        ),
    ),
    st.builds(
        ops.AgentInvocation,
        **common,
        **optional(
            agent_name=words,
            agent_id=words,
            agent_description=words,
            request_model=words,
            system=st.lists(st.builds(text, st.text())),
            input=messages,
            output=outputs,
            tools=definitions,
            finish_reasons=st.lists(words),
            usage=st.builds(ops.Usage, input_tokens=counts, output_tokens=counts),
        ),
    ),
    st.builds(
        ops.WorkflowInvocation,
        **common,
        **optional(workflow_name=words, input=messages, output=outputs),
    ),
    st.builds(
        ops.EvaluationResult,
        **common,
        name=words,
        **optional(score=doubles, label=words, explanation=st.text(), response_id=words),
    ),
)


def collected(operation: ops.Operation, generation: str = "latest") -> SpanRecord:
    """The span of an operation, with the events that a generation has messages in."""
    dialect = GenAI(generation)
    name, kind, attributes = dialect.draft(operation)
    events: list[SpanEvent] = []
    if dialect.tells_messages and isinstance(operation, ops.Inference):
        for key in (gen_ai.SYSTEM_INSTRUCTIONS, gen_ai.INPUT_MESSAGES, gen_ai.OUTPUT_MESSAGES):
            if message_events := dialect.message_events(key, attributes.get(key, "")):
                del attributes[key]
                events += [SpanEvent(event, 1, body) for event, body in message_events]
    status = "ERROR" if operation.error_type is not None else "UNSET"
    return SpanRecord(
        trace_id="1" * 32,
        span_id="2" * 16,
        name=name,
        kind=kind,
        attributes=dialect.named(attributes),
        events=events,
        status=status,
        scope="agentool_otel",
    )


generations = st.sampled_from(list(GENERATIONS))


@settings(max_examples=many(400), deadline=None)
@given(operations, generations)
def test_reading_what_was_written_gives_the_operation(
    operation: ops.Operation, generation: str
) -> None:
    assert classify(collected(operation, generation)) == ("gen_ai", operation)


@settings(max_examples=many(300), deadline=None)
@given(operations, generations)
def test_what_is_written_conforms_to_the_conventions(
    operation: ops.Operation, generation: str
) -> None:
    assert check(collected(operation, generation), generation=generation) == []


@settings(max_examples=many(200), deadline=None)
@given(operations)
def test_reading_does_not_touch_the_span(operation: ops.Operation) -> None:
    span = collected(operation)
    before = dict(span.attributes)
    classify(span)
    assert span.attributes == before
