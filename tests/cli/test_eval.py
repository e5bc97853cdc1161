"""`eval`: recorded runs and documents held against cases."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import Result
from rich.console import Console
from rich.text import Text

from agentool_otel.cli._verdicts import print_line
from tests.cli.conftest import Invoke

SPEC = Path(__file__).parent.parent / "fixtures" / "spec"
TRACE = json.loads((SPEC / "reasoning-trace.json").read_text())
OK = {"type": "status"}
WRONG = {"type": "latency", "max_ms": 1}
UNKNOWN = {"type": "rubric", "rubric": "is polite"}
IS_GOOD = {"case_id": "good", "input": TRACE["input"], "assertions": [OK]}


def write(name: str, *values: Any) -> str:
    Path(name).write_text("\n".join(map(json.dumps, values)))
    return name


def traces(*changes: dict[str, Any]) -> str:
    return write("traces.jsonl", *({**TRACE, **change} for change in changes or ({},)))


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_results_are_json_lines_if_stdout_is_no_terminal(invoke: Invoke, recording: Path) -> None:
    contents = {"type": "contains_tool_call", "tool_name": "add", "tool_args": {"a": 1, "b": 2}}
    result = invoke("eval", write("a.json", contents), recording)
    assert result.exit_code == 0, result.stderr
    (value,) = lines(result)
    assert value["passed"] is True
    assert value["assertion_results"][0]["reason"].startswith("add called at step_")
    assert "1 passed, 0 failed, 0 not evaluated; 1 trace" in result.stderr


def test_a_summary_is_printed_into_a_pipe_where_asked_for(invoke: Invoke, recording: Path) -> None:
    cases = write("a.json", {"type": "no_tool_error"})
    result = invoke("eval", cases, recording, "--summary")
    assert result.exit_code == 1
    assert "    ✗ no_tool_error: " in result.stdout
    assert "adder        1         0         1" in result.stdout
    assert lines(invoke("eval", cases, recording, "--json"))[0]["passed"] is False
    both = invoke("eval", cases, recording, "--summary", "-o", "results.jsonl")
    assert "    ✗ no_tool_error: " in both.stdout
    assert json.loads(Path("results.jsonl").read_text())["passed"] is False


def test_a_tool_that_fails_in_a_recording_fails(invoke: Invoke, recording: Path) -> None:
    result = invoke("eval", write("a.json", {"type": "no_tool_error"}), recording)
    assert result.exit_code == 1
    assert "nothing to add" in lines(result)[0]["assertion_results"][0]["reason"]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(IS_GOOD),
        json.dumps([IS_GOOD]),
        json.dumps(IS_GOOD, indent=2),
        json.dumps(IS_GOOD) + "\n" + json.dumps({**IS_GOOD, "case_id": "other"}) + "\n",
        json.dumps({"assertions": [OK]}),
        json.dumps(OK),
        json.dumps([OK, OK]),
    ],
)
def test_a_file_holds_one_case_a_list_or_lines_or_assertions_alone(
    invoke: Invoke, text: str
) -> None:
    Path("cases").write_text(text)
    result = invoke("eval", "cases", traces())
    assert result.exit_code == 0, result.stderr
    assert all(line["passed"] for line in lines(result))


def test_cases_come_from_standard_input_too(invoke: Invoke) -> None:
    place = traces()
    assert invoke("eval", "-", place, input=json.dumps(OK).encode()).exit_code == 0
    assert invoke("eval", "-", "-").exit_code == 2


@pytest.mark.parametrize(
    ("held", "codes"),
    [
        ([OK], {"any": 0, "failed": 0, "never": 0}),
        ([OK, WRONG], {"any": 1, "failed": 1, "never": 0}),
        ([OK, UNKNOWN], {"any": 1, "failed": 0, "never": 0}),
    ],
)
def test_the_outcomes_that_set_the_exit_code_can_be_chosen(
    invoke: Invoke, held: list[Any], codes: dict[str, int]
) -> None:
    place, cases = traces(), write("a.json", held)
    assert invoke("eval", cases, place).exit_code == codes["any"]
    for fail_on, code in codes.items():
        assert invoke("eval", cases, place, "--fail-on", fail_on).exit_code == code


def test_a_share_that_is_enough_makes_a_pass(invoke: Invoke) -> None:
    place, cases = traces(), write("a.json", [OK, UNKNOWN])
    assert invoke("eval", cases, place, "--min-evaluated", 0.5).exit_code == 0
    assert invoke("eval", cases, place, "--min-evaluated", 0.6).exit_code == 1
    assert invoke("eval", cases, place, "--min-evaluated", 2).exit_code == 2


def test_a_case_without_a_trace_and_a_trace_without_a_case_are_reported(invoke: Invoke) -> None:
    cases = write("cases.jsonl", IS_GOOD, {**IS_GOOD, "case_id": "lost", "input": "else"})
    result = invoke("eval", cases, traces({}, {"trace_id": "odd", "input": "who?"}))
    assert result.exit_code == 1
    assert [(line["case_id"], line["passed"]) for line in lines(result)] == [
        ("good", True),
        ("lost", None),
    ]
    assert "not evaluated: trace odd: its run names no case, and no case has" in result.stderr
    assert "1 case without a trace" in result.stderr


def test_wrong_cases_are_listed_before_the_first_trace_is_read(invoke: Invoke) -> None:
    bad = {"case_id": "bad", "assertions": [{"type": "latency", "max_sec": 5}, {"type": "x"}]}
    cases = write("cases.jsonl", IS_GOOD, bad, {"case_id": "worse", "asertions": []})
    for fail_on in ("any", "failed", "never"):
        result = invoke("eval", cases, "nowhere", "--fail-on", fail_on, "-o", "results")
        assert (result.exit_code, result.stdout, Path("results").exists()) == (2, "", False)
        heading, *problems = result.stderr.splitlines()[:4]
        assert heading == "error: 3 problems in the cases, and nothing was evaluated:"
        assert problems[0].endswith(
            "2: case 'bad': latency has no parameter 'max_sec'; did you mean 'max_ms'?"
        )
        assert problems[1].startswith("  cases.jsonl:2: case 'bad': unknown assertion type 'x'; ")
        assert problems[2].startswith("  cases.jsonl:3: case 'worse': expected an object with mem")
        assert "is 'asertions' meant as 'assertions'?" in result.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "an assertion (type), got nothing - in cases"),
        ("dear diary", "expected JSON, got an error: "),
        (
            "[3]",
            "expected a case (case_id, assertions) or an assertion (type), got int 3 - in cases:1",
        ),
        ('{"colour": 1}', "an object with members colour"),
    ],
)
def test_a_file_without_cases_is_unreadable(invoke: Invoke, text: str, said: str) -> None:
    Path("cases").write_text(text)
    result = invoke("eval", "cases", traces())
    assert result.exit_code == 3
    assert said in result.stderr


def test_a_file_that_is_not_there_is_unreadable(invoke: Invoke) -> None:
    assert invoke("eval", "nowhere.json", traces()).exit_code == 3
    assert invoke("eval", write("a.json", OK), "nowhere").exit_code == 3


def test_partly_unreadable_input_is_not_a_success(invoke: Invoke) -> None:
    place = traces()
    with Path(place).open("a") as file:
        file.write("\n{broken\n")
    result = invoke("eval", write("a.json", OK), place)
    assert result.exit_code == 1
    assert [line["passed"] for line in lines(result)] == [True]
    assert "problem:" in result.stderr


def test_no_traces_at_all_is_not_a_success(invoke: Invoke) -> None:
    Path("empty.jsonl").write_text("")
    result = invoke("eval", write("a.json", OK), "empty.jsonl")
    assert result.exit_code == 1
    assert "0 traces" in result.stderr


def test_the_table_is_sliced_worst_first(invoke: Invoke) -> None:
    place = traces(
        {"agent_id": "fine"},
        {"agent_id": "poor", "status": "error", "metadata": {"tags": ["x", "y"]}},
        {"agent_id": "poor"},
    )
    cases = write("a.json", OK)
    shown = invoke("eval", cases, place, "--by", "agent").stderr
    assert "✗ trace tr_7f3a9b  score 0.0  1 of 1 evaluated" in shown
    assert '✗ status: the run ended with "error", expected "success"' in shown
    table = [line.split() for line in shown.splitlines() if line[:4] in ("fine", "poor")]
    assert table == [
        ["poor", "2", "1", "1", "0", "50%", "0.500"],
        ["fine", "1", "1", "0", "0", "100%", "1.000"],
    ]
    by_tag = invoke("eval", cases, place, "--by", "tag").stderr
    assert [line.split()[0] for line in by_tag.splitlines()[-5:-2]] == ["x", "y", "(unknown)"]
    by_day = invoke("eval", cases, place, "--by", "day").stderr
    assert by_day.splitlines()[-3].split()[:2] == ["2026-03-01", "3"]


def test_a_result_that_is_not_evaluated_has_no_score(invoke: Invoke) -> None:
    cases, place = write("a.json", [OK, UNKNOWN]), traces({"agent_id": "fine"})
    shown = invoke("eval", cases, place, "--by", "agent", "--html", "report.html").stderr
    (row,) = (line.split() for line in shown.splitlines() if line.startswith("fine"))
    assert row == ["fine", "1", "0", "0", "1", "-", "-"]
    assert "1.000" not in Path("report.html").read_text()


def test_models_are_those_of_the_spans(invoke: Invoke) -> None:
    (place,) = sorted((SPEC.parent / "spans").glob("anthropic-*.anthropic.jsonl"))[-1:]
    shown = invoke("eval", write("a.json", OK), place, "--by", "model").stderr
    assert "claude" in shown


def test_results_go_to_a_file_and_never_to_an_input(invoke: Invoke) -> None:
    place, cases = traces(), write("a.json", OK)
    result = invoke("eval", cases, place, "-o", "results.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads(Path("results.jsonl").read_text())["passed"] is True
    for input_file in (place, cases):
        before = Path(input_file).read_text()
        assert invoke("eval", cases, place, "-o", input_file).exit_code == 2
        assert Path(input_file).read_text() == before


def test_junit_has_a_test_case_for_each_assertion(invoke: Invoke) -> None:
    cases = write("a.json", [OK, WRONG, UNKNOWN])
    invoke("eval", cases, traces({"trace_id": "tr\u0001"}), "--junit", "report.xml")
    (suite,) = ElementTree.parse("report.xml").getroot()
    assert suite.get("name") == "every trace [tr\\x01]"
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["3", "1", "1"]
    outcomes = [[child.tag for child in case] for case in suite.iter("testcase")]
    assert outcomes == [[], ["failure"], ["skipped"]]
    (failure,) = suite.iter("failure")
    assert failure.get("message") == "the run took 15000 ms; at most 1 is allowed"


def test_runs_are_selected_by_their_facets(invoke: Invoke) -> None:
    place = traces({}, {"trace_id": "other", "agent_id": "writer", "started_at": "2020-01-01"})
    result = invoke("eval", write("a.json", OK), place, "--agent", "wr*")
    assert [line["trace_id"] for line in lines(result)] == ["other"]
    assert result.stderr.endswith(
        "1 trace not selected\n1 passed, 0 failed, 0 not evaluated; 1 of 2 traces\n"
    )
    assert invoke("eval", "a.json", place, "--until", "1h").exit_code == 0
    assert invoke("eval", "a.json", place, "--since", "1h").exit_code == 1  # nothing is left
    assert invoke("eval", "a.json", place, "--since", "soon").exit_code == 2


def test_a_rule_selects_the_case_of_a_run_that_names_none(invoke: Invoke) -> None:
    cases = write("cases.json", {**IS_GOOD, "input": "else"})
    place = traces({"session_id": "good"})
    assert invoke("eval", cases, place).exit_code == 1
    assert invoke("eval", cases, place, "--match", "session_id").exit_code == 0
    assert invoke("eval", cases, place, "--match", "=").exit_code == 2


def test_cases_are_yaml_too(invoke: Invoke) -> None:
    Path("cases.yaml").write_text("- type: status\n- type: latency\n  max_ms: 1\n")
    (result,) = lines(invoke("eval", "cases.yaml", traces()))
    assert [assertion_result["passed"] for assertion_result in result["assertion_results"]] == [
        True,
        False,
    ]
    assert invoke("eval", "-", "traces.jsonl", input="- type: status\n").exit_code == 0


def test_a_page_and_a_comment_are_written_beside_the_results(invoke: Invoke) -> None:
    cases = write("a.json", [OK, WRONG])
    files = ["--html", "r.html", "--markdown", "r.md", "-o", "r.jsonl"]
    assert invoke("eval", cases, traces({"agent_id": "clerk"}), *files).exit_code == 1
    assert "1 of 1 result failed" in Path("r.html").read_text()
    assert "| `clerk` | 1 | 0 | 1 | 0 | 0% | 0.500 |" in Path("r.md").read_text()
    by_day = invoke("eval", cases, traces(), "--by", "day", "--markdown", "day.md")
    assert by_day.exit_code == 1
    assert "| day |" in Path("day.md").read_text()


@pytest.mark.parametrize("option", ["--junit", "--html", "--markdown"])
def test_a_report_is_neither_an_input_nor_another_output(invoke: Invoke, option: str) -> None:
    place, cases = traces(), write("a.json", OK)
    for file in (place, cases):
        before = Path(file).read_text()
        assert invoke("eval", cases, place, option, file).exit_code == 2
        assert Path(file).read_text() == before
    refused = invoke("eval", cases, place, "-o", "same", option, "same")
    assert (refused.exit_code, Path("same").exists()) == (2, False)


def test_text_too_wide_for_the_terminal_continues_indented() -> None:
    shown = StringIO()
    console = Console(file=shown, force_terminal=True, width=30, color_system=None)
    print_line(console, Text("  ✗ latency: 93000 ms, expected at most 60000"))
    assert shown.getvalue() == "  ✗ latency: 93000 ms,\n    expected at most 60000\n"


# ----------------------------------------------------------------------------------- scopes

FAILED_CALL = [
    {"step_id": "s1", "type": "tool_call", "tool_call": {"id": "c", "name": "pay"}},
    {"step_id": "s2", "type": "tool_result", "tool_result": {"call_id": "c", "error": "declined"}},
]
OUTER = {"trace_id": "outer", "agent_id": "support", "session_id": "x"}
INNER = {
    "trace_id": "inner",
    "agent_id": "billing",
    "steps": FAILED_CALL,
    "metadata": {"parent_trace_id": "outer"},
}
NEXT = {"trace_id": "next", "agent_id": "support", "session_id": "x"}


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ((), {"outer": False, "next": True}),
        (("--scope", "run"), {"inner": False, "outer": True, "next": True}),
        (("--scope", "session"), {"outer": False}),
        (("--agent", "billing"), {"inner": False}),
        (("--agent", "support"), {"outer": False, "next": True}),
    ],
)
def test_the_scope_names_what_a_result_is_about(
    invoke: Invoke, options: tuple[str, ...], found: dict[str, bool]
) -> None:
    Path("runs").mkdir()
    for name, document in (("a", INNER), ("b", OUTER), ("c", NEXT)):
        write(f"runs/{name}.jsonl", {**TRACE, "metadata": {}, **document})
    value = write("a.json", {"type": "no_tool_error"})
    reports = ("--junit", "j.xml", "--html", "h.html", "-o", "out.jsonl")
    result = invoke("eval", value, "runs", *options, *reports, "--by", "case")
    assert result.exit_code == 1, result.stderr
    loads = map(json.loads, Path("out.jsonl").read_text().splitlines())
    assert {item["trace_id"]: item["passed"] for item in loads} == found
    assert len(list(ElementTree.parse("j.xml").iter("testcase"))) == len(found)
    assert "declined" in Path("h.html").read_text()
    traces = "1 trace" if len(found) == 1 else f"{len(found)} traces"
    assert traces in result.stderr


def test_the_page_has_the_steps_of_inner_runs(invoke: Invoke) -> None:
    value = write("a.json", {"type": "no_tool_error"})
    invoke("eval", value, traces({"metadata": {}, **OUTER}, INNER), "--html", "h.html")
    page = Path("h.html").read_text()
    assert "billing/s2" in page
    assert "pay failed at " in page


CASE = "a case (case_id, assertions) or an assertion (type)"
EXAMPLE = '{"type": "no_tool_error"} is an assertion, {"case_id": "a", "assertions": [...]} a case'
CONTAINS = 'write {"type": "contains_tool_call", "tool_name": "x"}'


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        (
            "- contains_tool_call: x",
            f"expected {CASE}, got an object with members contains_tool_call - in c.yaml:1",
            CONTAINS,
        ),
        (
            "- case_id: a\n  assertions:\n  - contains_tool_call: {tool_name: x, tool_args: {}}",
            "c.yaml:3: case 'a': an assertion needs a type, such as 'contains_tool_call'",
            'write {"type": "contains_tool_call", "tool_name": "x", "tool_args": {}}',
        ),
        ("- x", f"expected {CASE}, got str 'x' - in c.yaml:1", EXAMPLE),
        (
            "- no_tool_errors",
            f"expected {CASE}, got str 'no_tool_errors' - in c.yaml:1",
            'write {"type": "no_tool_error"}',
        ),
        (
            "- case_id: a\n  assertions:\n  - no_tool_error",
            "c.yaml:3: case 'a': expected an assertion (type), got str 'no_tool_error'",
            'write {"type": "no_tool_error"}',
        ),
        ("cases: 3", "c.yaml:1: cases: expected a list of cases, got int 3", ""),
        ("", f"expected {CASE}, got nothing - in c.yaml", EXAMPLE),
        (
            "a: [",
            "expected YAML, got an error: expected a value, but found the end of the file "
            "(column 5) - in c.yaml:1",
            "close the bracket that is open",
        ),
        (
            '- "a\n- b',
            "expected YAML, got the end of the file (column 4; the quote opens in line 1, "
            "column 3) - in c.yaml:2",
            "close the item that is open there",
        ),
        (
            "- case_id: a\n\tassertions: []",
            "expected YAML, got a tab (column 1) - in c.yaml:2",
            "indent with spaces, not with tabs",
        ),
        (
            "- type: status\n status: success",
            "expected YAML, got a line in another column than the lines above (column 2) - in "
            "c.yaml:2",
            "indent the members of one object alike",
        ),
        (
            "- type: contains_toolcall",
            "c.yaml:1: unknown assertion type 'contains_toolcall'; did you mean "
            "'contains_tool_call'?",
            "",
        ),
        (
            "- type: contains_tool_call\n  toolname: x",
            "c.yaml:2: contains_tool_call has no parameter 'toolname'; did you mean 'tool_name'?",
            "",
        ),
        (
            "- case_id: a\n  asertions: []",
            "c.yaml:1: case 'a': expected an object with member 'assertions', got one without it; "
            "is 'asertions' meant as 'assertions'?",
            "",
        ),
    ],
)
def test_a_mistake_in_yaml_is_explained_in_two_lines(
    invoke: Invoke, text: str, said: str, hint: str
) -> None:
    Path("c.yaml").write_text(text)
    lines = invoke("eval", "c.yaml", traces()).stderr.splitlines()
    assert lines == [f"error: {said}", *([f" hint: {hint}"] if hint else [])]


def test_equal_types_with_other_parameters_have_their_own_rows(invoke: Invoke) -> None:
    checks = [{**WRONG, "max_ms": 10**9}, WRONG, OK]
    result = invoke("eval", write("a.json", *checks), traces(), "--summary", "--by", "assertion")
    rows = [line.rsplit(None, 6)[:3] for line in result.stdout.splitlines() if "%" in line]
    assert rows == [
        ['latency {"max_ms":1}', "1", "0"],
        ['latency {"max_ms":1000000000}', "1", "1"],
        ["status", "1", "1"],
    ]
