"""`--engine spark`: the same input from lines, from Parquet and on a cluster of two workers gives
the same trajectories and verdicts. It is shuffled, duplicated and skewed, and has broken rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from agentool_otel.errors import MissingDependencyError
from agentool_otel.ground.json_codec import canonical
from agentool_otel.tables import spans as table
from tests.spark.spans import (
    agents,
    loops,
    shuffled,
    skewed,
    with_session,
    write_lines,
    write_parquet,
)

pytestmark = [pytest.mark.backends, pytest.mark.usefixtures("spark_is_there")]

CLUSTER = "--master local-cluster[2,1,1024] pyspark-shell"
SKEWED = 100_000
CHECKS = [
    {"type": "no_tool_error"},
    {"type": "contains_tool_call", "tool_name": "search_web"},
    {"type": "tool_call_count", "max_calls": 18},
]


def command(*arguments: object, master: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command; `master` is an argument for Spark, else it takes what it takes by itself."""
    env = {name: value for name, value in os.environ.items() if name != "PYSPARK_SUBMIT_ARGS"}
    if master is not None:
        env["PYSPARK_SUBMIT_ARGS"] = master
    return subprocess.run(
        [sys.executable, "-m", "agentool_otel", *map(str, arguments)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def values(output: str) -> list[str]:
    """Return the lines of an output in one spelling and order, without the time of evaluation."""
    documents: list[dict[str, Any]] = [json.loads(line) for line in output.splitlines()]
    for document in documents:
        document.pop("evaluated_at", None)
    return sorted(map(canonical, documents))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("acceptance")
    spans = [*agents(280), *with_session(loops(100), "s1"), *skewed(SKEWED)]
    spans = shuffled(spans)
    write_lines(folder / "spans.jsonl", spans)
    write_parquet(folder / "sound.parquet", spans)
    with (folder / "spans.jsonl").open("ab") as file:
        file.write(b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "12\n')
    (folder / "spans.parquet").mkdir()
    (folder / "sound.parquet").rename(folder / "spans.parquet" / "a.parquet")
    row = {**dict.fromkeys(table.SCHEMA.names), "trace_id": "12", "span_id": "1", "events": "{"}
    broken = pa.RecordBatch.from_pylist([row], schema=table.SCHEMA)
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_batches([broken]), folder / "spans.parquet" / "b.parquet")
    (folder / "checks.json").write_text(json.dumps(CHECKS))
    return folder


@pytest.fixture(scope="module")
def expected(folder: Path) -> list[str]:
    done = command("rebuild", folder / "spans.jsonl")
    assert done.returncode == 1  # of the broken line
    return values(done.stdout)


WAYS = [("spans.jsonl", None), ("spans.parquet", None), ("spans.jsonl", CLUSTER),
        ("spans.parquet", CLUSTER)]  # fmt: skip


@pytest.mark.parametrize(("name", "master"), WAYS)
def test_trajectories_are_those_of_one_process(
    folder: Path, expected: list[str], name: str, master: str | None
) -> None:
    done = command("rebuild", "--engine", "spark", folder / name, master=master)
    assert values(done.stdout) == expected, done.stderr[-3000:]
    assert done.returncode == 1
    assert done.stderr.count("problem: ") == 1, done.stderr
    assert f"{len(expected)} traces, 1" in done.stderr


@pytest.mark.parametrize(("name", "master"), WAYS)
def test_verdicts_are_those_of_one_process(folder: Path, name: str, master: str | None) -> None:
    local = command("eval", folder / "checks.json", folder / "spans.jsonl")
    done = command(
        "eval", folder / "checks.json", folder / name, "--engine", "spark", master=master
    )
    assert values(done.stdout) == values(local.stdout), done.stderr[-3000:]
    assert done.returncode == local.returncode == 1
    assert done.stderr.splitlines()[-1].split("; ")[0] in local.stderr


def test_a_folder_of_parquet_is_written(folder: Path, expected: list[str]) -> None:
    written = folder / "trajectories.parquet"
    arguments = ("--engine", "spark", "--format", "parquet", "-o", written)
    done = command("rebuild", folder / "spans.parquet", *arguments)
    assert done.stdout == ""
    assert done.returncode == 1, done.stderr
    assert values(command("rebuild", written).stdout) == expected


def test_a_host_name_without_an_address_is_no_matter(folder: Path) -> None:
    inner = [sys.executable, "-m", "agentool_otel", "rebuild", "--engine", "spark"]
    script = 'hostname no-such-host && exec "$@"'
    unshared = ["unshare", "--uts", "sh", "-c", script, "sh"]
    if subprocess.run([*unshared, "true"], capture_output=True, check=False).returncode:
        pytest.skip("the name of this machine cannot be changed for one process")
    write_lines(folder / "few.jsonl", agents(28))
    done = subprocess.run(
        [*unshared, *inner, str(folder / "few.jsonl")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(values(done.stdout)) == 1


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_a_missing_library_is_named_before_java_starts(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentool_otel.spark import session

    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr(session, "_started", lambda *_: pytest.fail("Java was started"))
    with (
        pytest.raises(MissingDependencyError, match=f"(?i){library}.*pip install"),
        session.spark_session("a test"),
    ):
        pass


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rebuild", "x.jsonl", "--jobs", "2"], "--jobs is not supported with --engine spark"),
        (["rebuild", "x.jsonl", "--last", "1"], "--last is not supported with --engine spark"),
        (["rebuild", "x.jsonl", "--fidelity", "f"], "--fidelity is not supported"),
        (["rebuild", "x.jsonl", "--format", "atif"], "--format atif is not supported"),
        (["eval", "checks.json", "x.jsonl", "--junit", "r"], "--junit is not supported"),
        (["eval", "checks.json", "x.jsonl", "--by", "agent"], "--by is not supported"),
    ],
)
def test_other_options_are_refused(folder: Path, arguments: list[str], words: str) -> None:
    paths = [folder / name if name.endswith("json") else name for name in arguments]
    done = command(*paths, "--engine", "spark")
    assert done.returncode == 2
    assert words in done.stderr


def test_a_place_of_another_kind_has_a_hint(folder: Path) -> None:
    (folder / "spans.pb").write_bytes(b"")
    done = command("rebuild", "--engine", "spark", folder / "spans.pb")
    assert done.returncode == 3
    assert f" export {folder}/spans.pb --format parquet -o spans.parquet" in done.stderr
