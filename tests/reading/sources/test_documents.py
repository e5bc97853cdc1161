"""Traces that are in a file as such: ReasoningTraces and ATIF trajectories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import agentool_otel
from agentool_otel.errors import DecodeError
from agentool_otel.model.atif import from_atif
from agentool_otel.reading.sources.opening import open_source
from tests.reading.sources.test_span_files import document, full_span, lines
from tests.records import shape

TRACE: dict[str, Any] = {
    "trace_id": "t1",
    "agent_id": "a",
    "steps": [{"type": "reasoning", "content": "hm", "unknown": None}],
    "input": "hi",
}
TRAJECTORY: dict[str, Any] = {
    "schema_version": "ATIF-v1.6",
    "session_id": "s1",
    "agent": {"name": "bot", "version": "1", "model_name": "m"},
    "steps": [
        {"step_id": 1, "timestamp": "2026-01-01T10:00:00Z", "source": "user", "message": "Sum?"},
        {
            "step_id": 2,
            "timestamp": "2026-01-01T10:00:01Z",
            "source": "agent",
            "message": "I add.",
            "reasoning_content": "1+1",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "add", "arguments": {"a": 1, "b": 1}}
            ],
            "observation": {"results": [{"source_call_id": "c1", "content": "2"}]},
        },
        {"step_id": 3, "source": "agent", "message": "It is 2."},
    ],
    "final_metrics": {
        "total_prompt_tokens": 10,
        "total_completion_tokens": 2,
        "total_cost_usd": 0.5,
    },
}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_trace_document_comes_back_as_it_is(tmp_path: Path, indent: int | None) -> None:
    (file := tmp_path / "t.json").write_text(json.dumps(TRACE, indent=indent))
    assert [trace.to_dict() for trace in agentool_otel.load(file)] == [TRACE]


def test_documents_and_spans_may_share_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(TRACE, {**TRACE, "trace_id": "t2"}))
    (tmp_path / "b.jsonl").write_bytes(lines(document(full_span()), {**TRACE, "trace_id": "t3"}))
    (tmp_path / "c.json").write_text(json.dumps(TRAJECTORY))
    trace_ids = [trace.trace_id for trace in agentool_otel.load(tmp_path)]
    assert sorted(trace_ids) == sorted([full_span()["traceId"], "t1", "t2", "t3", "s1"])


def test_documents_among_spans_are_reported_to_readers_of_spans(tmp_path: Path) -> None:
    (file := tmp_path / "t.json").write_text(json.dumps(TRACE))
    source = open_source(file)
    assert list(source.spans()) == []
    assert "trace 't1' is a ReasoningTrace document" in source.problems[0].message


def test_a_trajectory_becomes_a_trace(tmp_path: Path) -> None:
    (file := tmp_path / "t.json").write_text(json.dumps({"parent": TRAJECTORY}))
    (result,) = agentool_otel.load(file)
    trace = result.to_dict()
    assert shape(trace) == [
        "reasoning 1+1",
        "reasoning I add.",
        "call c1 add {'a': 1, 'b': 1}",
        "result c1 2",
    ]
    assert (trace["agent_id"], trace["session_id"]) == ("bot", "s1")
    assert (trace["input"], trace["output"]) == ("Sum?", "It is 2.")
    assert trace["metrics"] == {
        "total_tokens": 12,
        "total_cost_usd": 0.5,
        "step_count": 4,
        "tool_call_count": 1,
    }
    assert trace["started_at"] == "2026-01-01T10:00:00Z"
    assert trace["metadata"]["atif"]["agent"]["model_name"] == "m"


def test_copied_context_gives_the_input_and_no_steps() -> None:
    user, agent, last = TRAJECTORY["steps"]
    steps = [{**user, "is_copied_context": True}, {**agent, "is_copied_context": True}, last]
    trace = from_atif({**TRAJECTORY, "steps": steps}).to_dict()
    assert (trace["input"], trace["steps"], trace["output"]) == ("Sum?", [], "It is 2.")


def test_a_trajectory_of_another_agent_is_a_handoff() -> None:
    user, agent, _ = TRAJECTORY["steps"]
    result = {"source_call_id": "c1", "subagent_trajectory_ref": [{"session_id": "s2"}]}
    steps = [user, {**agent, "observation": {"results": [result]}}]
    assert shape(from_atif({**TRAJECTORY, "steps": steps}).to_dict())[-1] == "handoff s2"


def referring(*ids: dict[str, str]) -> dict[str, Any]:
    user, agent, _ = TRAJECTORY["steps"]
    result = {"source_call_id": "c1", "subagent_trajectory_ref": list(ids)}
    return {**TRAJECTORY, "steps": [user, {**agent, "observation": {"results": [result]}}]}


def handoffs(file: Path) -> list[str]:
    steps = [step for trace in agentool_otel.load(file) for step in trace.to_dict()["steps"]]
    return [step["to_agent"] for step in steps if step["type"] == "handoff"]


@pytest.mark.parametrize("parent_first", [True, False])
def test_an_embedded_trajectorys_agent_keeps_its_name(tmp_path: Path, parent_first: bool) -> None:
    child = {**TRAJECTORY, "session_id": "s2", "agent": {"name": "helper"}}
    both = [referring({"session_id": "s2"}), child]
    (file := tmp_path / "t.json").write_text(json.dumps(both if parent_first else both[::-1]))
    assert handoffs(file) == ["helper"]


def test_the_agent_of_an_embedded_trajectory_goes_by_its_name(tmp_path: Path) -> None:
    child = {"trajectory_id": "t2", "session_id": "s1", "agent": {"name": "helper"}, "steps": []}
    parent = {**referring({"trajectory_id": "t2"}), "subagent_trajectories": [child]}
    (file := tmp_path / "t.json").write_text(json.dumps(parent))
    assert handoffs(file) == ["helper"]


def test_an_embedded_trajectory_is_a_trace_that_the_outer_one_leads_to(tmp_path: Path) -> None:
    child = {**TRAJECTORY, "trajectory_id": "t2", "agent": {"name": "helper"}}
    parent = {**referring({"trajectory_id": "t2"}), "subagent_trajectories": [child]}
    (file := tmp_path / "t.json").write_text(json.dumps(parent))
    outer, inner = agentool_otel.load(file)
    assert outer.to_dict()["metadata"]["sub_traces"] == [inner.trace_id] == ["t2"]
    assert inner.to_dict()["output"] == "It is 2."


def test_an_earlier_trajectorys_agent_keeps_its_name(
    tmp_path: Path,
) -> None:
    child = {**TRAJECTORY, "session_id": "s2", "agent": {"name": "helper"}}
    (tmp_path / "a.json").write_text(json.dumps(child))
    (tmp_path / "b.json").write_text(json.dumps(referring({"session_id": "s2"})))
    assert handoffs(tmp_path) == ["helper"]


def test_a_session_shared_by_several_agents_names_none_of_them(tmp_path: Path) -> None:
    agents = [{**TRAJECTORY, "session_id": "s2", "agent": {"name": name}} for name in "ab"]
    (file := tmp_path / "t.json").write_text(json.dumps([referring({"session_id": "s2"}), *agents]))
    assert handoffs(file) == ["s2"]


@pytest.mark.parametrize("steps", [None, "x", [1]])
def test_a_trajectory_without_steps_is_refused(steps: Any) -> None:
    with pytest.raises(DecodeError, match=r"\$\.steps"):
        from_atif({**TRAJECTORY, "steps": steps}, where="t.json")
