"""Spans that are not operations, and the small number of dialects that are tried per span."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.dialects import Dialect, classify, match_dialect
from agentool_otel.dialects.kit.dialect import dialects
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    ToolExecution,
    Unclassified,
    WorkflowInvocation,
)
from tests.dialects.spelled import span


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
