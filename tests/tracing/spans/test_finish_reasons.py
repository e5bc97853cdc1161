"""Finish reasons: those that a model reports, and that of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.model.messages import message, text, tool_call
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    Operation,
    WorkflowInvocation,
)
from agentool_otel.semconv import agentool
from agentool_otel.tracing.capture import agent
from agentool_otel.tracing.spans.live import begin
from agentool_otel.tracing.spans.settings import settings

SPOKEN = [message("assistant", [text("hello")])]
ASKING = [message("assistant", [tool_call("search", {}, "c1")])]
CLOSED = {agentool.INTERRUPTED: "closed"}
REASONS = "gen_ai.response.finish_reasons"


def ended(
    spans: Any, operation: Operation, error: Exception | None = None, **extra: Any
) -> dict[str, Any]:
    live = begin(operation)
    assert live is not None
    live.end(operation, error, extra=extra.get("extra"))
    attributes: dict[str, Any] = spans.attributes()
    return attributes


@pytest.mark.parametrize("output", [SPOKEN, ASKING, SPOKEN + ASKING, None])
@pytest.mark.parametrize(("error", "extra"), [(None, None), (TimeoutError(), None), (None, CLOSED)])
def test_a_model_call_has_no_finish_reason_that_nobody_reported(
    output: Any, error: Exception | None, extra: Any, spans: Any
) -> None:
    attributes = ended(spans, Inference(provider="p", output=output), error, extra=extra)
    assert REASONS not in attributes
    for item in spans.json("gen_ai.output.messages") if output else ():
        assert "finish_reason" not in item


@pytest.mark.parametrize(("error", "reason"), [(None, "stop"), (TimeoutError(), "error")])
def test_older_conventions_require_a_finish_reason_of_each_message(
    error: Exception | None, reason: str, spans: Any
) -> None:
    settings.configure(dialect=GenAI("2026-08"))
    ended(spans, Inference(provider="p", output=SPOKEN), error)
    assert [item["finish_reason"] for item in spans.json("gen_ai.output.messages")] == [reason]


def test_choices_that_never_ended_are_errors_beside_others(spans: Any) -> None:
    done = message("assistant", [text("hello")], "stop")
    assert ended(spans, Inference(provider="p", output=[done, *SPOKEN]))[REASONS] == [
        "stop",
        "error",
    ]


def test_reasons_that_are_reported_stay(spans: Any) -> None:
    operation = Inference(provider="p", output=SPOKEN, finish_reasons=["length"])
    assert ended(spans, operation)[REASONS] == ["length"]


@pytest.mark.parametrize("kind", [AgentInvocation, WorkflowInvocation])
@pytest.mark.parametrize(("error", "reason"), [(None, "stop"), (TimeoutError(), "error")])
def test_an_output_of_a_run_has_a_finish_reason(
    kind: Any, error: Exception | None, reason: str, spans: Any
) -> None:
    ended(spans, kind(output=SPOKEN), error)
    assert [item["finish_reason"] for item in spans.json("gen_ai.output.messages")] == [reason]


def test_an_agent_whose_caller_stops_early_has_finished(spans: Any) -> None:
    @agent
    def counter() -> Iterator[str]:
        yield "one"
        yield "two"

    for _ in counter():
        break
    attributes = spans.attributes()
    assert '"finish_reason":"stop"' in attributes["gen_ai.output.messages"]
    assert attributes[agentool.INTERRUPTED] == "closed"
