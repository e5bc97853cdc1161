"""Files of cases: JSON, YAML and ADK eval sets, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel import Assertion, EvalCase
from agentool_otel.errors import CasesError, DecodeError
from agentool_otel.evaluation.cases.files import read_cases
from agentool_otel.integrations.adk.format import AdkEvalSet
from tests.evaluation.runs import RUN, Object, changed, verdict
from tests.evaluation.test_evaluate import trace

CASE = {"case_id": "a", "input": "What is new?", "assertions": [{"type": "status"}]}


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(text: str | Object, name: str = "cases.yaml") -> Path:
        path = tmp_path / name
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path

    return write


def documents(path: Path) -> list[Object]:
    result, problems = read_cases(path)
    assert problems == []
    return [item.to_dict() for item in result]


# ---------------------------------------------------------------------------------------- YAML

LIST = """
- case_id: a
  input: What is new?
  assertions: [{type: status}]
"""


@pytest.mark.parametrize("text", [LIST, "cases:" + LIST, LIST[1:].replace("- ", "  ", 1)])
def test_cases_are_a_list_one_document_or_the_member_cases(file: Any, text: str) -> None:
    assert documents(file(text)) == [CASE]


def test_each_document_of_a_yaml_file_is_a_case(file: Any) -> None:
    text = "---\ncase_id: a\nassertions: []\n---\ncase_id: b\nassertions: []\n"
    assert [document["case_id"] for document in documents(file(text))] == ["a", "b"]


def test_assertions_alone_apply_to_every_trace(file: Any) -> None:
    (assertion,) = read_cases(file("assertions:\n- type: latency\n  max_ms: 1000\n"))[0]
    assert isinstance(assertion, Assertion)


def test_values_that_only_yaml_1_1_converts_stay_text(file: Any) -> None:
    text = "{case_id: a, assertions: [{type: output_equals, value: [no, 1:20, 2026-01-01, on]}]}"
    (case,) = documents(file(text))
    assert case["assertions"][0]["value"] == ["no", "1:20", "2026-01-01", "on"]


@given(value=st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_json_is_yaml_and_means_the_same(tmp_path_factory: Any, value: Any) -> None:
    path = tmp_path_factory.mktemp("cases") / "cases.yml"
    case = {"case_id": "a", "assertions": [{"type": "output_equals", "value": value}]}
    path.write_text(json.dumps(case))
    (read,) = documents(path)
    assert read["assertions"][0]["value"] == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("case_id: [", r"expected a value, but found the end of the file \(column 11\) .*:1; hint"),
        ("a: !!python/object/apply:os.system [true]", "could not determine a constructor"),
        ("a: !!binary aGk=", "could not determine a constructor"),
        ("{case_id: a, case_id: b}", "the key 'case_id' stands here twice \\(column 14\\)"),
        ("a: {<<: {b: 1}}", "<< is a merge key, which YAML 1.2 does not have: .* \\(column 5\\)"),
        ("<<: [{b: 1}, {c: 1}]", "<< is a merge key"),
        ("!!merge <<: {b: 1}", "<< is a merge key"),
        ("? [a, b]\n: 1", r"a key is a list or a mapping; .* \(column 3\)"),
        ("&a [*a]", "nested deeper than 100 levels, or holds itself"),
        ("&a {b: " + "[" * 200 + "]" * 200 + "}", "nested deeper than 100 levels"),
        (
            "\n".join(
                f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10) if n else 'x'}]" for n in range(9)
            ),
            "its aliases expand to more than 1,000,000 values",
        ),
    ],
)
def test_yaml_that_is_not_plain_data_is_rejected_with_its_place(
    file: Any, text: str, said: str
) -> None:
    with pytest.raises(DecodeError, match=said):
        read_cases(file(text))


def _nested_aliases(line: str, levels: int) -> str:
    """Return documents in which each level uses the one before it ten times."""
    lines = ["x0: &x0 {k: 1}"]
    for n in range(1, levels):
        lines.append(f"x{n}: &x{n} " + line.replace("*x", f"*x{n - 1}"))
    return "\n".join(lines)


TEN = ", ".join(["*x"] * 10)


@pytest.mark.parametrize(
    "line",
    [f"[{TEN}]", f"{{<<: [{TEN}]}}", f"{{? [{TEN}] : 1}}", f"{{a: [{TEN}]}}", f"[[{TEN}], 1]"],
)
def test_a_file_is_measured_before_anything_in_it_multiplies(file: Any, line: str) -> None:
    with pytest.raises(DecodeError, match="expected YAML, got"):  # and not a MemoryError
        read_cases(file(_nested_aliases(line, 40)))


def test_the_documents_of_a_file_share_one_bound(file: Any) -> None:
    document = _nested_aliases(f"[{TEN}]", 6)  # some 100,000 values
    text = "\n---\n".join([document] * 20).replace("x0: ", "type: t\nx0: ")
    with pytest.raises(CasesError, match="aliases expand to more than 1,000,000 values"):
        read_cases(file(text))


def test_a_quoted_merge_key_is_a_name_like_any_other(file: Any) -> None:
    (case,) = documents(file("{case_id: a, input: {'<<': [1]}, assertions: []}"))
    assert case["input"] == {"<<": [1]}


# --------------------------------------------------------------------------------- ADK eval sets


def test_an_eval_set_written_from_a_run_holds_for_that_run(file: Any) -> None:
    written = AdkEvalSet().write(trace()).value
    path = file({"eval_set_id": "set", "eval_cases": [written]}, "set.evalset.json")
    (case,) = read_cases(path)[0]
    assert isinstance(case, EvalCase)
    assert (case.eval_id, case.case_id, case.input) == ("set", "tr_1", RUN["input"])
    kinds = [assertion.type for assertion in case.assertions]
    assert kinds == ["tool_sequence", "handoff", "output_property"]
    assert all(verdict(assertion.to_dict(), RUN).passed for assertion in case.assertions)
    verdicts = [
        verdict(assertion.to_dict(), changed(output="Nothing.")) for assertion in case.assertions
    ]
    assert [item.passed for item in verdicts] == [True, True, None]


INVOCATION: Object = {
    "userContent": {"role": "user", "parts": [{"text": "What is"}, {"text": "new?"}]},
    "finalResponse": {"parts": [{"text": "Much."}]},
    "intermediateData": {"toolUses": [{"id": "1", "name": "search_web", "args": {"limit": 3}}]},
}
EVENTS: Object = {
    "user_content": {"parts": [{"text": "And old?"}]},
    "intermediate_data": {
        "invocation_events": [
            {"author": "a", "content": {"parts": [{"function_call": {"name": "look"}}]}},
            {"author": "a", "content": {"parts": [{"text": "thinking"}]}},
            {"author": "a"},
        ]
    },
    "rubrics": [{"rubric_id": "r", "rubric_content": {"text_property": "is polite"}}],
}


def test_every_invocation_of_a_conversation_is_a_case(file: Any) -> None:
    case = {"evalId": "talk", "conversation": [INVOCATION, EVENTS], "sessionInput": {"app": "x"}}
    first, second = documents(file({"evalCases": [case]}, "set.json"))
    assert first == {
        "case_id": "talk#1",
        "input": "What is\nnew?",
        "context": {"session_input": {"app": "x"}},
        "assertions": [
            {
                "type": "tool_sequence",
                "mode": "exact",
                "tools": [
                    {"tool_name": "search_web", "tool_args": {"limit": 3}, "args_mode": "exact"}
                ],
            },
            {
                "type": "output_property",
                "property": "It means the same as this reference answer: Much.",
                "reference": "Much.",
            },
        ],
    }
    assert second["case_id"] == "talk#2"
    assert second["assertions"] == [
        {
            "type": "tool_sequence",
            "mode": "exact",
            "tools": [{"tool_name": "look", "tool_args": {}, "args_mode": "exact"}],
        },
        {"type": "rubric", "rubric": "is polite"},
    ]


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("x", "an eval case is no object"),
        ({}, "the eval case has no eval_id"),
        ({"eval_id": "e", "conversation": []}, "'e' has no conversation"),
        ({"eval_id": "e", "conversation": {}}, "conversation is no list"),
        ({"eval_id": "e", "conversation": [{"intermediate_data": 1}]}, "intermediate_data is no"),
    ],
)
def test_anything_but_an_eval_case_is_an_error_with_its_line(
    file: Any, case: Any, said: str
) -> None:
    good = {"eval_id": "good", "conversation": [INVOCATION]}
    text = json.dumps({"eval_cases": [good, case]}).replace(
        f", {json.dumps(case)}]", f",\n{json.dumps(case)}]"
    )
    with pytest.raises(CasesError, match=rf"set\.json:2: .*{said}"):
        read_cases(file(text, "set.json"))


def test_a_scenario_has_no_input_and_the_other_cases_are_read(file: Any) -> None:
    good = {"eval_id": "good", "conversation": [INVOCATION]}
    scenario = {"eval_id": "e", "conversation_scenario": {}}
    result, (problem,) = read_cases(file({"eval_cases": [scenario, good]}, "set.json"))
    assert len(result) == 1
    assert problem.where.endswith("set.json:1")
    assert "'e' is a scenario for a simulated user" in problem.message
