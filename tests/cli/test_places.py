"""Every command reads every place in the same way: the same files, suffixes and compressions."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke

SPEC = Path(__file__).parent.parent / "fixtures" / "spec" / "reasoning-trace.json"
TRACE = json.dumps(json.loads(SPEC.read_text())).encode() + b"\n"
READING = pytest.mark.parametrize("command", ["rebuild", "show", "export", "validate"])


def zstd(data: bytes) -> bytes:
    module = pytest.importorskip("backports.zstd")
    packed: bytes = module.compress(data)
    return packed


@READING
def test_a_folder_of_ndjson_is_read(invoke: Invoke, recorded: bytes, command: str) -> None:
    Path("folder").mkdir()
    Path("folder/spans.ndjson").write_bytes(recorded)
    result = invoke(command, "folder")
    assert result.exit_code == 0, result.output
    assert "adder" in result.stdout or "3 spans" in result.stdout


@READING
@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_packed_traces_are_read(
    invoke: Invoke, command: str, pack: Callable[[bytes], bytes]
) -> None:
    Path("traces.jsonl.packed").write_bytes(pack(TRACE * 2))
    result = invoke(command, "traces.jsonl.packed")
    assert result.exit_code == 0, result.output
    if command == "validate":
        assert result.stdout == "✓ traces.jsonl.packed: 2 ReasoningTrace ok\n"


@READING
def test_packed_traces_on_standard_input_are_read(invoke: Invoke, command: str) -> None:
    result = invoke(command, "-", input=gzip.compress(TRACE))
    assert result.exit_code == 0, result.output
    if command == "validate":
        assert result.stdout == "✓ standard input: ReasoningTrace ok\n"


@READING
def test_files_on_a_file_system_of_fsspec_are_read(
    invoke: Invoke, recorded: bytes, command: str
) -> None:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://places/spans.jsonl", "wb") as file:
        file.write(recorded)
    result = invoke(command, "memory://places")
    assert result.exit_code == 0, result.output
    assert "adder" in result.stdout or "3 spans" in result.stdout


@pytest.mark.parametrize("command", ["rebuild", "show", "export"])
def test_a_trace_that_cannot_be_decoded_is_refused_with_the_reason(
    invoke: Invoke, command: str
) -> None:
    Path("t.json").write_text('{"trace_id": "t", "steps": [{"type": 3}]}')
    result = invoke(command, "t.json")
    assert result.exit_code == 3
    assert "expected string" in result.stderr
    assert "at $.steps[0].type" in result.stderr


@pytest.mark.parametrize("command", ["rebuild", "show", "export"])
def test_one_bad_trace_in_a_list_does_not_affect_the_others(invoke: Invoke, command: str) -> None:
    trace = json.loads(TRACE)
    bad = {**trace, "trace_id": "bad", "status": 7}
    Path("t.json").write_text(json.dumps([trace, bad, trace]))
    result = invoke(command, "t.json")
    assert result.exit_code == 1
    assert "trace 'bad': expected" in result.stderr
    assert result.stdout.count(trace["trace_id"][:8]) >= 2
