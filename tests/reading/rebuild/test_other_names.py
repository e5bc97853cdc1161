"""Tool spans with another name than the tool that the model called."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, tool_call, tool_response
from agentool_otel.model.operations import Inference, ToolExecution
from tests.laws import many
from tests.records import Collected, agent, shape

ORDER = {"order": 7}


def asks(*calls: tuple[str, Any], tools: list[str] | None = None) -> Inference:
    parts = [tool_call(name, arguments, f"c{n}") for n, (name, arguments) in enumerate(calls)]
    offered = [{"type": "function", "name": name} for name in tools] if tools else None
    return Inference(provider="p", output=[message("assistant", parts)], tools=offered)


def told(result: Any) -> Inference:
    return Inference(provider="p", input=[message("tool", [tool_response(result, "c0")])])


def ran(name: str, arguments: Any = ORDER, result: Any = "shipped") -> ToolExecution:
    return ToolExecution(name=name, arguments=arguments, result=result)


def run_of(*operations: Inference | ToolExecution) -> Collected:
    spans = Collected()
    root = spans.add(agent(), seconds=99)
    for operation in operations:
        spans.add(operation, parent=root)
    return spans


def steps_of(*operations: Inference | ToolExecution) -> list[str]:
    [trace] = run_of(*operations).rebuilt()
    return shape(trace)


ONE = ["call c0 lookup {'order': 7}", "result c0 shipped"]
TWO_CALLS = 3
"""Two calls, one of them with a result in a span, are so many steps."""


def test_a_function_of_another_name_executes_the_call_with_its_arguments() -> None:
    observation = run_of(asks(("lookup", ORDER)), ran("lookup_impl"))
    [rebuilt] = rebuild(observation.spans)
    assert shape(rebuilt.document) == ONE
    rules = [note.rule or "" for note in rebuilt.fidelity.notes if note.outcome == "inferred"]
    assert any("'lookup_impl' in the same turn" in rule for rule in rules)


@pytest.mark.parametrize(
    ("result", "sent"),
    [("shipped", "shipped"), ({"n": 1}, '{"n":1}'), ({"n": 1}, "{'n': 1}"), (42, "42")],
)
def test_a_result_that_was_sent_to_the_model_as_text_is_the_same(result: Any, sent: str) -> None:
    steps = steps_of(asks(("lookup", ORDER)), ran("lookup_impl", result=result), told(sent))
    assert steps == ["call c0 lookup {'order': 7}", f"result c0 {result}"]


def test_another_result_is_that_of_another_tool() -> None:
    steps = steps_of(asks(("lookup", ORDER)), ran("audit", result="noted"), told("shipped"))
    assert [step.split()[2] for step in steps if step.startswith("call")] == ["lookup", "audit"]


def test_a_tool_that_the_model_was_offered_is_another_one() -> None:
    steps = steps_of(asks(("lookup", ORDER), tools=["lookup", "audit"]), ran("audit"))
    assert len(steps) == TWO_CALLS


@settings(max_examples=many(50), deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 6), st.booleans())
def test_calls_whose_arguments_the_program_changed_count_once(
    chance: random.Random, count: int, with_results: bool
) -> None:
    """Each has its own result where the results that were sent distinguish them."""
    numbers = list(range(count))
    requests = [("lookup", {"n": str(n)}) for n in numbers]
    told_all = [tool_response(f"page {n}", f"c{n}") for n in numbers]
    executed = chance.sample(numbers, count) if with_results else numbers
    observation = run_of(
        asks(*requests),
        *(ran("lookup", {"n": n}, f"page {n}") for n in executed),
        Inference(provider="p", input=[message("tool", told_all if with_results else [])]),
    )
    [trace] = observation.rebuilt()
    results = {
        step["tool_result"]["call_id"]: step["tool_result"]["output"]
        for step in trace["steps"]
        if step["type"] == "tool_result"
    }
    assert results == {f"c{n}": f"page {n}" for n in numbers}
    assert len(trace["steps"]) == 2 * count


def test_a_function_in_a_later_turn_is_another_tool() -> None:
    steps = steps_of(asks(("lookup", ORDER)), Inference(provider="p"), ran("lookup_impl"))
    assert len(steps) == TWO_CALLS


def test_of_two_functions_neither_is_taken_for_the_call() -> None:
    steps = steps_of(asks(("lookup", ORDER)), ran("lookup_impl"), ran("audit"))
    assert len(steps) == TWO_CALLS + 2


def test_a_span_of_the_tools_own_name_comes_first_wherever_it_is() -> None:
    steps = steps_of(asks(("lookup", ORDER)), ran("check"), ran("lookup"))
    assert [step.split()[2] for step in steps if step.startswith("call")] == ["check", "lookup"]


def test_a_function_inside_a_tool_is_no_call_of_the_model() -> None:
    observation = run_of(asks(("lookup", ORDER)), ran("other", {"n": 1}))
    observation.add(ran("lookup_impl"), parent=observation.spans[-1])
    assert len(shape(observation.rebuilt()[0])) == TWO_CALLS + 2


arguments = st.lists(st.integers(0, 3), min_size=1, max_size=4)


@settings(max_examples=many(300), deadline=None)
@given(requested=arguments, executed=arguments, known=st.booleans())
def test_two_tools_are_one_call_only_where_nothing_else_is_possible(
    requested: list[int], executed: list[int], known: bool
) -> None:
    wants = asks(*((f"tool_{n}", {"n": n}) for n in requested), tools=["a", "b"] if known else None)
    names = ["a" if n % 2 else "b" for n in executed]
    runs = [ran(name, {"n": n}) for n, name in zip(executed, names, strict=True)]
    steps = steps_of(wants, *runs)
    sure = [n for n in set(requested) if requested.count(n) == executed.count(n) == 1]
    joined = 0 if known else len(sure)
    names_called = sorted(step.split()[2] for step in steps if step.startswith("call"))
    assert len(names_called) == len(requested) + len(executed) - joined
    assert {f"tool_{n}" for n in requested} <= {*names_called}
    assert sum(step.startswith("result") for step in steps) == len(executed)
