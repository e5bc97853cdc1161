"""The evaluation case of a run, as set from outside the program."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry import baggage
from opentelemetry.context import attach, detach

from agentool_otel.loading import rebuild
from agentool_otel.tracing.capture import agent, run
from agentool_otel.tracing.capture.model_calls import model_call
from agentool_otel.tracing.spans.settings import settings
from tests.records import records


@pytest.fixture
def variable(spans: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "case_id", "from-variable")


def cases(spans: Any) -> dict[str, Any]:
    """The case that each rebuilt run names, by its agent."""
    return {
        str(result.trace.to_dict().get("agent_id")): (
            result.trace.to_dict().get("metadata") or {}
        ).get("case_id")
        for result in rebuild(records(spans.finished()))
    }


@agent
def planner() -> None:
    writer()


@agent
def writer() -> None: ...


@pytest.mark.usefixtures("variable")
def test_the_variable_sets_the_case_of_outermost_runs(spans: Any) -> None:
    planner()
    assert cases(spans) == {"planner": "from-variable", "writer": None}


@pytest.mark.usefixtures("variable")
def test_the_runs_case_overrides_baggage_and_variable(spans: Any) -> None:
    token = attach(baggage.set_baggage("agentool.case.id", "from-baggage"))
    planner()
    with run("researcher", case_id="named"):
        pass
    detach(token)
    assert cases(spans) == {"planner": "from-baggage", "writer": None, "researcher": "named"}


@pytest.mark.usefixtures("variable")
def test_a_model_call_without_an_agent_has_the_case_too(spans: Any) -> None:
    with model_call("gpt-5", messages="hi", provider="openai") as call:
        call.output("hello")
    assert [*cases(spans).values()] == ["from-variable"]


def test_without_variable_and_baggage_there_is_no_case(spans: Any) -> None:
    planner()
    assert cases(spans) == {"planner": None, "writer": None}
