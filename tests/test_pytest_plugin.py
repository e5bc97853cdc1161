"""The pytest plug-in in test runs of others."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest

from agentool_otel import evaluation
from agentool_otel.testing.captured import captured_traces

pytest_plugins = "pytester"

AGENT = """
import agentool_otel

@agentool_otel.tool
def search(query):
    return [query]

@agentool_otel.agent
def clerk(question):
    return ", ".join(search(question))
"""
CASES = [
    {"case_id": name, "input": name, "assertions": [{"type": "output_contains", "text": name}]}
    for name in ("news", "weather")
]
EACH_CASE = f"""
import pytest
{AGENT}
@pytest.mark.agent_cases("cases.json")
def test_clerk(case, agent_traces, assert_trace):
    clerk(case.input)
    assert_trace(agent_traces.trace, case)
"""


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Load all modules that the runs below load: a run in this process forgets them afterwards, and
    would load them twice.
    """
    space: dict[str, Any] = {}
    exec(AGENT, space)
    with captured_traces() as traces:
        space["clerk"]("news")
    with pytest.raises(AssertionError):
        evaluation.assert_trace(traces.trace, {"type": "no_tool_call"})


@pytest.fixture
def cases(pytester: pytest.Pytester) -> None:
    pytester.makefile(".json", cases=json.dumps(CASES))


def test_what_a_test_runs_is_asserted_on_and_noted_in_the_report(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        AGENT
        + """
def test_right(agent_traces, assert_trace):
    clerk("news")
    assert_trace(agent_traces.trace, {"type": "status"})

def test_wrong(agent_traces, assert_trace):
    clerk("news")
    assert_trace(agent_traces.trace, {"type": "status"}, {"type": "no_tool_call"})
"""
    )
    result = pytester.runpytest_inprocess(
        "--junit-xml=report.xml", "-p", "no:cacheprovider", "-W", "error"
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            '>       assert_trace(agent_traces.trace, {"type": "status"}, *',
            "E       AssertionError: 1 of 2 assertions failed, 0 not evaluated: trace * of clerk",
            "E         ✗ no_tool_call: search was called at step_001",
            "E       steps:",
            'E         > step_001  tool_call    search(query="news")',
            'E           step_002  tool_result  search → [[]"news"]',
        ],
        consecutive=False,
    )
    assert "outcome_of" not in result.stdout.str()  # frames of ours are hidden
    scores = [
        {str(item.get("name")): item.get("value") for item in case.iter("property")}
        for case in ElementTree.parse(pytester.path / "report.xml").iter("testcase")
    ]
    assert [sorted(score) for score in scores] == [["composite_score", "trace_id"]] * 2
    assert [score["composite_score"] for score in scores] == ["1.0", "0.5"]
    assert not (pytester.path / ".agentool").exists()


@pytest.mark.usefixtures("cases")
def test_there_is_a_test_for_each_case_of_a_file(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(EACH_CASE)
    result = pytester.runpytest_inprocess("-v", "--strict-markers", "-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(["*test_clerk[[]news] PASSED*", "*test_clerk[[]weather] PASSED*"])
    shown = pytester.runpytest_inprocess("--markers").stdout
    shown.fnmatch_lines(["@pytest.mark.agent_cases(*files): run the test once for each EvalCase*"])


@pytest.mark.thorough
@pytest.mark.usefixtures("cases")
def test_workers_agree_on_the_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(EACH_CASE)
    result = pytester.runpytest_subprocess("-n", "2", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "*cases.json does not exist*"),
        (
            '{"case_id": "a", "assertions": [{"type": 3}]}',
            "*cases.json:1: *an assertion needs a type*",
        ),
        (
            json.dumps([CASES[0], {"case_id": "bad", "assertions": 1}]),
            "*cases.json:1: case 'bad': assertions: expected array of objects, got int 1",
        ),
        ('{"type": "status"}', "*cases.json holds assertions without a case*"),
    ],
)
def test_a_file_that_is_no_file_of_cases_is_an_error_that_names_it(
    pytester: pytest.Pytester, text: str | None, said: str
) -> None:
    if text is not None:
        pytester.makefile(".json", cases=text)
    pytester.makepyfile(EACH_CASE)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([said])
    assert "Traceback" not in result.stdout.str()


def test_a_run_that_uses_none_of_it_loads_none_of_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
import sys

def test_nothing():
    assert "agentool_otel.pytest_plugin" in sys.modules
    loaded = [it for it in sys.modules if it.startswith(("opentelemetry", "agentool_otel."))]
    assert loaded == ["agentool_otel.pytest_plugin"]
""")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:langsmith_plugin")
    result.assert_outcomes(passed=1)
