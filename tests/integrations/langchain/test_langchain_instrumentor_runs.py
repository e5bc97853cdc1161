"""The runs in progress: bounded, whatever happens to them."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from agentool_otel.integrations.langchain.instrumentor.runs import LiveRun, Plumbing, Runs
from agentool_otel.model.operations import AgentInvocation, ToolExecution
from agentool_otel.tracing.spans.live import begin


def started(runs: Runs, operation: Any = None) -> UUID:
    operation = operation or ToolExecution(name="search")
    live = begin(operation)
    assert live is not None
    run_id = uuid4()
    runs.add(run_id, LiveRun(run_id, live, operation, None))
    return run_id


def test_runs_that_never_finish_are_ended_when_there_are_too_many(spans: Any) -> None:
    runs = Runs(limit=3)
    for _ in range(10):
        started(runs)
    assert len(runs) == 3
    assert len(spans.finished()) == 7
    assert all(span.attributes["agentool.incomplete"] for span in spans.finished())
    for run_id in list(runs._open):
        result = runs.take(run_id)
        assert isinstance(result, LiveRun)
        result.finish({})


def test_a_run_that_is_in_use_outlives_abandoned_ones(spans: Any) -> None:
    runs = Runs(limit=3)
    agent_id = started(runs, AgentInvocation(agent_name="researcher"))
    for _ in range(10):
        runs.above(agent_id)
        started(runs)
    agent = runs.get(agent_id)
    assert isinstance(agent, LiveRun)
    node_id = uuid4()
    runs.add(node_id, Plumbing(agent, node_id, "model", None))
    assert runs.get(node_id) is not None
    for run_id in list(runs._open):
        result = runs.take(run_id)
        if isinstance(result, LiveRun):
            result.finish({})


def test_old_runs_are_ended_as_soon_as_another_starts(spans: Any) -> None:
    runs = Runs(age_s=0.0)
    started(runs)
    last = started(runs)
    assert spans.only().attributes["agentool.incomplete"] is True
    result = runs.take(last)
    assert isinstance(result, LiveRun)
    result.finish({})


def test_many_runs_leave_nothing_behind() -> None:
    """A tenth of them never finishes."""
    pytest.importorskip("langchain_core")
    from agentool_otel.integrations.langchain.instrumentor.handler import Handler
    from agentool_otel.tracing.spans.settings import settings

    settings.reset()  # spans that nobody records
    runs = Runs(limit=1000)
    handler = Handler(runs)
    for n in range(20_000):
        run_id = uuid4()
        handler.on_tool_start({"name": "search"}, "x", run_id=run_id, inputs={"q": n})
        if n % 10:
            handler.on_tool_end("found", run_id=run_id)
    assert len(runs) <= 1000
