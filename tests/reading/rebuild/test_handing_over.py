"""Handoffs in nested runs: the agents of workflows, and tools that name one."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.ground.json_codec import dumps
from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, text, tool_call
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.model.spans import SpanRecord
from tests.records import Collected, agent, shape

ASKED = [message("user", [text("go")])]
ANSWER = [message("assistant", [text("gone")])]


def test_a_workflow_around_one_agent_is_that_agents_run() -> None:
    spans = Collected()
    outer = spans.add(WorkflowInvocation(workflow_name="crew", input=ASKED), seconds=9)
    inner = spans.add(agent("clerk"), parent=outer, seconds=5)
    spans.add(Inference(output=ANSWER), parent=inner)
    [trace] = spans.rebuilt()
    assert (trace["agent_id"], trace["input"], trace["steps"]) == ("clerk", "go", [])
    assert trace["trace_id"] == outer.trace_id
    assert trace["metrics"]["total_duration_ms"] == 9000


def test_an_agent_that_only_calls_another_one_hands_over() -> None:
    spans = Collected()
    outer = spans.add(agent("chief"), seconds=9)
    spans.add(agent("clerk"), parent=outer)
    trace, _ = spans.rebuilt()
    assert shape(trace) == ["handoff clerk"]


def test_agents_of_a_workflow_that_follow_each_other_hand_over_once() -> None:
    spans = Collected()
    crew = spans.add(WorkflowInvocation(workflow_name="crew"), seconds=9)
    spans.add(agent("first", input=ASKED), parent=crew)
    spans.add(agent("second", output=ANSWER), parent=crew)
    trace, *subs = spans.rebuilt()
    assert shape(trace) == ["handoff second"]
    assert (trace["input"], trace["output"]) == ("go", "gone")
    assert trace["metadata"]["sub_traces"] == [sub["trace_id"] for sub in subs]


def test_an_announced_handoff_is_only_in_the_run_of_the_agent() -> None:
    spans = Collected()
    crew = spans.add(WorkflowInvocation(workflow_name="crew"), seconds=9)
    first = spans.add(agent("first"), parent=crew)
    spans.add(ToolExecution(name="transfer_to_second_one"), parent=first)
    spans.add(agent("Second One"), parent=crew)
    assert [shape(trace) for trace in spans.rebuilt()] == [[], ["handoff Second One"], []]


def test_a_delegation_is_a_call_as_well_as_a_handoff() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    call = ToolExecution(name="delegate_to_work", call_id="c", arguments={}, result=1)
    spans.add(call, parent=root)
    assert sorted(shape(spans.rebuilt()[0])) == ["call c delegate_to_work {}", "handoff work",
                                                "result c 1"]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments", "target"),
    [
        ("delegate_work_to_coworker", {"task": "dig", "coworker": "Miner"}, "Miner"),
        ("Delegate work to coworker", {"task": "dig", "coworker": "Miner"}, "Miner"),
        ("Task", {"prompt": "dig", "subagent_type": "miner"}, "miner"),
        ("task", {"description": "dig", "subagent_type": "miner"}, "miner"),
        ("delegate_to_agent", {"task": "dig", "agent_name": "miner"}, "miner"),
    ],
)
@pytest.mark.parametrize("told_by", ["span", "message"])
def test_an_argument_names_the_agent_that_gets_the_task(
    name: str, arguments: dict[str, Any], target: str, told_by: str
) -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    if told_by == "span":
        spans.add(ToolExecution(name=name, call_id="c", arguments=arguments), parent=root)
    else:
        asks = [message("assistant", [tool_call(name, dumps(arguments), "c")])]
        spans.add(Inference(output=asks), parent=root)
    steps = spans.rebuilt()[0]["steps"]
    assert [step["type"] for step in steps][:2] == ["tool_call", "handoff"]
    assert (steps[1]["to_agent"], steps[1]["message"]) == (target, "dig")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("delegate_summary", {"task": "sum up"}), ("Task", {"agent": "a"}), ("task", None)],
)
def test_a_delegation_tool_without_a_target_is_not_a_handoff(name: str, arguments: Any) -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(ToolExecution(name=name, call_id="c", arguments=arguments), parent=root)
    assert shape(spans.rebuilt()[0])[0] == f"call c {name} {arguments}"
    assert not [step for step in spans.rebuilt()[0]["steps"] if step["type"] == "handoff"]


def a_subagent(result: Any = "dug", **fields: Any) -> tuple[Collected, SpanRecord]:
    """A run that Claude's SDK calls by the tool that began it, and the tool's span."""
    spans = Collected()
    root = spans.add(agent("chief"), seconds=9)
    values = {"description": "a title", "prompt": "dig", "subagent_type": "miner"}
    call = ToolExecution(name="Agent", call_id="c", arguments=values, result=result, **fields)
    tool = spans.add(call, parent=root, seconds=5)
    spans.add(agent("Agent"), parent=tool, seconds=3)
    return spans, tool


def test_a_run_without_messages_uses_its_parent_tools_values() -> None:
    observation, tool = a_subagent(
        result={"content": [{"type": "text", "text": "dug"}], "tokens": 3}
    )
    chief, miner = rebuild(observation.spans)
    assert (miner.trace.agent_id, miner.trace.input, miner.trace.output) == ("miner", "dig", "dug")
    inferred = [note for note in miner.fidelity.notes if note.span_id == tool.span_id]
    assert {(note.field, note.outcome) for note in inferred} == {
        *(("agent_id", "inferred"), ("input", "inferred"), ("output", "inferred"))
    }
    handoffs = [step for step in chief.document["steps"] if step["type"] == "handoff"]
    assert [step["to_agent"] for step in handoffs] == ["miner"]


def test_a_runs_own_messages_win_over_the_tool_around_it() -> None:
    observation, tool = a_subagent()
    observation.spans[-1] = observation.add(
        agent("digger", input=ASKED, output=ANSWER), parent=tool
    )
    result = observation.rebuilt()[-1]
    assert (result["agent_id"], result["input"], result["output"]) == ("digger", "go", "gone")


def test_a_nameless_run_is_not_named_after_an_argument_of_any_tool() -> None:
    spans = Collected()
    root = spans.add(agent("chief"), seconds=9)
    tool = spans.add(
        ToolExecution(name="look_up", arguments={"agent": "x"}), parent=root, seconds=5
    )
    spans.add(AgentInvocation(), parent=tool)
    assert "agent_id" not in spans.rebuilt()[-1]


def test_an_error_message_of_the_tool_is_not_the_output() -> None:
    observation, _ = a_subagent(result="no spade", error_type="ValueError")
    assert "output" not in observation.rebuilt()[-1]


def test_a_tool_around_several_runs_describes_none_of_them() -> None:
    observation, tool = a_subagent()
    observation.add(agent("another"), parent=tool)
    assert not [trace for trace in observation.rebuilt() if "input" in trace or "output" in trace]


def test_a_task_in_a_message_and_in_the_run_itself_is_one_handoff() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    asks = [message("assistant", [tool_call("task", {"subagent_type": "miner"}, "c")])]
    spans.add(Inference(output=asks), parent=root)
    spans.add(agent("miner"), parent=root)
    steps = [step["type"] for step in spans.rebuilt()[0]["steps"]]
    assert steps == ["tool_call", "handoff"]


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        ({"to_agent": "clerk"}, ["handoff"]),
        ({"agent_name": "clerk"}, ["handoff"]),
        ({"amount": 5, "to": "savings"}, ["tool_call", "tool_result"]),
    ],
)
@pytest.mark.parametrize("name", ["transfer", "handoff"])
def test_a_tool_named_transfer_is_a_handoff_if_it_names_an_agent(
    name: str, arguments: dict[str, Any], kinds: list[str]
) -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    asks = [message("assistant", [tool_call(name, arguments, "c")])]
    spans.add(Inference(output=asks), parent=root)
    spans.add(ToolExecution(name=name, call_id="c", arguments=arguments, result="ok"), parent=root)
    assert [step["type"] for step in spans.rebuilt()[0]["steps"]] == kinds


def test_a_transfer_takes_its_target_from_a_nested_span() -> None:
    spans = Collected()
    root = spans.add(agent("clerk"), seconds=9)
    outer = spans.add(ToolExecution(name="handoff", transfer_target=None), parent=root, seconds=3)
    inner = ToolExecution(name="transfer_to_writer", transfer_target="writer")
    spans.add(inner, parent=outer, scope="another.sdk")
    [trace] = spans.rebuilt()
    assert [step.get("to_agent") for step in trace["steps"] if step["type"] == "handoff"] == [
        "writer"
    ]


def test_a_handoff_that_a_nested_run_executes_is_only_in_that_run() -> None:
    """OpenLLMetry puts the model calls of an agent beside its run."""
    spans = Collected()
    root = spans.add(WorkflowInvocation(workflow_name="team"), seconds=9)
    asks = [message("assistant", [tool_call("transfer_to_writer", {}, "t1")])]
    spans.add(Inference(output=asks), parent=root)
    clerk = spans.add(agent("clerk"), parent=root, seconds=2)
    transfer = ToolExecution(name="transfer_to_writer", call_id="t1", transfer_target="writer")
    spans.add(transfer, parent=clerk)
    spans.add(agent("writer"), parent=root)
    types = [[step["type"] for step in trace["steps"]] for trace in spans.rebuilt()]
    assert types == [[], ["handoff"], []]
