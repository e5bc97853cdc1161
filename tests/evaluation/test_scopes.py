"""Scopes of results: a run with the runs inside it, a run by itself, a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentool_otel
from agentool_otel import EvalResult, ReasoningTrace, evaluate
from agentool_otel.errors import EvaluationError
from agentool_otel.evaluation import TraceView, assert_trace
from agentool_otel.evaluation.joined import UnitTrace, judged_trace
from agentool_otel.evaluation.scopes import Scope, Unit, Units, document_of
from agentool_otel.evaluation.selecting import Selection
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.testing.captured import captured_traces
from tests.evaluation.runs import Object

NO_ERRORS = "1 call ended without an error"
NO_ERROR: Object = {"type": "no_tool_error"}
PAID: Object = {"type": "contains_tool_call", "tool_name": "pay"}
AT = "2026-11-24T10:00:{:02}Z"


def call(name: str, at: int, **result: Any) -> list[Object]:
    """Return the two steps of a call, with the ids that every run has."""
    return [
        {
            "step_id": "s1",
            "type": "tool_call",
            "timestamp": AT.format(at),
            "tool_call": {"id": "c1", "name": name, "arguments": {}},
        },
        {
            "step_id": "s2",
            "type": "tool_result",
            "timestamp": AT.format(at),
            "tool_result": {"call_id": "c1", **(result or {"output": "ok"})},
        },
    ]


def run(
    trace_id: str, steps: Sequence[Object] = (), *, parent: str | None = None, **members: Any
) -> ReasoningTrace:
    metadata = {} if parent is None else {"metadata": {"parent_trace_id": parent}}
    document = {
        "trace_id": trace_id,
        "agent_id": trace_id,
        "input": "pay",
        "output": "done",
        "status": "success",
        "steps": list(steps),
        **metadata,
        **members,
    }
    return ReasoningTrace.from_dict(document)


def results(*runs: Any, case: Any = NO_ERROR, **options: Any) -> list[EvalResult]:
    return list(evaluate(case, runs, **options))


def reasons(*runs: Any, case: Any = NO_ERROR, **options: Any) -> list[tuple[Any, Any]]:
    result = results(*runs, case=case, **options)
    return [
        (eval_result.trace_id, eval_result.assertion_results[0].reason) for eval_result in result
    ]


TOP = run("support", call("look_up", 1))
FAILED = run("billing", call("pay", 2, error="declined"), parent="support")


# ------------------------------------------------------------------------------------- trees


@agentool_otel.tool
def pay() -> None:
    raise ValueError("declined")


@agentool_otel.agent
def billing(question: str) -> str:
    try:
        pay()
    except ValueError:
        return "could not pay"
    return "paid"


@agentool_otel.agent
def support(question: str) -> str:
    return billing(question)


def recorded() -> list[Rebuilt]:
    with captured_traces() as traces:
        support("pay")
        return traces.rebuilt()


def test_an_agent_that_another_one_calls_is_part_of_its_run() -> None:
    (result,) = results(*recorded(), case=[NO_ERROR, PAID])
    error, called = result.assertion_results
    assert (error.passed, called.passed) == (False, True)
    assert error.reason == 'pay failed at billing/step_002: "ValueError: declined"'


def test_what_a_test_captured_is_asserted_together() -> None:
    with captured_traces() as traces:
        support("pay")
        with pytest.raises(AssertionError, match="pay failed at billing/step_002"):
            assert_trace(traces, NO_ERROR)


def test_the_outermost_run_alone_does_not_pass() -> None:
    with pytest.raises(AssertionError, match="runs inside it were not found"):
        assert_trace(recorded()[0].trace, NO_ERROR)


def test_a_test_asserts_all_runs_of_an_agent_together() -> None:
    with pytest.raises(AssertionError, match="pay failed at billing/step_002"):
        assert_trace(recorded(), NO_ERROR)


@pytest.mark.parametrize("runs", [[], [TOP, run("other")]])
def test_a_test_asserts_one_run_with_those_inside_it(runs: list[ReasoningTrace]) -> None:
    with pytest.raises(EvaluationError, match="top-level runs"):
        assert_trace(runs, NO_ERROR)


@pytest.mark.parametrize("runs", [(TOP, FAILED), (FAILED, TOP)])
def test_a_run_may_come_before_the_run_around_it(runs: Any) -> None:
    assert reasons(*runs) == [("support", 'pay failed at billing/s2: "declined"')]


def test_a_run_that_lists_the_runs_inside_it_is_enough() -> None:
    inner = run("billing", call("pay", 2, error="declined"))
    top = run("support", metadata={"sub_traces": ["billing"]})
    assert [result.passed for result in results(inner, top)] == [False]


def test_a_listed_run_that_is_missing_may_have_failed() -> None:
    (result,) = results(run("support", metadata={"sub_traces": ["billing"]}))
    assert result.passed is None
    assert "runs inside it were not found: billing" in str(result.to_dict())


def test_a_result_has_the_run_around_it_that_is_missing() -> None:
    (result,) = results(run("billing", call("pay", 1), parent="support"))
    assert result.passed is True
    assert result.extra["missing_parent"] == "support"
    reason = str(result.assertion_results[0].reason)
    assert reason == f"{NO_ERRORS} (the run around it, support, is missing)"


def test_output_status_and_duration_are_the_outermost() -> None:
    inner = run("billing", parent="support", output="no", status="error")
    top = run("support", metrics={"total_duration_ms": 5})
    contents = [
        {"type": "output_equals", "value": "done"},
        {"type": "status"},
        {"type": "latency", "max_ms": 5},
    ]
    (result,) = results(inner, top, case=contents)
    assert (result.trace_id, result.passed) == ("support", True)


def test_tokens_and_costs_are_added_up() -> None:
    used = {"total_tokens": 10, "total_cost_usd": 1}
    runs = run("support", metrics=used), run("billing", parent="support", metrics=used)
    contents = [
        {"type": "context_efficiency", "max_tokens": 19},
        {"type": "max_cost_usd", "max_usd": 2},
    ]
    (result,) = results(*runs, case=contents)
    assert [assertion_result.passed for assertion_result in result.assertion_results] == [
        False,
        True,
    ]


def test_unknown_tokens_of_an_inner_run_are_a_gap() -> None:
    thought = {"step_id": "s", "type": "reasoning", "content": "hm"}
    top = run("support", metrics={"total_tokens": 10})
    inner = run("billing", [thought], parent="support")
    contents = {"type": "context_efficiency", "max_tokens": 19}
    ((_, reason),) = reasons(top, inner, case=contents)
    assert reason.endswith("it may be more: billing: its tokens were not recorded")
    ((_, reason),) = reasons(top, inner, case={**contents, "max_tokens": 9})
    assert reason == "the run used 10 tokens; at most 9 are allowed"


def test_a_gap_of_an_inner_run_is_a_gap_of_the_whole() -> None:
    inner = run("billing", parent="support", status="in_progress")
    ((_, reason),) = reasons(TOP, inner)
    assert reason == "billing: the run has not ended"


def test_a_masked_argument_of_an_inner_run_is_a_gap() -> None:
    steps = call("pay", 2)
    steps[0]["tool_call"]["arguments"] = {"card": "[masked]"}
    contents = {"type": "no_tool_call", "tool_name": "pay", "tool_args": {"card": "7"}}
    (result,) = results(TOP, run("billing", steps, parent="support"), case=contents)
    assert result.passed is None
    assert result.assertion_results[0].extra["step_ids"] == ["billing/s1"]


def test_a_frame_has_input_and_output_of_the_run_inside_it() -> None:
    frame = ReasoningTrace(trace_id="http", agent_id="http", steps=[])
    case = {
        "case_id": "a",
        "input": "pay",
        "assertions": [NO_ERROR, {"type": "output_contains", "text": "done"}],
    }
    (result,) = results(frame, run("support", call("look_up", 1), parent="http"), case=case)
    assert (result.case_id, result.trace_id, result.passed) == ("a", "http", True)


def test_an_inner_run_that_hands_over_needs_no_output() -> None:
    handoff = {"step_id": "s", "type": "handoff", "to_agent": "billing"}
    document = run("triage", [handoff], parent="support").to_dict()
    del document["output"]
    assert results(TOP, ReasoningTrace.from_dict(document))[0].passed is True


def test_agents_of_one_name_have_numbers() -> None:
    inner = [
        run(character, call("pay", n, error="declined"), parent="support", agent_id="billing")
        for n, character in enumerate("ab", 2)
    ]
    ((_, reason),) = reasons(TOP, *inner)
    assert "pay failed at billing#1/s2" in reason
    assert "pay failed at billing#2/s2" in reason


def test_calls_of_all_runs_are_in_the_order_of_time() -> None:
    early = run("early", call("first", 1), parent="top")
    late = run("late", call("third", 3), parent="top")
    contents = {"type": "tool_sequence", "tools": ["first", "second", "third"], "mode": "exact"}
    assert results(late, run("top", call("second", 2)), early, case=contents)[0].passed is True


def test_runs_inside_one_another_are_one_tree() -> None:
    runs = run("a", parent="b"), run("b", call("pay", 1, error="no"), parent="a")
    assert [(result.trace_id, result.passed) for result in results(*runs)] == [("a", False)]


def test_a_run_read_twice_is_inside_another_one_once() -> None:
    contents = {"type": "tool_call_count", "tool_name": "pay", "max_calls": 1}
    (result,) = results(TOP, FAILED, FAILED, case=contents)
    assert (result.passed, result.extra["runs"]) == (True, 2)


@st.composite
def forests(draw: st.DrawFn) -> list[ReasoningTrace]:
    """Return runs of a forest, in any order, each with one call of a tool of its own."""
    count = draw(st.integers(1, 12))
    above = [None, *(draw(st.none() | st.integers(0, n - 1)) for n in range(1, count))]
    times = draw(st.lists(st.integers(0, 59), min_size=count, max_size=count))
    runs = [
        run(f"r{n}", call(f"tool{n}", times[n]), parent=None if up is None else f"r{up}")
        for n, up in enumerate(above)
    ]
    return list(draw(st.permutations(runs)))


def roots(runs: Sequence[ReasoningTrace]) -> dict[str, str]:
    parents = {trace.trace_id: (trace.metadata or {}).get("parent_trace_id") for trace in runs}
    matches: dict[str, str] = {}
    for parent in parents:
        top = parent
        while (up := parents[top]) is not None:
            top = up
        matches[parent] = top
    return matches


@given(forests())
def test_every_run_is_in_the_one_unit_of_its_outermost_run(runs: list[ReasoningTrace]) -> None:
    units = units_of(runs)
    matches = {document_of(item).trace_id: unit for unit in units for item in unit.runs}
    tops = roots(runs)
    assert sum(len(unit.runs) for unit in units) == len(runs)
    assert {key: document_of(unit.runs[0]).trace_id for key, unit in matches.items()} == tops


@given(forests())
def test_a_joined_trace_has_each_call_once_with_its_result(runs: list[ReasoningTrace]) -> None:
    for unit in units_of(runs):
        joined = UnitTrace(unit)
        assert sorted(item.name for item in joined.calls) == sorted(
            call.name for item in unit.runs for call in document_of(item).tool_calls()
        )
        assert all(item.result is not None for item in joined.calls)
        times = [str(step.timestamp) for _, step in joined.steps]
        assert times == sorted(times)
        ids = [step_id for step_id, _ in joined.steps]
        assert len({*ids}) == len(ids)


def units_of(
    runs: Sequence[Any], scope: Scope = "tree", selection: Selection | None = None
) -> list[Unit]:
    units = Units(scope, selection)
    return [*(unit for item in runs for unit in units.put(item)), *units.rest()]


def test_runs_are_evaluated_as_soon_as_they_are_complete() -> None:
    outer, inner = recorded()
    units = Units()
    assert list(units.put(inner)) == []
    (unit,) = units.put(outer)
    assert [document_of(item).agent_id for item in unit.runs] == ["support", "billing"]


# ------------------------------------------------------------------------- runs by themselves


def test_a_run_by_itself_has_the_number_of_runs_left_out() -> None:
    result = dict(reasons(TOP, FAILED, scope="run"))
    assert result["support"] == f"{NO_ERRORS} (1 run inside it left out by the scope run)"
    assert result["billing"] == 'pay failed at s2: "declined"'


@pytest.mark.parametrize(
    "obj",
    [
        NO_ERROR,
        {"type": "no_tool_call", "tool_name": "pay"},
        {"type": "tool_call_count", "max_calls": 1},
        {"type": "tool_sequence", "tools": ["look_up"], "mode": "exact"},
        {"type": "no_loop"},
        {"type": "context_efficiency", "max_tokens": 5},
    ],
)
def test_checks_of_absence_and_count_name_what_was_left_out(obj: Object) -> None:
    top = run("support", call("look_up", 1), metrics={"total_tokens": 5})
    ((_, reason), _) = reasons(top, FAILED, case=obj, scope="run")
    assert "(1 run inside it left out by the scope run)" in reason


@pytest.mark.parametrize("obj", [{"type": "output_contains", "text": "done"}, {"type": "status"}])
def test_other_checks_do_not_name_it(obj: Object) -> None:
    assert "left out" not in str(reasons(TOP, FAILED, case=obj, scope="run"))


def test_an_inner_run_is_a_result_of_its_own_where_it_is_named() -> None:
    units = units_of([TOP, FAILED], selection=Selection(agents=("billing",)))
    assert [document_of(unit.runs[0]).trace_id for unit in units] == ["billing"]
    units = units_of([TOP, FAILED], selection=Selection(statuses=("success",)))
    assert [document_of(unit.runs[0]).trace_id for unit in units] == ["support"]


def test_a_text_may_be_in_any_run_of_a_tree() -> None:
    (unit,) = units_of([TOP, FAILED], selection=Selection(texts=("DECLINED",)))
    assert len(unit.runs) == 2


def test_an_unknown_scope_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="scope is one of tree, run, session"):
        evaluate(NO_ERROR, [], scope="all")  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------- sessions


def turn(trace_id: str, at: int, **members: Any) -> ReasoningTrace:
    started = AT.format(at)
    return run(trace_id, call("pay", at), started_at=started, session_id="s", **members)


def test_a_session_is_all_of_its_runs_in_the_order_of_time() -> None:
    second = turn("b", 20, input="and now?", output="bye", metrics={"total_duration_ms": 3})
    first = turn("a", 10, input="hello", output="hi", metrics={"total_duration_ms": 2})
    inner = run("c", call("look_up", 11), parent="a")
    (unit,) = units_of([second, inner, first], "session")
    joined = UnitTrace(unit).trace
    assert [tool_call.name for tool_call in joined.tool_calls()] == ["pay", "look_up", "pay"]
    assert (joined.trace_id, joined.input, joined.output) == ("a", "hello", "bye")
    assert joined.metrics.total_duration_ms == 5  # type: ignore[union-attr]


def test_a_run_without_a_session_is_one_by_itself() -> None:
    units = units_of([turn("a", 1), run("x"), run("y"), turn("b", 2)], "session")
    assert [len(unit.runs) for unit in units] == [2, 1, 1]


def test_a_session_with_a_failed_run_is_no_success() -> None:
    runs = turn("a", 1, status="error"), turn("b", 2)
    assert results(*runs, case={"type": "status"}, scope="session")[0].passed is False


def test_one_run_without_others_is_seen_as_before() -> None:
    (unit,) = units_of([TOP])
    assert type(judged_trace(unit)) is TraceView
