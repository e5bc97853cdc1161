"""Assertions for coding agents: commands, exit codes, paths, tests after changes, turns."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel import ReasoningTrace, evaluate
from agentool_otel.evaluation import TraceView
from agentool_otel.evaluation.assertions import _commands as commands
from agentool_otel.evaluation.assertions._edits import path_matches
from agentool_otel.evaluation.assertions._test_commands import TEST_COMMANDS
from agentool_otel.ground import lazy_re as re
from agentool_otel.semconv.redaction import has_marker
from tests.evaluation.runs import Object, verdict

TESTED: Object = {"type": "tests_after_last_change"}


def work(*calls: tuple[str, Any] | tuple[str, Any, Object | None]) -> Object:
    """Return a run of calls: name, arguments, and the result if it is not an empty success."""
    steps: list[Object] = []
    for n, (name, arguments, *results) in enumerate(calls):
        result = results[0] if results else {"output": "ok"}
        call = {"id": f"c{n}", "name": name, "arguments": arguments}
        steps.append({"step_id": f"s{n}", "type": "tool_call", "tool_call": call})
        if result is not None:
            answer = {"call_id": f"c{n}", **result}
            steps.append({"step_id": f"r{n}", "type": "tool_result", "tool_result": answer})
    return {"trace_id": "t", "output": "done", "status": "success", "steps": steps}


def bash(command: str, code: int = 0) -> tuple[str, Object, Object]:
    return (
        "Bash",
        {"command": command},
        {"error": f"Exit code {code}"} if code else {"output": "ok"},
    )


EDIT = "Edit", {"file_path": "/home/ida/shop/src/price.py"}
PASSES, FAILS = bash("pytest -q"), bash("pytest -q", 1)
UNKNOWN = "exec_command", {"cmd": "pytest"}, {"output": "12 passed"}
UNNAMED: tuple[str, Object] = ("[masked]", {})


def exit_code_of(name: str, arguments: Any, result: Object) -> int | None:
    view = TraceView(ReasoningTrace.from_dict(work((name, arguments, result))))
    return commands.exit_code(view, view.calls[0])


# ------------------------------------------------------------------------------------ commands


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Bash", {"command": "cd a && pytest -q"}),
        ("bash", {"command": "pytest"}),
        ("exec_command", {"cmd": "pytest"}),
        ("shell", {"command": ["bash", "-lc", "pytest"]}),
        ("local_shell", "pytest"),
        ("run_shell_command", {"command": "pytest"}),
    ],
)
def test_a_command_is_found_in_the_shell_tools_of_agents(name: str, arguments: Any) -> None:
    assertion = {"type": "ran_command", "pattern": "pytest"}
    assert verdict(assertion, work((name, arguments))).passed is True


def test_other_tools_run_no_command() -> None:
    result = verdict({"type": "ran_command", "pattern": "x"}, work(("ask", {"command": "x"})))
    assert (result.passed, result.reason) == (
        False,
        'no command that matches "x" was run; no tool ran anything',
    )


def test_the_reason_names_what_was_run_instead() -> None:
    result = verdict({"type": "ran_command", "pattern": "make", "exit_code": 0}, work(FAILS))
    assert result.reason == (
        'no command that matches "make" was run with exit code 0; Bash at s0: "pytest -q"'
    )


def test_a_call_without_a_result_may_have_run_nothing() -> None:
    assertion = {"type": "ran_command", "pattern": "ls"}
    result = verdict(assertion, work(("Bash", {"command": "ls"}, None)))
    assert result.passed is None
    assert "whose result was not recorded" in result.reason


def test_a_good_call_passes_whatever_else_is_hidden() -> None:
    hidden = "Bash", {"command": "[masked]"}, {"output": "[masked]"}
    assertion = {"type": "ran_command", "pattern": "pytest", "exit_code": 0}
    assert verdict(assertion, work(hidden, PASSES, UNNAMED)).passed is True
    assert verdict(assertion, work(hidden, FAILS)).passed is None


@pytest.mark.parametrize(
    ("name", "result", "code"),
    [
        ("bash", {"output": "x", "exit_code": 3}, 3),
        ("bash", {"output": {"stdout": "x", "exitCode": 3}}, 3),
        ("bash", {"output": {"returncode": -9}}, -9),
        ("bash", {"output": {"output": "x", "metadata": {"exit": 3}}}, 3),
        ("bash", {"output": "x\n<exited with exit code 3>"}, 3),
        ("bash", {"output": "3"}, None),
        ("bash", {"output": {"exit_code": True}}, None),
        ("shell", {"output": '{"output": "x", "metadata": {"exit_code": 3}}'}, 3),
        ("shell", {"output": "Exit code: 3\nWall time: 1 seconds\nOutput:\nx"}, 3),
        ("exec_command", {"output": "Wall time: 1 s\nProcess exited with code 3\nOutput:\nx"}, 3),
        ("exec_command", {"output": [{"type": "text", "text": "Process exited with code 3"}]}, 3),
        ("exec_command", {"output": "Process running with session ID 7"}, None),
        ("run_shell_command", {"output": "Output: Exit Code: 4\nExit Code: 3\nSignal: 0"}, 3),
        ("run_shell_command", {"output": "Output: x\nExit Code: 3\nProcess Group PGID: 7"}, 3),
        ("run_shell_command", {"output": "Output: x\nProcess Group PGID: 7"}, 0),
        ("run_shell_command", {"output": "Output: x\nSignal: 9\nProcess Group PGID: 7"}, None),
        ("run_shell_command", {"output": "Output: x"}, None),
        ("Bash", {"error": "Exit code 3\nno such file"}, 3),
        ("Bash", {"error": "ShellError: Exit code 3"}, 3),
        ("Bash", {"error": "the user stopped it"}, None),
        ("Bash", {"output": "Exit code 3"}, 0),
        ("Bash", {"output": "[masked]"}, 0),
        ("Bash", {}, None),
    ],
)
def test_the_exit_code_is_where_each_agent_puts_it(
    name: str, result: Object, code: int | None
) -> None:
    assert exit_code_of(name, {"command": "x"}, result) == code


@pytest.mark.parametrize(
    "text",
    [
        "Wall time: [masked]\nProcess exited with code 3",
        "Process exited with code 1… [truncated: 90 characters]",
        '{"metadata": {"exit_code": "[masked]"}}',
    ],
)
def test_a_code_beside_a_gap_is_unknown(text: str) -> None:
    assert exit_code_of("exec_command", {"cmd": "x"}, {"output": text}) is None


def test_a_command_in_the_background_has_no_exit_code() -> None:
    for background, code in ((True, None), (False, 0)):
        arguments = {"command": "x", "run_in_background": background}
        assert exit_code_of("Bash", arguments, {"output": "x"}) == code


# --------------------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("path", "glob", "matches"),
    [
        ("src/a/b.py", "src/**/*.py", True),
        ("/home/ida/src/b.py", "src/**/*.py", True),
        ("/home/ida/mysrc/b.py", "src/**/*.py", False),
        ("src/b.pyc", "src/*.py", False),
        ("src/a/b.py", "src/*.py", False),
        ("/a/b.py", "/a/*.py", True),
        ("/z/a/b.py", "/a/*.py", False),
        ("C:\\shop\\src\\a.py", "src/*.py", True),
        ("D:/shop/a.py", "C:/shop/*.py", False),
        ("./a.py", "./a.py", True),
        ("docs/a.md", "docs/**", True),
    ],
)
def test_a_glob_matches_the_end_of_a_path(path: str, glob: str, matches: bool) -> None:
    assert path_matches(path, glob) is matches


PATCH = "*** Begin Patch\n*** Update File: src/a.py\n+*** Add File: no.py\n*** Move to: b.md\n"
DIFF = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n--- a\n+++ c\n--- a/b.md\n+++ /dev/null\n"


@pytest.mark.parametrize("arguments", [PATCH, {"input": PATCH}, {"patch": DIFF}])
def test_a_patch_names_its_files(arguments: Any) -> None:
    run = work(("apply_patch", arguments))
    for path in ("src/*.py", "b.md"):
        assert verdict({"type": "changed_file", "path": path}, run).passed is True
    assert verdict({"type": "changed_file", "path": "no.py"}, run).passed is False


def test_the_lines_of_a_patch_are_no_redaction_markers() -> None:
    assert not any(has_marker(line) for line in PATCH.splitlines())
    assert has_marker("*** Update")
    assert has_marker("**** Update File: a.py")


def test_of_a_patch_with_gaps_only_whole_lines_count() -> None:
    run = work(("apply_patch", {"input": "*** Add File: a.py\n+[masked]\n*** Add File: b[masked]"}))
    assert verdict({"type": "changed_file", "path": "a.py"}, run).passed is True
    assert verdict({"type": "changed_file", "path": "b"}, run).passed is None


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("Edit", "file_path"),
        ("NotebookEdit", "notebook_path"),
        ("replace", "file_path"),
        ("create", "path"),
        ("edit", "path"),
        ("edit", "file_path"),
    ],
)
def test_each_argument_that_is_declared_for_a_name_is_tried(name: str, argument: str) -> None:
    run = work((name, {argument: "src/a.py"}))
    assert verdict({"type": "changed_file", "path": "a.py"}, run).passed is True


def test_a_call_that_only_looks_at_a_file_changes_nothing() -> None:
    run = work(("str_replace_editor", {"command": "view", "path": "a.py"}))
    assert verdict({"type": "changed_file", "path": "a.py"}, run).passed is False
    assert verdict(TESTED, run).passed is True
    hidden = work(("str_replace_editor", {"command": "[masked]", "path": "a.py"}))
    assert verdict({"type": "changed_file", "path": "a.py"}, hidden).passed is None


# --------------------------------------------------------------------------------------- tests


@pytest.mark.parametrize(
    ("calls", "passed"),
    [
        ([], True),
        ([FAILS], True),
        ([EDIT], False),
        ([PASSES, EDIT], False),
        ([EDIT, PASSES], True),
        ([EDIT, FAILS], False),
        ([EDIT, FAILS, PASSES], True),
        ([EDIT, PASSES, FAILS], False),
        ([EDIT, PASSES, EDIT], False),
        ([EDIT, PASSES, (*EDIT, {"error": "not found"})], True),
        ([EDIT, PASSES, bash("ls", 2)], True),
        ([EDIT, UNKNOWN], None),
        ([UNKNOWN, EDIT, PASSES], True),
        ([EDIT, UNKNOWN, PASSES], True),
        ([EDIT, PASSES, UNNAMED], None),
        ([UNNAMED, EDIT, PASSES], True),
        ([EDIT, PASSES, (*EDIT, None)], None),
        ([EDIT, ("Bash", {"command": "pytest"}, {"error": "permission_denied"})], False),
    ],
)
def test_the_last_change_has_to_be_tested(calls: list[Any], passed: bool | None) -> None:
    result = verdict(TESTED, work(*calls))
    assert result.passed is passed, result.reason


def test_the_reason_names_what_is_not_known() -> None:
    hidden: tuple[str, Object, Object] = ("Bash", {"command": "[masked]"}, {})
    assert verdict(TESTED, work(EDIT, UNKNOWN, hidden)).reason == (
        "the exit code of the tests at s1 is not known; what Bash did at s2 is not known"
    )


def test_a_tool_that_was_called_outside_the_run_may_have_ended_otherwise() -> None:
    elsewhere = {"metadata": {"unmatched_tools": ["Bash"]}}
    assert verdict(TESTED, work(EDIT, PASSES) | elsewhere).passed is None
    assert verdict(TESTED, work(EDIT) | elsewhere).passed is False


def test_the_outcome_of_the_tests_may_not_matter() -> None:
    assertion = {**TESTED, "passed": False}
    for tests in (PASSES, FAILS, UNKNOWN):
        assert verdict(assertion, work(EDIT, tests)).passed is True
    assert verdict(assertion, work(EDIT)).passed is False


def test_the_steps_of_the_verdict_are_the_change_and_the_tests() -> None:
    result = verdict(TESTED, work(EDIT, PASSES, EDIT, FAILS))
    assert result.step_ids == ("s1", "s2", "s3")
    assert (
        result.reason == "the last change, at s2, was tested, and the last test run did not succeed"
    )


TESTS = [
    "pytest -q",
    "cd x && python3 -W error -m unittest discover",
    "CI=1 npm run test:unit",
    "pnpm test",
    "npx vitest run",
    "uv run --frozen pytest",
    "bash -lc 'pytest'",
    "go test ./...",
    "cargo +nightly test",
    "./gradlew :app:test",
    "mvn -q test",
    "make -j4 check",
    "dotnet test",
    "bundle exec rspec",
    "vendor/bin/phpunit",
    "timeout 60 .venv/bin/pytest",
    "tox -e py",
    "swift test",
]
NO_TESTS = [
    "pip install pytest",
    "python -m pip install tox",
    "cat pytest.ini",
    "git commit -m 'pytest'",
    "npm run build",
    "go build",
    "make build",
    "git checkout test",
    "echo go test",
]


def test_commands_that_run_tests_are_known() -> None:
    pattern = re.compile(TEST_COMMANDS)
    assert [command for command in TESTS if not pattern.search(command)] == []
    assert [command for command in NO_TESTS if pattern.search(command)] == []


# --------------------------------------------------------------------------- denials and turns


def test_a_denial_of_a_call_that_is_not_shown_counts() -> None:
    run = work(PASSES)
    lone = {"call_id": "x", "error": "permission_denied"}
    run["steps"].append({"step_id": "l", "type": "tool_result", "tool_result": lone})
    assert verdict({"type": "no_denied_tool"}, run).passed is False
    assert verdict({"type": "no_denied_tool", "tool_name": "Bash"}, run).passed is None


def test_an_error_is_no_denial() -> None:
    assert verdict({"type": "no_denied_tool"}, work(FAILS)).passed is True


def turn(n: int, **members: Any) -> ReasoningTrace:
    document = {
        "trace_id": f"t{n}",
        "session_id": "s",
        "started_at": f"2026-11-24T10:00:0{n}Z",
        "output": "done",
        "status": "success",
        "steps": [],
        "metrics": {"total_tokens": 700},
        **members,
    }
    return ReasoningTrace.from_dict(document)


def in_session(assertion: Object, *runs: ReasoningTrace) -> tuple[bool | None, Any]:
    (result,) = evaluate(assertion, runs, scope="session")
    return result.passed, result.assertion_results[0].reason


def test_the_turns_of_a_session_are_its_outermost_runs() -> None:
    inner = turn(3, metadata={"parent_trace_id": "t1"})
    most: Object = {"type": "max_turns", "max_turns": 2}
    assert in_session(most, turn(1), turn(2), inner) == (True, "the session has 2 turns")
    assert in_session(most, turn(1), turn(2), turn(3)) == (
        False,
        "the session has 3 turns; at most 2 are allowed",
    )


def test_the_turns_of_a_session_need_its_scope() -> None:
    most: Object = {"type": "max_turns", "max_turns": 1}
    (result,) = evaluate(most, [turn(1)])
    reason = "this is one turn of session s; --scope session counts all of them"
    assert result.passed is None
    assert result.assertion_results[0].reason == reason
    assert in_session(most, turn(1))[0] is True


def test_runs_inside_one_missing_run_are_one_turn() -> None:
    inside = [turn(n, metadata={"parent_trace_id": "gone"}) for n in (1, 2, 3)]
    assert in_session({"type": "max_turns", "max_turns": 1}, *inside)[0] is True


def test_a_session_that_goes_on_may_have_more_turns() -> None:
    passed, reason = in_session(
        {"type": "max_turns", "max_turns": 2}, turn(1), turn(2, status="in_progress")
    )
    assert passed is None
    assert "the run has not ended" in reason


def test_the_tokens_of_a_session_are_those_of_all_its_runs() -> None:
    most: Object = {"type": "context_efficiency", "max_tokens": 1400}
    assert in_session(most, turn(1), turn(2)) == (True, "the run used 1400 tokens")
    assert in_session({**most, "max_tokens": 1399}, turn(1), turn(2))[0] is False
    assert in_session(most, turn(1), turn(2), turn(3))[0] is False
