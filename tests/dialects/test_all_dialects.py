"""What holds for every dialect: reading is total and pure, and noise is no operation."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentool_otel.dialects import Dialect, Reader, classify, match_dialect
from agentool_otel.dialects.kit.dialect import dialects
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    Operation,
    ToolExecution,
    Unclassified,
    WorkflowInvocation,
)
from agentool_otel.model.spans import SpanEvent, SpanRecord
from tests.dialects import vocabulary
from tests.dialects.spelled import span
from tests.laws import many
from tests.strategies import values

cut_json = values.map(json.dumps).flatmap(
    lambda said: st.integers(0, len(said)).map(lambda end: said[:end])
)
attribute_values = (
    values
    | values.map(json.dumps)
    | cut_json
    | st.sampled_from(["<not specified>", "<REDACTED>", "{}", "[]", "null", "None", "", b"\xff"])
    | st.sampled_from(vocabulary.WORDS)
    | st.lists(st.dictionaries(st.sampled_from(vocabulary.MEMBERS), values, max_size=4), max_size=3)
    | st.dictionaries(st.sampled_from(vocabulary.MEMBERS), values, max_size=4)
)
attributes = st.dictionaries(
    st.sampled_from(vocabulary.KEYS) | st.text(max_size=8), attribute_values, max_size=12
)
events = st.lists(
    st.builds(
        SpanEvent,
        st.sampled_from(vocabulary.EVENTS) | st.text(max_size=8),
        attributes=st.dictionaries(
            st.sampled_from([*vocabulary.MEMBERS, *vocabulary.KEYS]), attribute_values, max_size=4
        ),
    ),
    max_size=3,
)
spans = st.builds(
    SpanRecord,
    st.just("1" * 32),
    st.just("2" * 16),
    st.none() | st.just("3" * 16),
    st.sampled_from(vocabulary.NAMES) | st.text(max_size=8),
    attributes=attributes,
    events=events,
    scope=st.sampled_from(vocabulary.SCOPES) | st.text(max_size=8),
    status=st.sampled_from(["UNSET", "OK", "ERROR"]),
)


@settings(max_examples=many(500), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(dialects()), spans)
def test_reading_never_fails_and_changes_nothing(dialect: Dialect, record: SpanRecord) -> None:
    before = copy.deepcopy(record)
    dialect.recognise(record)
    operation = dialect.read(Reader(record))
    assert isinstance(operation, Operation)
    assert record == before


@given(spans)
def test_classification_never_fails(record: SpanRecord) -> None:
    _, operation = classify(record)
    assert isinstance(operation, Operation)


@pytest.mark.parametrize("dialect", dialects(), ids=lambda dialect: dialect.name)
def test_a_span_without_markers_is_not_claimed(dialect: Dialect) -> None:
    assert dialect.recognise(span({}, name="GET", scope="http")).level == 0


NOISE: dict[str, dict[str, Any]] = {
    "POST /": {"http.request.method": "POST", "url.full": "http://a/"},
    "a2a.server.events.event_queue.EventQueue.dequeue_event": {},
    "GET": {"gen_ai.conversation.id": "c", "gen_ai.task.id": "t"},  # copied from the baggage
    "ChannelWrite<agent>": {"langsmith.span.kind": "chain", "gen_ai.prompt": "{}"},
    "workflow.build": {"workflow.id": "w"},
    "Tool Usage": {"crewai_version": "1", "tool_name": "search"},
    "invocation": {"gcp.vertex.agent.event_id": "e"},
    "permission": {"github.copilot.permission.kind": "shell"},
}


@pytest.mark.parametrize("name", NOISE)
def test_noise_is_not_an_operation(name: str) -> None:
    _, operation = classify(span(NOISE[name], name=name, parent_id="3" * 16))
    assert isinstance(operation, Unclassified)
    assert not isinstance(
        operation, (AgentInvocation, WorkflowInvocation, Inference, ToolExecution)
    )


def test_for_most_of_our_own_spans_only_one_dialect_is_asked() -> None:
    ours = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "f",
        "gen_ai.tool.call.id": "c",
        "gen_ai.tool.call.arguments": "{}",
        "gen_ai.tool.call.result": "{}",
        "agentool.step.index": 1,
    }
    match = match_dialect(span(ours, scope="agentool_otel.capture"))
    assert match.dialect is not None
    assert match.dialect.name == "gen_ai"
