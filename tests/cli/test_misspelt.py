"""Misspelt names: each is refused, or named once, with a suggestion."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.evaluation.cases.matching import Cases
from agentool_otel.ground import environment
from agentool_otel.ground.unsupported_variables import is_read, refuse_misspelt
from agentool_otel.model.documents import EvalCase, ReasoningTrace, Status
from agentool_otel.reading.rebuild.endings import STOPPED
from tests.cli.conftest import PROGRAM, Invoke

OURS = sorted(
    name
    for name in vars(environment).values()
    if isinstance(name, str) and name.startswith("AGENTOOL_")
)
RUN = '{"trace_id": "t", "agent_id": "a", "input": "q", "output": "o", "steps": []}'
CASE = '{"case_id": "c", "input": "q", "assertions": [{"type": "status"}]}'


@st.composite
def misspelt(draw: st.DrawFn) -> tuple[str, str]:
    """A variable of ours, and the same without one of its letters."""
    name = draw(st.sampled_from(OURS))
    at = draw(st.integers(len("AGENTOOL_"), len(name) - 1))
    return name, name[:at] + name[at + 1 :]


@given(misspelt())
def test_a_misspelt_variable_is_refused(names: tuple[str, str]) -> None:
    _, wrong = names
    if wrong in OURS:
        return
    before = dict(os.environ)
    os.environ[wrong] = "1"
    try:
        refuse_misspelt()
        sentence = environment.refused()[wrong]
    finally:
        os.environ.clear()
        os.environ.update(before)
    assert sentence.startswith(f"{wrong}")
    assert " is meant" not in sentence
    assert any(f"is {item} meant?" in sentence for item in OURS)


def test_variables_that_are_read_are_not_refused() -> None:
    environ = dict.fromkeys([*OURS, "AGENTOOL_ATTIC_TOKEN", "AGENTOOL_ATTIC_TENANT"], "1")
    assert all(map(is_read, environ))
    before = environment.refused()
    refuse_misspelt(environ)
    assert environment.refused() == before


def test_a_variable_of_another_program_is_left_alone() -> None:
    refuse_misspelt({"AGENTOOL_WORKSPACE_COLOUR_SCHEME": "1"})
    assert "AGENTOOL_WORKSPACE_COLOUR_SCHEME" not in environment.refused()


def ran(**variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


def test_a_misspelt_variable_is_reported_once() -> None:
    message = ran(AGENTOOL_JORNAL="off")
    assert message.count("is AGENTOOL_JOURNAL meant?") == 1
    assert ran(AGENTOOL_JOURNAL="off") == ""


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("langchain", "is agentool-langchain meant?"),
        ("langchain,openai", "is agentool-openai meant?"),
        ("agentool-langchain", ""),
        ("urllib3, *", ""),
        ("somebody-elses", ""),
    ],
)
def test_a_framework_without_our_prefix_is_named(names: str, told: str) -> None:
    stderr = ran(OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=names)
    assert told in stderr
    assert bool(stderr) == bool(told)


def test_an_instrumentor_of_another_package_is_no_mistake(tmp_path: Path) -> None:
    information = tmp_path / "another-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: another\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[opentelemetry_instrumentor]\nlangchain = another:Instrumentor\n"
    )
    (tmp_path / "app").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.append({str(tmp_path)!r})\n{PROGRAM}"],
        env=os.environ | {"OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "langchain"},
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path / "app",
    )
    assert done.stderr == ""


@pytest.mark.parametrize("word", [*get_args(Status), *STOPPED])
def test_a_status_with_a_letter_too_few_is_refused(
    invoke: Invoke, tmp_path: Path, word: str
) -> None:
    (tmp_path / "run.json").write_text(RUN)
    result = invoke("show", "run.json", "--status", word[:-2] + word[-1])
    assert result.exit_code == 2
    assert f" hint: did you mean {word!r}?" in result.stderr
    for good in (word, word[:3] + "*", "of another program"):
        assert invoke("show", "run.json", "--status", good).exit_code == 0


def test_an_unknown_status_is_answered_with_the_known_ones(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(RUN)
    (tmp_path / "checks.json").write_text('{"type": "status"}')
    text = f"known ones are {', '.join([*get_args(Status), *STOPPED])}"
    for command in (["show", "run.json"], ["eval", "checks.json", "run.json"]):
        shown = invoke(*command, "--status", "bogus").stderr
        assert f" hint: no run has the status 'bogus'; {text}\n" in shown
        assert "hint: no run has" not in invoke(*command, "--status", "error").stderr


@pytest.mark.parametrize("word", [*get_args(Status)])
def test_a_status_in_a_case_with_a_letter_too_few_is_a_mistake(
    invoke: Invoke, tmp_path: Path, word: str
) -> None:
    (tmp_path / "run.json").write_text(RUN)
    for status in (word[:-2] + word[-1], word.upper(), ["error", word + "s"]):
        (tmp_path / "checks.json").write_text(json.dumps({"type": "status", "status": status}))
        result = invoke("eval", "checks.json", "run.json")
        assert result.exit_code == 2
        assert f"; did you mean {word!r}?" in result.stderr
    for own in (word, "errored", "escalated"):
        (tmp_path / "checks.json").write_text(json.dumps({"type": "status", "status": own}))
        assert invoke("eval", "checks.json", "run.json").exit_code in (0, 1)


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ("contain", "'contains'"),
        ("metdata.ticket", "'metadata'"),
        ("metadata.ticket=contxt.ticket", "'context'"),
    ],
)
def test_a_rule_without_a_member_is_refused(
    invoke: Invoke, tmp_path: Path, rule: str, hint: str
) -> None:
    (tmp_path / "run.json").write_text(RUN)
    (tmp_path / "case.json").write_text(CASE)
    result = invoke("eval", "case.json", "run.json", "--match", rule)
    assert result.exit_code == 2
    message, event = result.stderr.splitlines()
    assert "is no member of" in message
    assert hint in event


@pytest.mark.parametrize("member", [*ReasoningTrace.__struct_fields__, "metadata.a.b", "contains"])
def test_a_rule_of_any_member_is_taken(member: str) -> None:
    Cases([], member)
    if member != "contains":
        for case_member in EvalCase.__struct_fields__:
            Cases([], f"{member}={case_member}")


def test_a_rule_needs_cases(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(RUN)
    (tmp_path / "checks.json").write_text('{"type": "status"}')
    result = invoke("eval", "checks.json", "run.json", "--match", "contains")
    assert result.exit_code == 2
    assert "match chooses between cases" in result.stderr


def test_a_member_that_no_trace_has_is_named(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(RUN)
    (tmp_path / "case.json").write_text(CASE.replace('"q"', '"another"'))
    result = invoke("eval", "case.json", "run.json", "--match", "nonsense")
    assert result.exit_code == 1
    assert "and it has no nonsense to match by\n" in result.stderr


@pytest.mark.parametrize("command", ["eval {} run.json", "compare run.json --cases {}"])
def test_cases_at_a_url_are_refused(invoke: Invoke, tmp_path: Path, command: str) -> None:
    (tmp_path / "run.json").write_text(RUN)
    result = invoke(*command.format("https://me:secret@example.com/cases.jsonl").split())
    assert result.exit_code in (2, 3)
    assert "cases cannot be read from a URL" in result.stderr
    assert "secret" not in result.stderr


RUNS = """
{"trace_id": "t1", "agent_id": "researcher", "status": "success", "steps": [
  {"type": "tool_call", "tool_call": {"id": "c", "name": "get_weather", "arguments": {}}},
  {"type": "tool_result", "tool_result": {"call_id": "c", "output": "sunny"}}]}
{"trace_id": "t2", "agent_id": "writer", "status": "success", "steps": []}
"""


@pytest.fixture
def runs(tmp_path: Path) -> str:
    (tmp_path / "runs.jsonl").write_text(RUNS.replace("\n  ", " ").strip() + "\n")
    (tmp_path / "checks.json").write_text('{"type": "status"}')
    return "runs.jsonl"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("writr", "no run has the agent 'writr'; did you mean 'writer'?"),
        ("zzz", "no run has the agent 'zzz'; there are 'researcher', 'writer'"),
        ("zzz*", "no run has the agent 'zzz*'; there are 'researcher', 'writer'"),
        ("writer", None),
        ("res*", None),
    ],
)
@pytest.mark.parametrize("command", ["show", "show --json", "eval", "compare"])
def test_an_agent_of_no_run_is_named(
    invoke: Invoke, runs: str, command: str, name: str, hint: str | None
) -> None:
    first, *options = command.split()
    cases = ["checks.json"] if first == "eval" else []
    result = invoke(first, *cases, runs, *options, "--agent", name)
    assert result.exit_code == (1 if hint and first == "eval" else 0)
    if hint is None:
        assert "hint: no run has" not in result.stderr
    else:
        assert f" hint: {hint}\n" in result.stderr


def test_without_runs_no_agent_is_named(invoke: Invoke, runs: str) -> None:
    Path(runs).write_text("")
    assert "no run has the agent" not in invoke("show", runs, "--agent", "writr").stderr


@pytest.mark.parametrize(
    ("kind", "name", "hint"),
    [
        ("contains_tool_call", "get_wether", True),
        ("no_tool_call", "get_wether", True),
        ("no_tool_call", "get_weather", False),
        ("no_tool_call", "delete_user", False),
        ("contains_tool_call", "delete_user", False),
    ],
)
@pytest.mark.parametrize("in_case", [False, True])
def test_a_tool_that_no_run_calls_is_named_with_the_nearest(
    invoke: Invoke, runs: str, kind: str, name: str, hint: bool, in_case: bool
) -> None:
    text = f'{{"type": "{kind}", "tool_name": "{name}"}}'
    case = f'{{"case_id": "c", "assertions": [{text}]}}'
    Path("named.json").write_text(case if in_case else text)
    result = invoke("eval", "named.json", runs)
    words = f" hint: no run calls the tool '{name}'; did you mean 'get_weather'?\n"
    assert (words in result.stderr) is hint
    assert ("no run calls" in result.stderr) is hint
