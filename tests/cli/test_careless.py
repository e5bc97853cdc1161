"""Mistakes of newcomers: each message has the problem and a hint that works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke, agentool

RUN = {"trace_id": "t", "agent_id": "a", "input": "q", "output": "ok", "status": "success"}


@pytest.fixture(autouse=True)
def files(clean_folder: Path) -> None:
    run = json.dumps({**RUN, "steps": []}) + "\n"
    texts = {
        "runs.jsonl": run,
        "my runs.jsonl": run,
        "checks.json": '{"type": "status", "status": "success"}\n',
        "app.py": "import sys\n",
        "note.txt": "hi\n",
        "empty": "",
    }
    for name, text in texts.items():
        (clean_folder / name).write_text(text)
    (clean_folder / "bin").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\xff")
    (clean_folder / "dir").mkdir()


@pytest.mark.parametrize(
    ("command", "code", "said", "hint"),
    [
        (
            ("show", "app.py"),
            3,
            "app.py is a program, no recording",
            "agentool-otel run -- python app.py",
        ),
        (
            ("eval", "app.py"),
            3,
            "app.py is a program, no document",
            "agentool-otel run -- python app.py",
        ),
        (
            ("eval", "my runs.jsonl", "checks.json"),
            3,
            "my runs.jsonl has no cases, and checks.json has: the file of cases is named first",
            "agentool-otel eval checks.json 'my runs.jsonl'",
        ),
        (
            ("show", "runs.jsonl", "my runs.jsonl"),
            2,
            "expected the number or the id of a run of runs.jsonl, got the file 'my runs.jsonl'",
            "agentool-otel show 'my runs.jsonl'",
        ),
        (
            ("eval", "checks.json", "runs.jsonl#3"),
            3,
            "runs.jsonl#3 does not exist",
            "did you mean 'runs.jsonl'? only diff takes #3; --last 1 takes the newest run",
        ),
        (
            ("show", "my runs.jsonl", "7"),
            2,
            "no run 7 among the 1 of my runs.jsonl",
            "a run is named by its number in the list of agentool-otel show 'my runs.jsonl', or by "
            "its id",
        ),
        (
            ("show", "bin"),
            3,
            "expected spans or trace documents, got binary data with 89 50 4e 47 0d 0a 1a 0a at "
            "its start - in bin",
            "agentool-otel help source lists the formats that are read",
        ),
        (
            ("show", "note.txt"),
            3,
            r"expected spans or trace documents, got text with 'hi\n' at its start - in note.txt",
            "agentool-otel help source lists the formats that are read",
        ),
        (("app.py",), 2, "No such command 'app.py'", "agentool-otel run -- python app.py"),
        (
            ("my runs.jsonl",),
            2,
            "No such command 'my runs.jsonl'",
            "agentool-otel show 'my runs.jsonl'",
        ),
        (
            ("show", "dir"),
            3,
            "no recording in dir (looked for *.jsonl, *.json, *.ndjson, *.pb, *.gz, *.zst, "
            "*.parquet, *.arrow, *.feather)",
            "agentool-otel run -- python app.py records a program, agentool-otel recover "
            "recovers the spans of a killed one",
        ),
        (
            ("show", "localhost:16686"),
            3,
            "localhost:16686 does not exist",
            "did you mean jaeger://localhost:16686?",
        ),
        (
            ("show", "https://tempo.example:3200/"),
            3,
            "https://tempo.example:3200/ is no SOURCE",
            "did you mean tempo+https://tempo.example:3200?",
        ),
        (
            ("show", "runs.jsonl", "--last", "x"),
            2,
            "Invalid value for '--last': 'x' is not an integer.",
            "agentool-otel show --help",
        ),
        (
            ("show", "--since", "yesterday"),
            2,
            "Invalid value for '--since': expected a time, such as 2026-11-22T10:00:00Z, a day, or "
            "how long ago, such as 2h, got 'yesterday'",
            "agentool-otel show --help",
        ),
        (("clean", "runs.jsonl"), 3, "runs.jsonl is a file", "name the folder that it is in"),
        (
            ("recover", "runs.jsonl"),
            3,
            "runs.jsonl is a file",
            "name the folder that the program recorded into",
        ),
    ],
)
def test_a_mistake_is_explained_in_two_lines(
    invoke: Invoke, command: tuple[str, ...], code: int, said: str, hint: str
) -> None:
    result = invoke(*command)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr == f"error: {said}\n hint: {hint}\n"


def test_a_source_without_runs_is_named_by_eval(invoke: Invoke) -> None:
    result = invoke("eval", "checks.json", "empty")
    assert result.exit_code == 1
    assert result.stderr.endswith("0 traces\n hint: nothing is recorded in empty\n")


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        ("pyhton", 127, "error: command not found: pyhton\n hint: did you mean 'python'?\n"),
        ("./note.txt", 126, "error: ./note.txt is not executable\n hint: "),
    ],
)
def test_a_program_that_cannot_run_is_explained(program: str, code: int, said: str) -> None:
    result = agentool("run", "--", program)
    assert result.returncode == code
    assert result.stderr.startswith(said)
