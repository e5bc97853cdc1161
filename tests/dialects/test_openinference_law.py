"""The law `read(write(operation)) == operation` for OpenInference.

What the vocabulary cannot carry, listed in the dialect's docstring, is not drawn here.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.dialects import classify
from agentool_otel.dialects.openinference.dialect import OpenInference
from agentool_otel.model import operations as ops
from agentool_otel.model.messages import message, reasoning, text, tool_call, tool_response
from agentool_otel.model.operations import AgentInvocation, Inference, ToolExecution
from agentool_otel.model.spans import SpanRecord
from tests.dialects.test_gen_ai_law import (
    common,
    content,
    counts,
    doubles,
    optional,
    server,
    usages,
    values,
    without_content,
    words,
)
from tests.laws import many

objects = st.dictionaries(words, values, max_size=2)
spoken = st.lists(
    st.one_of(
        st.builds(text, st.text()),
        st.builds(reasoning, st.text()),
        st.builds(lambda output, seal: {**reasoning(output), "signature": seal}, st.text(), words),
        st.just({"type": "uri", "modality": "image", "uri": "https://example.com/cat.png"}),
        st.just({"type": "blob", "modality": "image", "mime_type": "image/png", "content": "QQ=="}),
        st.just({"type": "refusal", "content": "no"}),
    ),
    max_size=3,
)
calls = st.lists(st.builds(tool_call, words, objects, st.none() | words), max_size=2)
answers = st.builds(tool_response, st.text(), st.none() | words)
assistants = st.builds(lambda a, b: message("assistant", [*a, *b]), spoken, calls)
inputs = st.lists(
    st.one_of(
        st.builds(message, st.sampled_from(["system", "user"]), spoken),
        assistants,
        st.builds(lambda answer: message("tool", [answer]), answers),
    ),
    min_size=1,
    max_size=3,
)
outputs = st.lists(assistants, min_size=1, max_size=2)
tools = st.lists(
    st.fixed_dictionaries({"type": st.just("function"), "name": words}), min_size=1, max_size=2
)
documents = st.lists(
    st.fixed_dictionaries(
        {"content": st.text()}, optional={"id": words, "score": doubles, "metadata": objects}
    ),
    min_size=1,
    max_size=2,
)


drawn = st.one_of(
    without_content,
    st.builds(
        ops.Inference,
        operation=st.sampled_from(["chat", "generate_content", "text_completion"]),
        **common,
        **server,
        **optional(
            provider=words,
            request_model=words,
            response_model=words,
            response_id=words,
            previous_response_id=words,
            finish_reasons=st.lists(words, min_size=1),
            input=inputs,
            output=outputs,
            tools=tools,
            usage=usages,
            cost_usd=doubles,
            stream=st.just(True),
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
        ),
    ),
    st.builds(
        ops.AgentInvocation,
        agent_name=words,
        **common,
        **optional(
            agent_id=words,
            agent_description=words,
            request_model=words,
            input=inputs,
            output=st.lists(assistants, min_size=1, max_size=1),
            tools=tools,
            usage=st.builds(ops.Usage, input_tokens=counts, output_tokens=counts),
        ),
    ),
    st.builds(
        ops.WorkflowInvocation,
        **common,
        **optional(workflow_name=words, input=inputs, output=outputs),
    ),
    st.builds(
        ops.Retrieval,
        **common,
        **server,
        **optional(
            provider=words, data_source_id=words, query=st.text(), documents=documents, top_k=counts
        ),
    ),
    st.builds(
        ops.EvaluationResult,
        name=words,
        **common,
        **optional(score=doubles, label=words, explanation=st.text(), response_id=words),
    ),
    st.builds(ops.ToolExecution, name=words, call_id=words, **common, **content(arguments=values)),
)


def collected(operation: ops.Operation) -> SpanRecord:
    name, kind, attributes = OpenInference().write(operation)
    status = "ERROR" if operation.error_type is not None else "UNSET"
    return SpanRecord(
        "1" * 32, "2" * 16, name=name, kind=kind, attributes=attributes, status=status,
        scope="agentool_otel",
    )  # fmt: skip


@settings(max_examples=many(400), deadline=None)
@given(drawn)
def test_reading_what_was_written_gives_the_operation(operation: ops.Operation) -> None:
    assert classify(collected(operation)) == ("openinference", operation)


@settings(max_examples=many(100), deadline=None)
@given(drawn)
def test_written_values_are_valid_attribute_values(operation: ops.Operation) -> None:
    for key, value in collected(operation).attributes.items():
        assert isinstance(value, (str, bool, int, float, list)), key


@pytest.mark.parametrize(
    ("written", "read"),
    [
        pytest.param(
            Inference(system=[text("be brief")], input=[message("user", [text("hi")])]),
            Inference(input=[message("system", [text("be brief")]), message("user", [text("hi")])]),
            id="system instructions are the first message",
        ),
        pytest.param(
            Inference(output=[message("assistant", [tool_call("f", {}), text("x")])]),
            Inference(output=[message("assistant", [text("x"), tool_call("f", {})])]),
            id="tool calls come last",
        ),
        pytest.param(
            Inference(input=[message("tool", [tool_response({"a": 1}, "c")])]),
            Inference(input=[message("tool", [tool_response('{"a":1}', "c")])]),
            id="a response's JSON comes back as text",
        ),
        pytest.param(
            Inference(output=[message("assistant", [text("x")], "stop")]),
            Inference(finish_reasons=["stop"], output=[message("assistant", [text("x")])]),
            id="a message has no finish reason of its own",
        ),
        pytest.param(Inference(input=[]), Inference(), id="an empty list is none"),
    ],
)
def test_what_the_vocabulary_cannot_carry(written: Any, read: Any) -> None:
    assert classify(collected(written))[1] == read


def test_a_tool_is_written_in_the_words_backends_show() -> None:
    tool = ToolExecution(name="search", call_id="c1", arguments={"q": "x"}, result="found")
    assert OpenInference().write(tool).attributes == {
        "openinference.span.kind": "TOOL",
        "tool.name": "search",
        "tool.id": "c1",
        "input.value": '{"q":"x"}',
        "input.mime_type": "application/json",
        "output.value": "found",
        "output.mime_type": "text/plain",
    }


def test_an_agents_last_message_is_its_value() -> None:
    agent = AgentInvocation(agent_name="a", output=[message("assistant", [text("done")])])
    attributes = OpenInference().write(agent).attributes
    assert attributes["output.value"] == "done"
    assert attributes["llm.output_messages.0.message.content"] == "done"
