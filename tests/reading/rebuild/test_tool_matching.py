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


def test_bare_tool_spans_match_calls_in_requested_order() -> None:
    spans = Collected()
    root = spans.add(agent())
    spans.add(asks(("c1", "a"), ("c2", "a")), parent=root)
    spans.add(ToolExecution(name="a", result=1), parent=root)
    spans.add(ToolExecution(name="a", result=2), parent=root)
    [rebuilt] = rebuild(spans.spans)
    results = [step["tool_result"] for step in rebuilt.document["steps"] if "tool_result" in step]
    assert [(result["call_id"], result["output"]) for result in results] == [("c1", 1), ("c2", 2)]
    assert rebuilt.document["metrics"]["tool_call_count"] == 2


def told(*results: tuple[str, Any]) -> Inference:
    parts = [tool_response(result, call_id) for call_id, result in results]
    return Inference(provider="p", input=[message("tool", parts)])


def calls_of(spans: Collected) -> tuple[list[tuple[str, Any]], list[str | None]]:
    """The results of the run by call id, and what is guessed of its calls."""
    [rebuilt] = rebuild(spans.spans)
    results = [step["tool_result"] for step in rebuilt.document["steps"] if "tool_result" in step]
    notes = [note for note in rebuilt.fidelity.notes if note.field.startswith("tool_call.")]
    texts = [(result["call_id"], result.get("output")) for result in results]
    return texts, [note.rule for note in notes if note.outcome == "inferred"]


BY_ORDER = "the order in which calls of the tool were requested"


def test_parallel_calls_are_matched_by_the_results_sent_to_the_model() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(asks(("c1", "a"), ("c2", "a"), ("c3", "a")), parent=root)
    spans.add(ToolExecution(name="a"), parent=root)
    spans.add(ToolExecution(name="a", result={"n": 3}), parent=root)
    spans.add(ToolExecution(name="a", result="one"), parent=root)
    spans.add(told(("c1", "one"), ("c2", "two"), ("c3", '{"n": 3}')), parent=root)
    results, guessed = calls_of(spans)
    assert sorted(results) == [("c1", "one"), ("c2", "two"), ("c3", {"n": 3})]
    assert guessed == []


def test_calls_that_nothing_distinguishes_are_matched_in_order() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(asks(("c1", "a"), ("c2", "a")), parent=root)
    spans.add(ToolExecution(name="a"), parent=root)
    spans.add(ToolExecution(name="a"), parent=root)
    results, guessed = calls_of(spans)
    assert [call_id for call_id, _ in results] == ["c1", "c2"]
    assert guessed == [BY_ORDER, BY_ORDER]


def test_the_match_is_certain_where_only_one_call_was_requested() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    for call_id in ("c1", "c2"):
        spans.add(asks((call_id, "a")), parent=root)
        spans.add(ToolExecution(name="a", result=call_id), parent=root)
    assert calls_of(spans) == ([("c1", "c1"), ("c2", "c2")], [])


def test_a_call_that_another_span_executes_is_not_matched() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(asks(("c1", "a"), ("c2", "a")), parent=root)
    spans.add(ToolExecution(name="a", result=2), parent=root)
    spans.add(ToolExecution(name="a", call_id="c1", result=1), parent=root)
    results, guessed = calls_of(spans)
    assert (sorted(results), guessed) == ([("c1", 1), ("c2", 2)], [])


def test_an_early_tool_span_gets_the_remaining_call() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(asks(("c1", "a"), ("c2", "a")), parent=root)
    for _ in range(3):
        spans.add(ToolExecution(name="a"), parent=root)
    spans.add(asks(("c3", "a")), parent=root)
    results, guessed = calls_of(spans)
    assert sorted(results) == [("c1", None), ("c2", None), ("c3", None)]
    assert guessed == [BY_ORDER] * 3
