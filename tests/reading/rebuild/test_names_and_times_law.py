"""Laws of a run's agent and of its end, in every container and vocabulary.

The agent is the one that a span names, and no random id takes its place. A span without any time is
not in progress.
"""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.model import operations as ops
from agentool_otel.semconv import gen_ai
from tests.laws import many
from tests.programs import WRITERS, programs, rebuilt, spans_of, words
from tests.reading.sources.encoders import ENCODERS, Encoder

WITHOUT_TIMES = [
    encoder
    for encoder in ENCODERS
    if encoder.name.startswith(("OTLP", "protobuf", "bare", "Tempo", "Jaeger API", "JSON"))
]
"""Encoders that can leave out times."""


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda encoder: encoder.name)
@settings(max_examples=many(25, fewer=5))
@given(program=programs(), agent_id=st.uuids(), writer=st.sampled_from([*WRITERS]))
def test_a_random_id_never_replaces_the_name_of_an_agent(
    encoder: Encoder, program: list[ops.Operation], agent_id: object, writer: str
) -> None:
    agent = program[0]
    assert isinstance(agent, ops.AgentInvocation)
    spans = spans_of(program, WRITERS[writer])
    spans[0].attributes = {**spans[0].attributes, gen_ai.AGENT_ID: str(agent_id)}
    (document,) = rebuilt(encoder.encode(spans))
    assert document["agent_id"] == agent.agent_name


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda encoder: encoder.name)
@settings(max_examples=many(25, fewer=5))
@given(program=programs(), name=words, writer=st.sampled_from([*WRITERS]))
def test_the_agent_named_on_a_call_comes_before_the_service(
    encoder: Encoder, program: list[ops.Operation], name: str, writer: str
) -> None:
    model = ops.Inference(operation="chat", request_model="m", usage=ops.Usage(input_tokens=1))
    spans = spans_of([model, *program[1:]], WRITERS[writer])
    for span in spans:
        span.attributes = {**span.attributes, gen_ai.AGENT_NAME: name}
    documents = rebuilt(encoder.encode(spans))
    assert {document["agent_id"] for document in documents} == {name}


@pytest.mark.parametrize("encoder", WITHOUT_TIMES, ids=lambda encoder: encoder.name)
@settings(max_examples=many(25, fewer=5))
@given(program=programs(), writer=st.sampled_from([*WRITERS]))
def test_spans_without_times_are_not_in_progress(
    encoder: Encoder, program: list[ops.Operation], writer: str
) -> None:
    spans = [
        msgspec.structs.replace(span, start_ns=None, end_ns=None, status="OK")
        for span in spans_of(program, WRITERS[writer])
    ]
    (document,) = rebuilt(encoder.encode(spans))
    assert document["status"] == "success"
    assert "incomplete" not in document.get("metadata", {})
