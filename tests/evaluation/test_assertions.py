"""Each assertion type on a run that meets it, one that does not, and stores that keep less."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.evaluation.assertion_checks import assertion_types
from tests.evaluation.runs import RUN, Object, changed, each_argument, verdict, without_calls

SCHEMA = {"type": "object", "required": ["answer"]}
MASKED = "token [masked]"
CUT = "LangSm… [truncated: 40000 characters]"
NEVER_SEEN = changed(status="in_progress")
SEARCH = {"type": "contains_tool_call", "tool_name": "search_web"}
ARGS = {"type": "args_match", "tool_name": "search_web"}
SEQUENCE: Object = {"type": "tool_sequence", "mode": "exact"}
LIMITED: Object = {"tool_name": "search_web", "tool_args": {"limit": 3}}
TWICE: Object = {
    "type": "tool_sequence",
    "mode": "superset",
    "tools": ["search_web", *[{"tool_name": "search_web", "tool_args": {"q": 1}}] * 4],
}
COUNT = {"type": "tool_call_count"}
OUTPUT = {"type": "output_contains", "text": "Braintrust"}


def with_error(error: Any) -> Object:
    run = changed()
    steps = [dict(step) for step in run["steps"]]
    steps[3]["tool_result"] = {"call_id": "c2", "output": None, "error": error}
    return {**run, "steps": steps}


def looping(arguments: Any) -> Object:
    call = {"id": "c", "name": "search_web", "arguments": arguments}
    steps = [{"step_id": f"s{n}", "type": "tool_call", "tool_call": call} for n in range(5)]
    return changed(steps=steps)


def coding(command: str) -> Object:
    """Return a run that edits a file and runs a command, which fails."""
    calls: list[Object] = [
        {"id": "e", "name": "Edit", "arguments": {"file_path": "/home/ida/src/price.py"}},
        {"id": "b", "name": "Bash", "arguments": {"command": command}},
    ]
    results: list[Object] = [
        {"call_id": "e", "output": "done"},
        {"call_id": "b", "error": "Exit code 1\n1 failed"},
    ]
    steps: list[Object] = []
    for call, result in zip(calls, results, strict=True):
        steps.append({"type": "tool_call", "tool_call": call})
        steps.append({"type": "tool_result", "tool_result": result})
    return changed(steps=[{**step, "step_id": f"w{n}"} for n, step in enumerate(steps, 1)])


CODING = coding("pytest -q")
RESULT = {"type": "result_contains", "tool_name": "search_web"}
FINISHED: Object = {"type": "finished"}


def returning(output: Any) -> Object:
    """Return a run whose first tool returns something."""
    run = changed()
    steps = [dict(step) for step in run["steps"]]
    at = next(n for n, step in enumerate(steps) if step["type"] == "tool_result")
    steps[at] = {**steps[at], "tool_result": {**steps[at]["tool_result"], "output": output}}
    return {**run, "steps": steps}


def ending(*ends: str) -> Object:
    """Return a run with answers that did not come to their end; the last is the output."""
    listed: list[Object] = [{"end": end, "span_id": f"{n:016}"} for n, end in enumerate(ends)]
    listed[-1] |= {"is_output": True, "finish_reason": "length"}
    return changed(metadata={"unfinished": listed})


PASS: list[tuple[Object, Object]] = [
    (FINISHED, RUN),
    (FINISHED, changed(metadata={"unfinished": "odd"})),
    ({**SEARCH, "succeeded": True}, RUN),
    ({"type": "contains_tool_call", "tool_name": "read_page", "succeeded": False}, with_error("x")),
    ({**RESULT, "text": "found"}, returning("it was found")),
    ({**RESULT, "text": ["FOUND", "a"], "ignore_case": True}, returning({"a": ["found"]})),
    (
        {"type": "result_matches", "tool_name": "search_web", "pattern": "^it .* found$"},
        returning("it was found"),
    ),
    (
        {"type": "result_schema", "tool_name": "search_web", "schema": SCHEMA},
        returning('{"answer": 1}'),
    ),
    ({"type": "no_tool_error", "in_results": False}, returning({"error": "no page"})),
    ({"type": "no_tool_error"}, returning({"error": None, "results": []})),
    (SEARCH, RUN),
    ({**SEARCH, "tool_args": {"limit": 3}}, RUN),
    ({**SEARCH, "tool_args": {"limit": 3.0}}, RUN),
    ({"type": "no_tool_call", "tool_name": "delete_file"}, RUN),
    ({"type": "no_tool_call", "tool_name": "search_web", "tool_args": {"limit": 9}}, RUN),
    ({**COUNT, "min_calls": 2, "max_calls": 2}, RUN),
    ({**COUNT, "tool_name": "search_web", "max_calls": 1}, RUN),
    ({**COUNT, "min_calls": 1}, NEVER_SEEN),
    ({"type": "tool_sequence", "tools": ["search_web", "read_page"], "mode": "exact"}, RUN),
    ({"type": "tool_sequence", "tools": ["read_page"]}, RUN),
    ({"type": "tool_sequence", "tools": ["read_page", "search_web"], "mode": "any_order"}, RUN),
    ({"type": "tool_sequence", "tools": ["search_web"], "mode": "superset"}, RUN),
    ({"type": "tool_sequence", "tools": ["read_page", "search_web", "x"], "mode": "subset"}, RUN),
    ({**SEQUENCE, "tools": [{**LIMITED, "args_mode": "subset"}, "read_page"]}, RUN),
    ({**SEQUENCE, "tools": [{**LIMITED, "args_mode": "ignore"}, "read_page"]}, each_argument(...)),
    (TWICE, looping({"q": 1})),
    ({**ARGS, "tool_args": {"limit": 3}}, RUN),
    ({**ARGS, "tool_args": {"limit": 3, "query": "agent tools"}, "mode": "exact"}, RUN),
    ({**ARGS, "tool_args": {"limit": 3, "query": "agent tools", "x": 1}, "mode": "superset"}, RUN),
    ({**ARGS, "tool_args": {"limit": 9}, "mode": "ignore"}, each_argument(...)),
    ({**ARGS, "arg_schemas": {"limit": {"minimum": 1}}, "arg_patterns": {"query": "^agent"}}, RUN),
    ({"type": "handoff", "to_agent": "writer"}, RUN),
    ({"type": "handoff"}, RUN),
    ({"type": "status"}, RUN),
    ({"type": "status", "status": ["refusal", "success"]}, RUN),
    ({"type": "no_loop"}, RUN),
    ({"type": "no_loop", "max_repeats": 5}, looping({"q": 1})),
    ({"type": "no_tool_error"}, RUN),
    ({"type": "no_tool_error", "tool_name": "search_web"}, with_error("timeout")),
    ({"type": "ran_command", "pattern": "^pytest", "exit_code": 1}, CODING),
    ({"type": "changed_file", "path": "src/**/*.py"}, CODING),
    ({"type": "tests_after_last_change", "passed": False}, CODING),
    ({"type": "tests_after_last_change"}, RUN),
    ({"type": "no_denied_tool"}, with_error("timeout")),
    ({"type": "no_denied_tool", "tool_name": "search_web"}, with_error("permission_denied")),
    ({"type": "max_turns", "max_turns": 1}, RUN),
    ({"type": "output_equals", "value": RUN["output"]}, RUN),
    ({"type": "output_equals", "value": None}, changed(output=None)),
    (OUTPUT, RUN),
    ({"type": "output_contains", "text": ["LANGSMITH", "sources"], "ignore_case": True}, RUN),
    ({"type": "output_matches", "pattern": r'"sources": \d'}, RUN),
    ({"type": "response_format", "schema": SCHEMA}, RUN),
    ({"type": "response_format", "schema": SCHEMA}, changed(output={"answer": 1})),
    ({"type": "response_format", "schema": {"type": "string"}}, RUN),
    ({"type": "latency", "max_ms": 15000}, RUN),
    ({"type": "context_efficiency", "max_tokens": 3200}, RUN),
    ({"type": "max_cost_usd", "max_usd": 0.01}, RUN),
    # What was looked for stands in what is left.
    ({"type": "output_contains", "text": "LangSm"}, changed(output=CUT)),
    ({"type": "output_contains", "text": "token"}, changed(output=MASKED)),
    ({"type": "output_matches", "pattern": "Lang"}, changed(output=CUT)),
]
FAIL: list[tuple[Object, Object, str]] = [
    (FINISHED, ending("cut"), "the answer was cut by a limit (length)"),
    (FINISHED, ending("broken_off", "left"), "an answer broke off"),
    (FINISHED, ending("refused", "filtered"), "and 1 more did not come to their end"),
    ({**SEARCH, "succeeded": False}, RUN, "no error"),
    (
        {"type": "contains_tool_call", "tool_name": "read_page", "succeeded": True},
        with_error("x"),
        "an error",
    ),
    ({**RESULT, "text": "found"}, returning("nothing"), "did not return a result with"),
    ({**RESULT, "tool_name": "fly", "text": "x"}, RUN, "fly was not called"),
    (
        {"type": "result_matches", "tool_name": "search_web", "pattern": "z{3}"},
        returning("nothing"),
        "did not return a result that",
    ),
    (
        {"type": "result_schema", "tool_name": "search_web", "schema": SCHEMA},
        returning("no JSON"),
        "it is not JSON",
    ),
    (
        {"type": "result_contains", "tool_name": "read_page", "text": "x"},
        with_error("x"),
        "it failed",
    ),
    (
        {"type": "no_tool_error", "in_results": True},
        returning({"error": "no page"}),
        "has error as its first member: it looks like an error",
    ),
    (
        {"type": "output_contains", "text": "zebra"},
        ending("cut"),
        "; the answer was cut by a limit (length)",
    ),
    (
        {**SEARCH, "tool_args": {"limit": 5}},
        RUN,
        "search_web was called at step_001 with limit=3, expected limit=5",
    ),
    (
        {**SEARCH, "tool_name": "ask"},
        RUN,
        "ask was not called; the run called search_web (step_001), read_page (step_003)",
    ),
    ({**SEARCH, "tool_args": {"limit": True}}, RUN, "expected limit=true"),
    (
        {"type": "no_tool_call", "tool_name": "read_page"},
        RUN,
        "read_page was called at step_003",
    ),
    ({"type": "no_tool_call", "tool_name": "read_page"}, NEVER_SEEN, "read_page was called at"),
    (
        {"type": "no_tool_call"},
        RUN,
        "search_web was called at step_001; read_page was called at step_003",
    ),
    (
        {"type": "no_tool_call", "tool_name": "search_web", "tool_args": {"limit": 3}},
        RUN,
        'search_web was called at step_001 with {"limit":3}',
    ),
    (
        {**COUNT, "max_calls": 1},
        RUN,
        "tools were called 2 times (step_001, step_003); at most 1 is allowed",
    ),
    ({**COUNT, "max_calls": 1}, NEVER_SEEN, "called 2 times"),
    (
        {**COUNT, "tool_name": "ask", "min_calls": 1},
        RUN,
        "ask was not called; at least 1 is required",
    ),
    (
        {**COUNT, "tool_name": "search_web", "min_calls": 2, "max_calls": 2},
        RUN,
        "search_web was called once (step_001); exactly 2 are required",
    ),
    (
        {**COUNT, "min_calls": 3, "max_calls": 4},
        RUN,
        "2 times (step_001, step_003); at least 3 are required and at most 4 are allowed",
    ),
    (
        {"type": "tool_sequence", "tools": ["read_page", "search_web"]},
        RUN,
        "the run called search_web (step_001), read_page (step_003); "
        "expected read_page, search_web in this order",
    ),
    ({"type": "tool_sequence", "tools": ["read_page"], "mode": "exact"}, RUN, "exactly read_page"),
    ({"type": "tool_sequence", "tools": ["x"], "mode": "any_order"}, RUN, "; x is missing"),
    ({"type": "tool_sequence", "tools": ["x"], "mode": "superset"}, RUN, "; x is missing"),
    (
        {"type": "tool_sequence", "tools": ["x"], "mode": "subset"},
        RUN,
        "; search_web, read_page are not expected",
    ),
    (
        {**SEQUENCE, "tools": [{**LIMITED, "args_mode": "exact"}, "read_page"]},
        RUN,
        'expected exactly search_web({"limit":3}), read_page',
    ),
    ({**TWICE, "mode": "subset"}, RUN, "; read_page is not expected"),
    (TWICE, RUN, 'search_web({"q":1}), search_web({"q":1})'),
    ({**ARGS, "tool_args": {"limit": 3}, "mode": "exact"}, RUN, 'query="agent tools", expected no'),
    ({**ARGS, "tool_args": {"site": "x"}}, RUN, 'with no site, expected site="x"'),
    ({**ARGS, "tool_args": {"limit": 3}, "mode": "superset"}, RUN, "expected no query"),
    ({**ARGS, "arg_schemas": {"limit": {"minimum": 5}}}, RUN, "limit=3, expected limit to match"),
    ({**ARGS, "arg_patterns": {"query": "^news"}}, RUN, "expected query to match the regex"),
    (
        {"type": "handoff", "to_agent": "editor"},
        RUN,
        "the run handed over to writer at step_005, expected a handoff to editor",
    ),
    ({"type": "handoff"}, looping({}), "the run did not hand over"),
    (
        {"type": "status"},
        changed(status="refusal"),
        'the run ended with "refusal", expected "success"',
    ),
    (
        {"type": "status"},
        changed(status="error", metadata={"error": {"type": "KeyError", "message": "'city'"}}),
        'the run ended with "error" ("KeyError: \'city\'"), expected "success"',
    ),
    (
        {"type": "no_loop"},
        looping({"q": 1}),
        "search_web was called 5 times in a row with equal arguments (s0, s1, s2, s3, s4); "
        "at most 4 are allowed",
    ),
    ({"type": "no_loop"}, changed(status="loop_detected"), 'ended with "loop_detected"'),
    ({"type": "no_tool_error"}, with_error("timeout"), 'read_page failed at step_004: "timeout"'),
    ({"type": "no_tool_error"}, with_error(MASKED), "read_page failed at step_004"),
    (
        {"type": "ran_command", "pattern": "pytest", "exit_code": 0},
        CODING,
        'was run with exit code 0; Bash at w3: "pytest -q" with exit code 1',
    ),
    ({"type": "changed_file", "path": "*.md"}, CODING, 'Edit at w1: "/home/ida/src/price.py"'),
    (
        {"type": "tests_after_last_change"},
        CODING,
        "the last change, at w1, was tested, and the last test run did not succeed",
    ),
    (
        {"type": "tests_after_last_change", "pattern": "npm"},
        CODING,
        "no test was run after the last change, at w1",
    ),
    (
        {"type": "no_denied_tool"},
        with_error("permission_denied: no"),
        "read_page was denied at step_004",
    ),
    ({"type": "output_equals", "value": "42"}, RUN, 'expected "42"'),
    ({"type": "output_contains", "text": "Phoenix"}, RUN, '"Phoenix" is not in the output'),
    (OUTPUT, changed(output=None), "not in the output null"),
    ({"type": "output_matches", "pattern": "^LangSmith"}, RUN, "has no match in the output"),
    ({"type": "response_format", "schema": {"type": "array"}}, RUN, "not of type 'array' - at $"),
    ({"type": "response_format", "schema": SCHEMA}, changed(output="Hello"), "it is not JSON"),
    ({"type": "latency", "max_ms": 14999}, RUN, "the run took 15000 ms; at most 14999 are allowed"),
    ({"type": "latency", "max_ms": 1}, NEVER_SEEN, "15000 ms"),
    ({"type": "context_efficiency", "max_tokens": 3000}, RUN, "the run used 3200 tokens; at most"),
    ({"type": "max_cost_usd", "max_usd": 0.003}, RUN, "the run cost 0.0032 US dollars; at most"),
]
UNSEEN: list[tuple[Object, Object, str]] = [
    (FINISHED, NEVER_SEEN, "the run has not ended"),
    ({**RESULT, "text": "found"}, returning(MASKED), "that can be seen"),
    ({**RESULT, "text": "found"}, NEVER_SEEN, "the run has not ended"),
    (
        {"type": "result_matches", "tool_name": "search_web", "pattern": "found"},
        returning(CUT),
        "that can be seen",
    ),
    (
        {"type": "result_schema", "tool_name": "search_web", "schema": SCHEMA},
        returning({"answer": MASKED}),
        "that can be seen",
    ),
    ({"type": "no_tool_error"}, returning("Error: no page"), "begins with an error"),
    ({**SEARCH, "succeeded": True}, returning({"status": "error"}), "looks like an error"),
    # Missing.
    (SEARCH, without_calls(), "its metrics count 2 tool calls, and the trace has 0"),
    (SEARCH, changed(steps=[], metrics=..., output=...), "neither tool calls nor an output"),
    ({**SEARCH, "tool_name": "ask"}, changed(metadata={"incomplete": True}), "is incomplete"),
    ({**SEARCH, "tool_args": {"limit": 3}}, each_argument(...), "was not recorded"),
    ({"type": "no_tool_call"}, without_calls(), "its metrics count 2 tool calls"),
    ({**COUNT, "max_calls": 3}, NEVER_SEEN, "there may be more: the run has not ended"),
    ({**COUNT, "min_calls": 1}, without_calls(), "its metrics count 2 tool calls"),
    ({"type": "tool_sequence", "tools": ["x"]}, NEVER_SEEN, "the run has not ended"),
    ({"type": "tool_sequence", "tools": [], "mode": "subset"}, without_calls(), "its metrics"),
    ({**ARGS, "tool_args": {"limit": 3}}, each_argument(...), "was not recorded"),
    ({"type": "handoff", "to_agent": "editor"}, NEVER_SEEN, "the run has not ended"),
    (
        {"type": "handoff", "to_agent": "a"},
        changed(steps=[{"type": "handoff"}]),
        "the agent of the handoff at step",
    ),
    ({"type": "status"}, changed(status=...), "no status"),
    ({"type": "status"}, NEVER_SEEN, "the run has not ended"),
    ({"type": "no_loop"}, without_calls(), "its metrics count 2 tool calls"),
    ({"type": "no_tool_error"}, changed(steps=RUN["steps"][:3]), "no result of the calls at"),
    (
        {"type": "no_denied_tool"},
        changed(steps=RUN["steps"][:3]),
        "no result of the calls at step_003 was recorded",
    ),
    ({"type": "ran_command", "pattern": "ls"}, without_calls(), "its metrics count 2 tool calls"),
    ({"type": "changed_file", "path": "*.md"}, {**CODING, "status": "in_progress"}, "not ended"),
    ({"type": "tests_after_last_change"}, NEVER_SEEN, "may be missing: the run has not ended"),
    ({"type": "max_turns", "max_turns": 1}, NEVER_SEEN, "there may be more: the run has not ended"),
    ({"type": "output_equals", "value": "x"}, changed(output=...), "was not recorded"),
    (OUTPUT, changed(output=...), "was not recorded"),
    ({"type": "output_matches", "pattern": "x"}, changed(output=...), "was not recorded"),
    ({"type": "response_format", "schema": SCHEMA}, changed(output=...), "was not recorded"),
    ({"type": "latency", "max_ms": 1}, changed(metrics=...), "was not recorded"),
    ({"type": "latency", "max_ms": 99999}, NEVER_SEEN, "it may be more"),
    ({"type": "context_efficiency", "max_tokens": 1}, changed(metrics=...), "was not recorded"),
    (
        {"type": "max_cost_usd", "max_usd": 1},
        changed(metrics=...),
        "the cost of the run was not recorded; --cost computes it",
    ),
    # Redacted.
    ({**SEARCH, "tool_args": {"limit": 3}}, each_argument(MASKED), "is redacted: masked"),
    (
        {"type": "no_tool_call", "tool_name": "search_web", "tool_args": {"limit": 3}},
        each_argument(MASKED),
        "is redacted",
    ),
    (
        {**SEQUENCE, "tools": [LIMITED, "read_page"]},
        each_argument(MASKED),
        "but not all of search_web at step_001 can be seen",
    ),
    ({**ARGS, "tool_args": {"limit": 3}}, each_argument(MASKED), "is redacted"),
    (
        {**ARGS, "arg_schemas": {"limit": {"minimum": 1, "type": "number"}}},
        each_argument(MASKED),
        "is redacted",
    ),
    ({"type": "no_loop"}, looping({"q": MASKED}), "arguments that cannot all be seen"),
    (
        {"type": "handoff", "to_agent": "a"},
        changed(steps=[{"type": "handoff", "to_agent": MASKED}]),
        "the agent of the handoff at step",
    ),
    ({"type": "output_equals", "value": "token x"}, changed(output=MASKED), "is redacted"),
    (OUTPUT, changed(output=MASKED), "is redacted"),
    ({"type": "output_matches", "pattern": "^Brain"}, changed(output=MASKED), "is redacted"),
    ({"type": "response_format", "schema": SCHEMA}, changed(output=MASKED), "is redacted"),
    ({"type": "ran_command", "pattern": "ls"}, coding(MASKED), "which is redacted: masked"),
    ({"type": "no_denied_tool"}, with_error("[masked]"), "the error at step_004 cannot be seen"),
    # Truncated.
    ({"type": "ran_command", "pattern": "test"}, coding(CUT), "which is truncated"),
    ({**SEARCH, "tool_args": {"query": "LangSmith"}}, each_argument(CUT), "is truncated"),
    ({**ARGS, "arg_patterns": {"query": "Smith$"}}, each_argument(CUT), "is truncated"),
    ({"type": "no_loop"}, looping({"q": CUT}), "arguments that cannot all be seen"),
    ({"type": "output_equals", "value": "LangSmith"}, changed(output=CUT), "is truncated"),
    (OUTPUT, changed(output=CUT), "is truncated"),
    ({"type": "output_matches", "pattern": "Braintrust"}, changed(output=CUT), "is truncated"),
    ({"type": "output_matches", "pattern": "z"}, changed(output="a" * 100_001), "were searched"),
    ({"type": "response_format", "schema": SCHEMA}, changed(output=CUT), "is truncated"),
    # For a judge.
    ({"type": "output_property", "property": "is polite"}, RUN, "no judge"),
    ({"type": "no_hallucination"}, RUN, "no judge"),
    ({"type": "rubric", "rubric": "names its sources"}, RUN, "no judge"),
]


def named(table: list[Any]) -> list[str]:
    return [f"{n}-{row[0]['type']}" for n, row in enumerate(table)]


@pytest.mark.parametrize(("assertion", "run"), PASS, ids=named(PASS))
def test_an_assertion_that_holds_passes(assertion: Object, run: Object) -> None:
    result = verdict(assertion, run)
    assert (result.passed, result.score) == (True, 1.0), result.reason


@pytest.mark.parametrize(("assertion", "run", "reason"), FAIL, ids=named(FAIL))
def test_an_assertion_that_does_not_hold_fails_with_the_reason(
    assertion: Object, run: Object, reason: str
) -> None:
    result = verdict(assertion, run)
    assert (result.passed, result.score) == (False, 0.0), result.reason
    assert reason in result.reason


@pytest.mark.parametrize(("assertion", "run", "reason"), UNSEEN, ids=named(UNSEEN))
def test_an_assertion_whose_evidence_is_missing_is_not_evaluated(
    assertion: Object, run: Object, reason: str
) -> None:
    result = verdict(assertion, run)
    assert (result.passed, result.score) == (None, None), result.reason
    assert reason in result.reason


def test_every_assertion_type_has_a_row_for_what_it_cannot_see() -> None:
    assert {row[0]["type"] for row in UNSEEN} == set(assertion_types())


def test_a_verdict_names_the_steps_it_rests_on() -> None:
    assert verdict(SEARCH, RUN).step_ids == ("step_001",)
    assert verdict({"type": "no_tool_error"}, with_error("x")).step_ids == ("step_004",)
    assert verdict({"type": "handoff"}, RUN).step_ids == ("step_005",)


def failing(assertion: Object, run: Object) -> Any:
    """The steps of a verdict, and those of them that are not as they should be."""
    result = verdict(assertion, run)
    assert result.passed is False
    return len(result.step_ids), result.extra.get("failing_step_ids")


def test_of_too_many_calls_those_beyond_the_limit_are_the_failing_ones() -> None:
    run = looping({"q": 1})
    for most in range(5):
        beyond = [f"s{n}" for n in range(most, 5)]
        count = {"type": "tool_call_count", "max_calls": most}
        assert failing(count, run) == (5, beyond)
        if most:
            assert failing({"type": "no_loop", "max_repeats": most}, run) == (5, beyond)
    assert failing({**COUNT, "min_calls": 6}, run) == (5, [])


def test_of_a_sequence_the_unexpected_calls_are_the_failing_ones() -> None:
    tools: list[tuple[list[str], str, list[str]]] = [
        (["search_web", "ask"], "exact", ["step_003"]),
        (["read_page"], "exact", ["step_001"]),
        (["search_web", "read_page", "ask"], "exact", []),
        (["ask"], "in_order", []),
        (["ask"], "any_order", []),
        (["search_web"], "subset", ["step_003"]),
    ]
    for names, mode, steps in tools:
        assertion = {"type": "tool_sequence", "tools": names, "mode": mode}
        assert failing(assertion, RUN) == (2, steps), (names, mode)


def test_a_failed_comparison_has_the_expected_and_the_actual_value() -> None:
    result = verdict({**ARGS, "tool_args": {"limit": 5, "site": "x"}, "mode": "exact"}, RUN)
    assert result.extra["differences"] == [
        {"name": "limit", "expected": "5", "actual": "3", "step_id": "step_001"},
        {"name": "site", "expected": '"x"', "actual": "no site", "step_id": "step_001"},
        {
            "name": "query",
            "expected": "no query",
            "actual": '"agent tools"',
            "step_id": "step_001",
        },
    ]
    result = verdict({"type": "output_equals", "value": "42"}, changed(output="a" * 1000))
    ((output,),) = result.extra.values()
    assert (output["name"], output["expected"]) == ("output", '"42"')
    assert output["actual"].endswith("… (1002 characters)")
    patterns = verdict({**ARGS, "arg_patterns": {"query": "^news"}}, RUN).extra["differences"]
    assert patterns[0]["expected"] == 'a match of the regex "^news"'


def test_a_result_has_a_bounded_number_of_differences() -> None:
    arguments = {f"a{n}": 1 for n in range(100)}
    assertion = {"type": "contains_tool_call", "tool_name": "search_web", "tool_args": arguments}
    assert len(verdict(assertion, RUN).extra["differences"]) == 20
