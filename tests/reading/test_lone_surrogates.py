"""Half a character that a JSON text escapes is U+FFFD in every document that is read from it."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel import load
from agentool_otel.evaluation.cases.files import read_cases
from tests.coding_agents.recordings import FOLDER

SESSIONS = sorted(folder for folder in FOLDER.glob("*/answer/session") if folder.is_dir())
HALF = "a\ud83e"
WHOLE = "a\ufffd"
halves = st.lists(
    st.sampled_from(["\ud83e", "\udd16", "\\", "u", "é", '"']), min_size=1, max_size=6
).map("".join)


def message(role: str, text: str, ensure_ascii: bool) -> str:
    part = {"type": "text", "content": text}
    return json.dumps([{"role": role, "parts": [part]}], ensure_ascii=ensure_ascii)


def otlp(text: str, *, escaped: bool) -> dict[str, Any]:
    """Return an OTLP document with a model call whose messages are JSON with a text."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": message("user", text, escaped),
        "gen_ai.output.messages": message("assistant", text, escaped),
    }
    span = {
        "traceId": "1" * 32,
        "spanId": "2" * 16,
        "name": "chat",
        "startTimeUnixNano": "1000000000000000000",
        "endTimeUnixNano": "1000000000000000001",
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in attributes.items()
        ],
    }
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "s"}, "spans": [span]}]}]}


def trace(text: str) -> dict[str, Any]:
    return {"trace_id": "t", "input": text, "output": text, "steps": []}


def atif(text: str) -> dict[str, Any]:
    steps = [{"source": "user", "message": text}, {"source": "agent", "message": text}]
    return {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": {}, "steps": steps}


WRITERS: dict[str, Callable[[str], Any]] = {
    "otlp, escaped twice": lambda text: otlp(text, escaped=True),
    "otlp": lambda text: otlp(text, escaped=False),
    "trace": trace,
    "trajectory": atif,
}


def whole(text: str) -> str:
    """Return text with one U+FFFD for each run of halves, of which some readers note one damage."""
    replaced = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return re.sub("\ufffd+", "\ufffd", replaced)


@pytest.mark.parametrize("indent", [None, 1], ids=["line", "document"])
@pytest.mark.parametrize("writer", WRITERS)
@settings(max_examples=25, deadline=None)
@given(text=halves)
def test_a_text_of_a_file_is_whole(
    tmp_path_factory: pytest.TempPathFactory, writer: str, indent: int | None, text: str
) -> None:
    path = tmp_path_factory.mktemp("half") / "file.jsonl"
    path.write_text(json.dumps(WRITERS[writer](text), indent=indent) + "\n")
    (read,) = load(path)
    assert [whole(str(value)) for value in (read.input, read.output)] == [whole(text)] * 2
    assert f"{read.input}{read.output}".encode()


@pytest.mark.parametrize("folder", SESSIONS, ids=lambda folder: folder.parent.parent.name)
def test_the_texts_of_a_session_are_whole(tmp_path: Path, folder: Path) -> None:
    """Every text of a session with a blank in it ends with half a character."""
    shutil.copytree(folder, tmp_path / "session")
    for path in (tmp_path / "session").rglob("*.json*"):
        lines = path.read_text("utf-8").splitlines()
        try:
            path.write_text("\n".join(json.dumps(_halved(json.loads(line))) for line in lines))
        except ValueError:  # a document of several lines
            path.write_text(json.dumps(_halved(json.loads("\n".join(lines)))))
    documents = "".join(read.to_json() for read in load(tmp_path / "session"))
    assert documents.encode()
    assert "\\ud83e" not in documents


def _halved(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _halved(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_halved(item) for item in value]
    return f"{value}\ud83e" if isinstance(value, str) and " " in value else value


@pytest.mark.parametrize("name", ["cases.json", "cases.jsonl", "cases.yaml"])
def test_the_texts_of_cases_are_whole(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    case = {"case_id": HALF, "assertions": [{"type": "output_contains", "text": HALF}]}
    path.write_text(json.dumps(case))
    (read,), _ = read_cases(path)
    assert read.to_dict()["case_id"] == WHOLE
    assert read.to_dict()["assertions"][0]["text"] == WHOLE


@pytest.mark.parametrize("suffix", ["parquet", "sqlite"])
def test_the_texts_of_a_table_are_whole(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"spans.{suffix}"
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": message("assistant", HALF, ensure_ascii=True),
    }
    row = {
        "trace_id": "1" * 32,
        "span_id": "2" * 16,
        "name": "chat",
        "start_time": 10**18,
        "end_time": 10**18 + 1,
        "attributes": json.dumps(attributes),
    }
    if suffix == "parquet":
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.Table.from_pylist([row]), path)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute(f"CREATE TABLE spans ({', '.join(row)})")
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO spans VALUES ({marks})", tuple(row.values()))
    (read,) = load(path)
    assert read.output == WHOLE
