"""A path that leads nowhere: the message names the file that may be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentool_otel.ground.near_names import instead_of
from tests.cli.conftest import Invoke, agentool


@pytest.fixture(autouse=True)
def files(clean_folder: Path) -> None:
    for name in ("runs.jsonl", "checks.yaml", "app.py", "other.json", "sub/traces.json"):
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
        ("other.csv", "other.json"),
        ("prices.csv", ""),
        ("nothere.jsonl", ""),
        ("rums.json", ""),
        ("rusn.jsonl", "runs.jsonl"),
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


@pytest.mark.parametrize(
    ("name", "error", "hint"),
    [
        ("apps.py", "there is no script apps.py", "did you mean 'app.py'?"),
        ("nowhere.py", "there is no script nowhere.py", "run -- python your_app.py"),
        ("sub", "sub is a folder, and no program", "run -- python your_app.py"),
        ("no-program", "command not found: no-program", "run -- python your_app.py"),
    ],
)
def test_run_names_what_may_be_meant(name: str, error: str, hint: str) -> None:
    result = agentool("run", name)
    assert result.returncode == 127
    first, second = result.stderr.splitlines()
    assert first == f"error: {error}"
    assert second.startswith(" hint: ")
    assert second.endswith(hint)
