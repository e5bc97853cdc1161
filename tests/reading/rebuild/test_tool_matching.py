"""Tool spans that have only the name of their tool, and the calls they belong to."""

from __future__ import annotations

from typing import Any

from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, tool_call, tool_response
from agentool_otel.model.operations import AgentInvocation, Inference, ToolExecution
from tests.records import Collected


def agent() -> AgentInvocation:
    return AgentInvocation(agent_name="clerk")


def asks(*calls: tuple[str, str]) -> Inference:
    parts = [tool_call(name, {"n": call_id}, call_id) for call_id, name in calls]
    return Inference(provider="p", output=[message("assistant", parts)])


def test_tool_spans_with_only_a_name_execute_the_calls_in_the_requested_order() -> None:
    seen = Collected()
    root = seen.add(agent())
    seen.add(asks(("c1", "a"), ("c2", "a")), parent=root)
    seen.add(ToolExecution(name="a", result=1), parent=root)
    seen.add(ToolExecution(name="a", result=2), parent=root)
    [rebuilt] = rebuild(seen.spans)
    results = [step["tool_result"] for step in rebuilt.document["steps"] if "tool_result" in step]
    assert [(result["call_id"], result["output"]) for result in results] == [("c1", 1), ("c2", 2)]
    assert rebuilt.document["metrics"]["tool_call_count"] == 2


def told(*results: tuple[str, Any]) -> Inference:
    parts = [tool_response(result, call_id) for call_id, result in results]
    return Inference(provider="p", input=[message("tool", parts)])


def calls_of(seen: Collected) -> tuple[list[tuple[str, Any]], list[str | None]]:
    """The results of the run by call id, and what is guessed of its calls."""
    [rebuilt] = rebuild(seen.spans)
    results = [step["tool_result"] for step in rebuilt.document["steps"] if "tool_result" in step]
    notes = [note for note in rebuilt.fidelity.notes if note.field.startswith("tool_call.")]
    said = [(result["call_id"], result.get("output")) for result in results]
    return said, [note.rule for note in notes if note.outcome == "inferred"]


BY_ORDER = "the order in which calls of the tool were requested"


def test_parallel_calls_are_matched_by_the_results_sent_to_the_model() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    seen.add(asks(("c1", "a"), ("c2", "a"), ("c3", "a")), parent=root)
    seen.add(ToolExecution(name="a"), parent=root)
    seen.add(ToolExecution(name="a", result={"n": 3}), parent=root)
    seen.add(ToolExecution(name="a", result="one"), parent=root)
    seen.add(told(("c1", "one"), ("c2", "two"), ("c3", '{"n": 3}')), parent=root)
    results, guessed = calls_of(seen)
    assert sorted(results) == [("c1", "one"), ("c2", "two"), ("c3", {"n": 3})]
    assert guessed == []


def test_calls_that_nothing_distinguishes_are_matched_in_order() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    seen.add(asks(("c1", "a"), ("c2", "a")), parent=root)
    seen.add(ToolExecution(name="a"), parent=root)
    seen.add(ToolExecution(name="a"), parent=root)
    results, guessed = calls_of(seen)
    assert [call_id for call_id, _ in results] == ["c1", "c2"]
    assert guessed == [BY_ORDER, BY_ORDER]


def test_the_match_is_certain_where_only_one_call_was_requested() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    for call_id in ("c1", "c2"):
        seen.add(asks((call_id, "a")), parent=root)
        seen.add(ToolExecution(name="a", result=call_id), parent=root)
    assert calls_of(seen) == ([("c1", "c1"), ("c2", "c2")], [])


def test_a_call_that_another_span_executes_is_not_matched() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    seen.add(asks(("c1", "a"), ("c2", "a")), parent=root)
    seen.add(ToolExecution(name="a", result=2), parent=root)
    seen.add(ToolExecution(name="a", call_id="c1", result=1), parent=root)
    results, guessed = calls_of(seen)
    assert (sorted(results), guessed) == ([("c1", 1), ("c2", 2)], [])


def test_a_tool_span_that_starts_before_the_request_gets_the_remaining_call() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    seen.add(asks(("c1", "a"), ("c2", "a")), parent=root)
    for _ in range(3):
        seen.add(ToolExecution(name="a"), parent=root)
    seen.add(asks(("c3", "a")), parent=root)
    results, guessed = calls_of(seen)
    assert sorted(results) == [("c1", None), ("c2", None), ("c3", None)]
    assert guessed == [BY_ORDER] * 3
