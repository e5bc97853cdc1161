"""Targets of hostile files: valid ones with some bytes changed, in a process with little memory.

Valid files are made once a process. Reading a changed one ends in time, with clean words, and asks
for no more memory than the limits of input allow.
"""

from __future__ import annotations

import io
import json
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing, suppress
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

from agentool_otel.cli import main
from agentool_otel.errors import AgentoolError
from agentool_otel.loading import load
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tables import spans as span_table
from tests.click_runner import CliRunner
from tests.coding_agents.recordings import FOLDER
from tests.frameworks import ROOT
from tests.security.fuzz.mutation import mutated
from tests.security.hostile_tables import rows
from tests.security.test_untrusted_text import assert_clean

__all__ = ["FILE_TARGETS"]

Seeds = tuple[tuple[str, bytes], ...]
"""Names of valid files, and their data."""
_RECORDING = ROOT / "tests/fixtures/spans/anthropic-2.12.0.openinference.jsonl"
_NUMBERS = (0, 1, -1, 7, 255, 2**15, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 2**24)
_CONVERTED = ("agent-spec", "agent-tool", "agentool", "amplifier", "anthropic-tools", "mcp-tools",
              "openai-tools", "toolsmith")  # fmt: skip


# ------------------------------------------------------------------------------ valid files


def _tables() -> list[pa.Table]:
    records = list(open_source(_RECORDING).spans())
    own = pa.Table.from_batches([span_table.batch_of_spans(records)])
    texts = pa.array(["a long text " * 9, "b", None, "é"])
    return [
        own,
        load(_RECORDING).to_arrow(),
        rows(input=texts.dictionary_encode(), output=pa.array([1.5, None, 2.5, float("nan")])),
        rows(
            input=pa.array([{"a": [1, 2]}, None, {"a": []}, {"a": None}]),
            metadata=pa.array([[("k", "v")], [], None, [("k", None)]],
                              pa.map_(pa.string(), pa.string())),
            end_time=pa.array([1, 2, 3, None], pa.int64()).view(pa.timestamp("us", "UTC")),
        ),
    ]  # fmt: skip


@lru_cache(1)
def _arrow_files() -> Seeds:
    found: list[tuple[str, bytes]] = []
    for table in _tables():
        for packing in (None, "zstd", "lz4"):
            options = ipc.IpcWriteOptions(compression=packing)
            with ipc.new_file(sink := io.BytesIO(), table.schema, options=options) as writer:
                writer.write_table(table, max_chunksize=3)
            found.append(("a.arrow", sink.getvalue()))
    return tuple(found)


@lru_cache(1)
def _parquet_files() -> Seeds:
    options: tuple[dict[str, Any], ...] = (
        {},
        {"compression": "zstd", "data_page_version": "2.0"},
        {"compression": "none", "use_dictionary": False, "row_group_size": 2},
        {"compression": "gzip", "write_statistics": False},
    )
    found: list[tuple[str, bytes]] = []
    for table in _tables():
        for option in options:
            pq.write_table(table, sink := io.BytesIO(), **option)
            found.append(("a.parquet", sink.getvalue()))
    return tuple(found)


@lru_cache(1)
def _session_files() -> Seeds:
    files = [
        file
        for agent in sorted(FOLDER.iterdir())
        for situation in ("answer", "denied", "sub_agent", "failed")
        for file in sorted((agent / situation / "session").rglob("*.json*"))
    ]
    return tuple((file.name, file.read_bytes()) for file in files)


@lru_cache(1)
def _databases() -> Seeds:
    import tempfile

    from tests.integrations.opencode.test_opencode_log_reader import database

    with tempfile.TemporaryDirectory() as home:
        files = [next((FOLDER / "opencode" / name / "session").iterdir())
                 for name in ("answer", "denied")]  # fmt: skip
        file = database(Path(home), *files)
        small = file.read_bytes()
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(
                "CREATE INDEX by_session ON part (session_id);"
                "CREATE VIEW other AS SELECT id FROM session;"
            )
        return (("opencode.db", small), ("opencode.db", file.read_bytes()))


@lru_cache(1)
def _case_files() -> Seeds:
    text = (ROOT / "docs/reference/assertions.yaml").read_text()
    cases = [
        "- case_id: a\n  input: q\n  tags: [x, &t y]\n  assertions:\n"
        "    - {type: output_contains, text: ok}\n    - &one {type: max_turns, max_turns: 3}\n"
        "    - {type: no_tool_error}\n    - *one\n",
        "- {type: args_match, tool_name: t, tool_args: {a: 1}, mode: exact}\n"
        "- {type: output_matches, pattern: '^o[a-z]+$'}\n- type: latency\n  max_ms: 1e3\n",
        text[:3000],
    ]
    return tuple(("cases.yaml", case.encode()) for case in cases)


