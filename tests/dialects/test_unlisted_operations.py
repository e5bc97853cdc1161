"""The law of operation names: a name outside the convention's list counts as absent.

A program is written with the names of the list and with other ones, in each container; `rebuild`
gives the same documents.
"""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.model import operations as ops
from agentool_otel.model.messages import message, text
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai
from agentool_otel.semconv.table import GENERATIONS
from tests.laws import many
from tests.programs import START, rebuilt, words
from tests.reading.sources.encoders import ENCODERS, Encoder

AGENT_NAMES = st.sampled_from(["agent", "agent_run", "run-agent", "Agent.run", "invokeAgent"])
OTHER_NAMES = st.sampled_from(["generateText", "llm", "tool_call", "call", "x", "streamText", "9"])
calls = st.one_of(
    st.builds(
        ops.Inference,
        operation=st.just("chat"),
        request_model=words,
        extra=st.just({}) | st.builds(lambda name: {gen_ai.AGENT_NAME: name}, words),
        usage=st.builds(ops.Usage, input_tokens=st.integers(0, 99)),
        output=st.lists(words.map(lambda word: message("assistant", [text(word)])), max_size=1),
    ),
    st.builds(
        ops.ToolExecution,
        name=words,
        call_id=st.none() | words,
        arguments=st.dictionaries(words, words, max_size=2),
        result=words,
    ),
    st.builds(ops.Retrieval, query=words),
)


@st.composite
def programs(draw: st.DrawFn) -> list[ops.Operation]:
    """Draw an agent's run, then its calls."""
    agent = ops.AgentInvocation(agent_name=draw(words))
    return [agent, *draw(st.lists(calls, min_size=1, max_size=4))]


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda encoder: encoder.name)
@settings(max_examples=many(25, fewer=5))
@given(program=programs(), generation=st.sampled_from([*GENERATIONS]), data=st.data())
def test_unlisted_operation_names_count_as_absent(
    encoder: Encoder, program: list[ops.Operation], generation: str, data: st.DataObject
) -> None:
    listed = spans(program, GenAI(generation))
    renamed = [
        other_name(span, data.draw(AGENT_NAMES if span.parent_id is None else OTHER_NAMES))
        for span in listed
    ]
    assert rebuilt(encoder.encode(renamed)) == rebuilt(encoder.encode(listed))


def spans(program: list[ops.Operation], dialect: GenAI) -> list[SpanRecord]:
    """Write operations as one trace, the first one around the others."""
    return [
        SpanRecord(
            "1" * 31 + "2",
            f"{n + 2:016x}",
            None if n == 0 else f"{2:016x}",
            "work",
            attributes=dialect.write(operation).attributes,
            start_ns=START + n * 10**9,
            end_ns=START + (10**11 if n == 0 else n * 10**9 + 10**8),
            scope="app",
            resource={"service.name": "app"},
        )
        for n, operation in enumerate(program)
    ]


def other_name(span: SpanRecord, name: str) -> SpanRecord:
    attributes = {**span.attributes, gen_ai.OPERATION_NAME: name}
    return msgspec.structs.replace(span, attributes=attributes)
