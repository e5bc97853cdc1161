"""A run to judge, and its forms in stores that lose data."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from agentool_otel import Assertion, EvalCase, ReasoningTrace
from agentool_otel.evaluation import TraceView, Verdict
from agentool_otel.evaluation.assertion_checks import prepare
from agentool_otel.model.documents import AssertionResult
from agentool_otel.reading.rebuild.trace import Rebuilt

Object = dict[str, Any]

RUN: Object = {
    "trace_id": "tr_1",
    "agent_id": "researcher",
    "input": "What is new?",
    "output": '{"answer": "LangSmith and Braintrust", "sources": 2}',
    "status": "success",
    "steps": [
        {
            "step_id": "step_001",
            "type": "tool_call",
            "tool_call": {
                "id": "c1",
                "name": "search_web",
                "arguments": {"query": "agent tools", "limit": 3},
            },
        },
        {
            "step_id": "step_002",
            "type": "tool_result",
            "tool_result": {"call_id": "c1", "output": ["LangSmith"]},
        },
        {
            "step_id": "step_003",
            "type": "tool_call",
            "tool_call": {
                "id": "c2",
                "name": "read_page",
                "arguments": {"url": "https://a.example"},
            },
        },
        {
            "step_id": "step_004",
            "type": "tool_result",
            "tool_result": {"call_id": "c2", "output": "Braintrust"},
        },
        {"step_id": "step_005", "type": "handoff", "to_agent": "writer", "message": "write it"},
    ],
    "metrics": {
        "total_tokens": 3200,
        "total_cost_usd": 0.0032,
        "total_duration_ms": 15000,
        "step_count": 5,
        "tool_call_count": 2,
    },
}
"""Everything is in this store."""


def changed(**members: Any) -> Object:
    """Return the run with other members; `...` takes one away."""
    run = copy.deepcopy(RUN)
    for name, value in members.items():
        if value is ...:
            run.pop(name, None)
        else:
            run[name] = value
    return run


def each_argument(value: Any) -> Object:
    """Return the run with another value for every argument of every call; `...`: no arguments."""
    run = copy.deepcopy(RUN)
    for step in run["steps"]:
        if call := step.get("tool_call"):
            if value is ...:
                del call["arguments"]
            else:
                call["arguments"] = dict.fromkeys(call["arguments"], value)
    return run


def without_calls(**members: Any) -> Object:
    """Return the run without its tool steps, its metrics unchanged; `members` replace others."""
    return changed(steps=[RUN["steps"][4]], **members)


def verdict(assertion: Mapping[str, Any], run: Object | Rebuilt) -> Verdict:
    """Return the verdict of an assertion on a run."""
    source = run if isinstance(run, Rebuilt) else ReasoningTrace.from_dict(run)
    case = EvalCase(case_id="case", assertions=[])
    return prepare(Assertion.from_dict(assertion))(TraceView(source), case)


def said(results: list[AssertionResult]) -> list[tuple[str, bool | None, Any]]:
    return [(result.assertion_type, result.passed, result.reason) for result in results]