@lru_cache(1)
def _tool_files() -> Seeds:
    tool = {"name": "look", "description": "Look it up.",
            "inputSchema": {"type": "object", "properties": {"q": {"type": "string"},
                            "n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}},
                            "required": ["q"]}}  # fmt: skip
    function = {"name": "look", "description": "d", "parameters": tool["inputSchema"]}
    documents: list[Any] = [
        {"tools": [tool, tool]},
        [{"type": "function", "function": function}],
        [{"name": "look", "description": "d", "input_schema": tool["inputSchema"]}],
        json.loads((ROOT / "examples/agent_spec/weather.json").read_text()),
    ]
    return tuple(("tools.json", json.dumps(document).encode()) for document in documents)


# ---------------------------------------------------------------------------------- changes


def _changed(data: bytes, random: Random) -> bytes:
    """Return bytes with one to twelve changes, mostly of the same length: offsets stay right."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 3, 12))):
        at = random.randrange(len(changed))
        how = random.random()
        if how < 0.35:
            changed[at] = random.randrange(256)
        elif how < 0.6:
            changed[at] ^= 1 << random.randrange(8)
        elif how < 0.85:
            size, form = random.choice(((4, "<i"), (8, "<q")))
            at -= at % size
            limit = 1 << (8 * size - 1)
            number = max(-limit, min(limit - 1, random.choice(_NUMBERS)))
            changed[at : at + size] = struct.pack(form, number)
        elif how < 0.95:
            end = min(len(changed), at + random.randrange(1, 40))
            changed[at:end] = bytes(random.randrange(256) for _ in range(end - at))
        else:
            del changed[at : at + random.choice((1, 4, 8, 4096))]
            changed = changed or bytearray(b"\0")
    return bytes(changed)


def _file(seeds: Callable[[], Seeds], random: Random, folder: Path, *, text: bool = False) -> Path:
    name, data = random.choice(seeds())
    path = folder / name
    path.write_bytes(mutated(data, random) if text else _changed(data, random))
    return path


# ---------------------------------------------------------------------------------- targets


def arrow(random: Random, folder: Path) -> None:
    """An Arrow file with changed bytes."""
    _read(_file(_arrow_files, random, folder), random)


def parquet(random: Random, folder: Path) -> None:
    """A Parquet file with changed bytes."""
    _read(_file(_parquet_files, random, folder), random)


def databases(random: Random, folder: Path) -> None:
    """A database of opencode with changed bytes."""
    _read(_file(_databases, random, folder), random)


def sessions(random: Random, folder: Path) -> None:
    """A session file of a coding agent with changes, by its path or its folder."""
    path = _file(_session_files, random, folder, text=True)
    _read(random.choice((path, folder)), random)


def cases(random: Random, folder: Path) -> None:
    """Cases in YAML with changes, for a run."""
    path = _file(_case_files, random, folder, text=True)
    run = folder / "run.json"
    run.write_text(
        '{"trace_id": "t", "agent_id": "a", "input": "q", "output": "ok", "status": "success", '
        '"steps": []}'
    )
    _run("eval", str(path), str(run))


def conversions(random: Random, folder: Path) -> None:
    """Documents of tools with changes, into any format."""
    path = _file(_tool_files, random, folder, text=True)
    _run("convert", str(path), "--to", random.choice(_CONVERTED))


def _read(path: Path, random: Random) -> None:
    """Read a file as `load` does, and now and then as a command does."""
    with suppress(AgentoolError):
        source = open_source(path)
        for span in source.spans():
            _ = span.name
        words = "\n".join(map(str, source.problems))
        assert_clean(words)
        assert "malloc" not in words, words
    if random.random() < 0.3:
        _run(random.choice(("show", "rebuild")), str(path))


def _run(*arguments: str) -> None:
    done = CliRunner().invoke(main, [*arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert_clean(done.stderr)


FILE_TARGETS: dict[str, Callable[[Random, Path], None]] = {
    "arrow": arrow,
    "parquet": parquet,
    "databases": databases,
    "sessions": sessions,
    "cases": cases,
    "conversions": conversions,
}
