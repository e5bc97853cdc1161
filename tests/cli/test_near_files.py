"""A path that leads nowhere: the message names the file that may be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentool_otel.ground.near_names import instead_of
from tests.cli.conftest import Invoke, agentool


@pytest.fixture(autouse=True)
def files(clean_folder: Path) -> None:
    for name in ("runs.jsonl", "checks.yaml", "app.py", "sub/traces.json"):
        (clean_folder / name).parent.mkdir(exist_ok=True)
        (clean_folder / name).write_text("")
    (clean_folder / ".agentool").mkdir()


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("run.jsonl", "runs.jsonl"),
        ("Runs.JSONL", "runs.jsonl"),
        ("runs", "runs.jsonl"),
        ("sub/trace.json", "sub/traces.json"),
        (".agentol", ".agentool"),
        ("other.csv", ""),
        ("nowhere/runs.jsonl", ""),
        ("", ""),
        ("r\0uns.jsonl", "runs.jsonl"),
    ],
)
def test_the_nearest_name_in_the_folder_is_meant(path: str, meant: str) -> None:
    assert instead_of(Path(path)) == (f"did you mean {meant!r}?" if meant else "")


def test_only_files_or_only_folders_are_meant() -> None:
    assert instead_of(Path(".agentol"), folders=False) == ""
    assert instead_of(Path("run.jsonl"), files=False) == ""


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        ("show run.jsonl", "runs.jsonl"),
        ("rebuild run.jsonl", "runs.jsonl"),
        ("diff run.jsonl runs.jsonl", "runs.jsonl"),
        ("export run.jsonl -o x", "runs.jsonl"),
        ("convert run.jsonl --to agentool", "runs.jsonl"),
        ("validate run.jsonl", "runs.jsonl"),
        ("eval check.yaml runs.jsonl", "checks.yaml"),
        ("clean .agentol", ".agentool"),
        ("recover .agentol", ".agentool"),
    ],
)
def test_a_command_names_the_file_that_may_be_meant(
    invoke: Invoke, command: str, meant: str
) -> None:
    result = invoke(*command.split())
    assert result.exit_code == 3
    assert f"hint: did you mean {meant!r}?" in result.stdout + result.stderr
    assert len(result.output.splitlines()) <= 2


def test_run_names_the_script_that_may_be_meant() -> None:
    result = agentool("run", "apps.py")
    assert (result.returncode, result.stderr) == (
        127,
        "error: command not found: apps.py\n hint: did you mean 'app.py'?\n",
    )
