"""A check that cannot run is an error in its cases: problem, place, and the nearest name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel import evaluate
from agentool_otel.errors import AgentoolError, CasesError, EvaluationError
from agentool_otel.evaluation import Check, assert_trace
from agentool_otel.evaluation.assertion_types import assertion_types
from agentool_otel.evaluation.assertions.limits import Latency
from agentool_otel.evaluation.assertions.tool_sequence import ExpectedCall, ToolSequence
from agentool_otel.evaluation.cases.files import read_cases
from agentool_otel.ground.json_places import line_of
from tests.evaluation.runs import Object
from tests.evaluation.test_evaluate import trace

SEARCH: Object = {"type": "contains_tool_call", "tool_name": "search"}
ARGS: Object = {"type": "args_match", "tool_name": "search"}
SEQUENCE: Object = {"type": "tool_sequence", "tools": ["search"]}
COUNT: Object = {"type": "tool_call_count"}
MODES = "any_order, exact, in_order, subset, superset"
EMPTY = "expected a text that is not empty"

WRONG: list[tuple[Object, str]] = [
    ({"type": "no_tool_eror"}, "unknown assertion type 'no_tool_eror'; did you mean 'no_tool_err"),
    ({"type": "tone"}, "unknown assertion type 'tone'; known types are args_match, "),
    ({"type": "finished", "max": 3}, "finished has no parameter 'max'"),
    ({"type": "result_contains", "text": "x"}, "needs the parameter 'tool_name'"),
    ({"type": "result_contains", "tool_name": "a", "text": ""}, "text of result_contains: "),
    ({"type": "result_matches", "tool_name": "a", "pattern": "("}, "is no regular expression"),
    (
        {"type": "result_schema", "tool_name": "a", "schema": {}},
        "schema of result_schema: expected ",
    ),
    ({"type": "response_format", "schema": {}}, "schema of response_format: expected "),
    ({**COUNT, "min_calls": 0}, "min_calls is 0, which every run has"),
    ({"type": "contains_tool_call"}, "contains_tool_call needs the parameter 'tool_name'"),
    ({**SEARCH, "tool_arg": {}}, "has no parameter 'tool_arg'; did you mean 'tool_args'?"),
    ({**SEARCH, "tool_name": ""}, f"tool_name of contains_tool_call: {EMPTY}"),
    ({"type": "no_tool_call", "tools": "x"}, "no parameter 'tools'; did you mean 'tool_args'?"),
    (COUNT, "neither min_calls nor max_calls is given"),
    ({**COUNT, "min_calls": 3, "max_calls": 2}, "min_calls 3 is more than max_calls 2"),
    ({**COUNT, "max_calls": -1}, "max_calls of tool_call_count: expected int >= 0"),
    ({**SEQUENCE, "mode": "sorted"}, f"mode of tool_sequence: expected one of {MODES}, got 'sor"),
    ({**SEQUENCE, "mode": "in-order"}, "got 'in-order'; did you mean 'in_order'?"),
    ({**SEQUENCE, "tools": []}, "tools is empty, which every run fits in mode 'in_order'"),
    ({**SEQUENCE, "tools": [""]}, f"tools[0] of tool_sequence: {EMPTY}"),
    ({**SEQUENCE, "tools": [{"name": "a"}]}, "tools[0] of tool_sequence has no parameter 'name'; "),
    ({**SEQUENCE, "tools": [{"tool_args": {}}]}, "needs the parameter 'tool_name'"),
    (
        {**SEQUENCE, "tools": ["a", {"tool_name": "a", "args_mode": "subst"}]},
        "tools[1].args_mode of tool_sequence: expected one of at_least, at_most, exact, ignore, "
        "subset, superset, got 'subst'; did you mean 'subset'?",
    ),
    (
        {**ARGS, "mode": "some"},
        "expected one of at_least, at_most, exact, ignore, subset, superset, got",
    ),
    ({**ARGS, "arg_patterns": {"q": "("}}, "arg_patterns.q is no regular expression"),
    ({**ARGS, "arg_patterns": {"q": ""}}, f"arg_patterns.q of args_match: {EMPTY}"),
    ({**ARGS, "arg_schemas": {"q": {"type": 3}}}, "arg_schemas.q: this is no JSON Schema"),
    ({**ARGS, "tool_args": {"q": 1}, "arg_patterns": {"q": "1"}}, "'q' is named by two of"),
    ({"type": "handoff", "to": "a"}, "handoff has no parameter 'to'; handoff takes to_agent"),
    ({"type": "status", "status": 3}, "status of status: expected str | array, got int"),
    ({"type": "status", "status": []}, "status of status: expected a list that is not empty"),
    ({"type": "no_loop", "max_repeats": "4"}, "max_repeats of no_loop: expected int, got str"),
    ({"type": "no_loop", "max_repeats": 0}, "max_repeats of no_loop: expected int >= 1"),
    ({"type": "no_tool_error", "name": "x"}, "no parameter 'name'; did you mean 'tool_name'?"),
    ({"type": "ran_command", "pattern": "("}, "pattern is no regular expression"),
    ({"type": "ran_command", "pattern": "x", "exitcode": 0}, "did you mean 'exit_code'?"),
    ({"type": "changed_file", "file": "a.py"}, "no parameter 'file'; changed_file takes path"),
    ({"type": "changed_file", "path": ""}, f"path of changed_file: {EMPTY}"),
    ({"type": "tests_after_last_change", "pattern": "["}, "pattern is no regular expression"),
    ({"type": "no_denied_tool", "name": "x"}, "no parameter 'name'; did you mean 'tool_name'?"),
    ({"type": "max_turns", "max_turns": 0}, "max_turns of max_turns: expected int >= 1"),
    ({"type": "output_equals"}, "output_equals needs the parameter 'value'"),
    ({"type": "output_contains", "text": []}, "text of output_contains: expected a list that is"),
    ({"type": "output_contains", "text": ["a", ""]}, f"text[1] of output_contains: {EMPTY}"),
    ({"type": "output_matches", "pattern": "["}, "pattern is no regular expression"),
    ({"type": "output_matches", "pattern": ""}, f"pattern of output_matches: {EMPTY}"),
    ({"type": "response_format"}, "response_format needs the parameter 'schema'"),
    ({"type": "response_format", "schema": {"type": 3}}, "schema: this is no JSON Schema"),
    (
        {"type": "response_format", "schema": {"items": {"$ref": "http://127.0.0.1:1/schema"}}},
        "$ref 'http://127.0.0.1:1/schema' is nowhere in this JSON Schema, and nothing is fetched",
    ),
    ({"type": "response_format", "schema": {"$ref": "#/$defs/a"}}, "$ref '#/$defs/a' is nowhere"),
    ({"type": "latency"}, "latency needs the parameter 'max_ms'"),
    ({"type": "latency", "max_sec": 5}, "no parameter 'max_sec'; did you mean 'max_ms'?"),
    ({"type": "context_efficiency", "max_tokens": True}, "expected int | float, got bool"),
    ({"type": "max_cost_usd", "max_cost_usd": 1}, "'max_cost_usd'; did you mean 'max_usd'?"),
    ({"type": "output_property"}, "output_property needs the parameter 'property'"),
    ({"type": "rubric", "rubric": " \n"}, "rubric of rubric: expected a text of more than blanks"),
    ({"type": "no_hallucination", "sources": 1}, "no_hallucination takes min_score"),
    ({"type": "no_hallucination", "min_score": 80}, "expected float <= 1.0"),
]


def test_every_assertion_type_has_a_wrong_row() -> None:
    assert {row[0]["type"] for row in WRONG} - {"no_tool_eror", "tone"} == set(assertion_types())


@pytest.mark.parametrize(("assertion", "message"), WRONG, ids=lambda item: str(item)[:40])
@pytest.mark.parametrize(
    "use",
    [
        lambda assertion: evaluate(assertion, []),
        lambda assertion: evaluate({"case_id": "a", "assertions": [SEARCH, assertion]}, []),
        lambda assertion: assert_trace(trace(), assertion),
    ],
    ids=["evaluate", "case", "assert_trace"],
)
def test_in_python_a_wrong_check_is_an_error_at_the_call(
    use: Callable[[Object], Any], assertion: Object, message: str
) -> None:
    with pytest.raises(AgentoolError) as raised:
        use(assertion)
    if isinstance(raised.value, EvaluationError):  # a DecodeError names the member by its path
        assert message in str(raised.value)


@pytest.mark.parametrize(
    "check",
    [Latency(max_ms=-1), Latency(max_ms="5"), ToolSequence(tools=[""])],  # type: ignore[arg-type]
)
def test_a_check_made_in_python_with_a_wrong_value_is_an_error(check: Check) -> None:
    with pytest.raises(EvaluationError, match=rf"{type(check).__name__}: Expected `"):
        assert_trace(trace(), check)
    assert assert_trace(trace(), ToolSequence(tools=[ExpectedCall(tool_name="search_web")])).passed


def test_all_wrong_checks_are_in_one_message() -> None:
    wrong = [item for item, _ in WRONG if item["type"] in ("tone", "output_contains")]
    with pytest.raises(CasesError) as raised:
        evaluate([{"case_id": "a", "assertions": [SEARCH, *wrong]}], [])
    named = [problem.partition(": ")[0] for problem in raised.value.problems]
    assert named == [f"case 'a', assertion {n}" for n in (2, 3, 4)]
    assert str(raised.value).startswith("3 problems in the cases, and nothing was evaluated:\n")


SEVERAL: list[tuple[Object, list[str]]] = [
    ({**COUNT, "min_calls": -2, "max_calls": -1}, ["min_calls of tool_c", "max_calls of tool_c"]),
    ({**COUNT, "min_calls": -1, "max": 3}, ["tool_call_count has no para", "min_calls of tool_c"]),
    ({**ARGS, "arg_patterns": {"a": "", "b": 1}}, ["arg_patterns.a of", "arg_patterns.b of"]),
    (
        {**SEQUENCE, "mode": "sorted", "tools": ["", "b", {"tool_name": 3, "args_mode": "x"}]},
        ["tools[0] of", "tools[2].tool_name of", "tools[2].args_mode of", "mode of"],
    ),
]


@pytest.mark.parametrize(("assertion", "named"), SEVERAL, ids=lambda item: str(item)[-40:])
def test_all_wrong_values_of_one_assertion_are_named(assertion: Object, named: list[str]) -> None:
    with pytest.raises(CasesError) as raised:
        evaluate(assertion, [])
    messages = [problem.partition(", assertion 1: ")[2] for problem in raised.value.problems]
    assert [text[: len(start)] for text, start in zip(messages, named, strict=True)] == named


def adk(calls: list[Object]) -> Object:
    turn = {"user_content": {"parts": []}, "intermediate_data": {"tool_uses": calls}}
    return {"eval_set_id": "s", "eval_cases": [{"eval_id": "e", "conversation": [turn]}]}


FORMS: dict[str, Callable[[list[Object]], Any]] = {
    "case": lambda item: {"case_id": "a", "input": "x", "assertions": item},
    "list of cases": lambda item: [{"case_id": "a", "assertions": [SEARCH]}, FORMS["case"](item)],
    "member cases": lambda item: {"cases": FORMS["list of cases"](item), "$schema": "x"},
    "assertions": lambda item: {"assertions": item},
    "list of assertions": lambda item: item,
    "list of lists": lambda item: [{"assertions": [SEARCH]}, {"assertions": item}],
}
"""Every form of a file around assertions."""
WRITERS: dict[str, Callable[[Any], str]] = {
    "json": lambda item: json.dumps(item, indent=1),
    "yaml": lambda item: str(yaml.safe_dump(item, default_flow_style=False)),
    "yml": lambda item: "# a comment\n---\n" + str(yaml.safe_dump(item, sort_keys=False)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("suffix", WRITERS)
@given(before=st.integers(0, 3), wrong=st.integers(1, 3))
def test_every_wrong_check_of_a_file_has_its_line(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, form: str, before: int, wrong: int
) -> None:
    bad = {"type": "no_tool_error", "tool_nam": "marker"}
    text = WRITERS[suffix](
        FORMS[form]([*({**SEARCH} for _ in range(before)), *({**bad} for _ in range(wrong))])
    )
    expected = [
        n for n, line in enumerate(text.splitlines(), 1) if re.search(r"\btool_nam\b", line)
    ]
    path = tmp_path_factory.mktemp("cases") / f"cases.{suffix}"
    path.write_text(text)
    with pytest.raises(CasesError) as raised:
        read_cases(path)
    named = [problem.removeprefix(f"{path}:").partition(":") for problem in raised.value.problems]
    assert [int(line) for line, _, _ in named] == expected
    assert len(expected) == wrong
    assert all("did you mean 'tool_name'?" in message for _, _, message in named)


@pytest.mark.parametrize(
    "writer", [lambda item: item, lambda item: {"case_id": "a", "assertions": [item]}]
)
def test_a_wrong_check_of_json_lines_has_its_line(tmp_path: Path, writer: Any) -> None:
    lines = [
        json.dumps(writer(item)) for item in (SEARCH, {"type": "latency"}, SEARCH, {"type": "x"})
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text("\n\n".join(lines))
    with pytest.raises(CasesError) as raised:
        read_cases(path)
    assert [problem.removeprefix(f"{path}:")[:2] for problem in raised.value.problems] == [
        "3:",
        "7:",
    ]


def test_a_wrong_call_of_an_eval_set_has_its_line(tmp_path: Path) -> None:
    text = json.dumps(adk([{"name": "a"}, {"name": ""}]), indent=0)
    (line,) = (n for n, line in enumerate(text.splitlines(), 1) if "intermediate_data" in line)
    path = tmp_path / "set.evalset.json"
    path.write_text(text)
    with pytest.raises(CasesError, match=rf":{line}: case 'e': tools\[1\]\.tool_name of tool_seq"):
        read_cases(path)


_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(
    steps=st.lists(st.text() | st.integers(0, 3), max_size=6),
    siblings=_VALUES,
    indent=st.none() | st.integers(0, 2),
)
def test_the_line_of_a_path_is_that_of_its_value(
    steps: list[str | int], siblings: Any, indent: int | None
) -> None:
    """A value that stands once in a document is found by its path, whatever stands around it."""
    value: Any = "marker-7f3a"
    for step in reversed(steps):
        if isinstance(step, int):
            value = [*[siblings] * step, value, siblings]
        else:
            value = {step + "x": siblings, step: value}
    text = json.dumps(value, indent=indent)
    expected = text[: text.index("marker-7f3a")].count("\n") + 1
    assert line_of(text, tuple(steps)) == expected
    assert 1 <= line_of(text, (*steps, "nowhere", 3)) <= expected
