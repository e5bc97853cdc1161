"""Decompression has a limit that is named and can be raised."""

from __future__ import annotations

import gzip
import io
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from agentool_otel.cli import main
from agentool_otel.errors import AgentoolError, DecodeError, SourceError
from agentool_otel.reading.sources.files import span_files
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.opening import open_source
from tests.click_runner import CliRunner

SPAN = {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "name": "s"}
DOCUMENT = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}).encode() + b"\n"
MIB = 1 << 20
needs_unix = pytest.mark.skipif(sys.platform == "win32", reason="devices")


def run(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


def bomb(path: Path, begin: bytes, unit: bytes, layers: int = 1, size: int = 80 * MIB) -> Path:
    """Write a file that unpacks to something large."""
    data = begin + unit * (size // len(unit))
    for _ in range(layers):
        data = gzip.compress(data, 6)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("layers", [1, 3])
def test_a_decompression_bomb_is_read_up_to_a_reported_limit(tmp_path: Path, layers: int) -> None:
    path = bomb(tmp_path / "bomb.jsonl.gz", DOCUMENT, b'{"a": "' + b"a" * MIB + b'"}\n', layers)
    source = open_source(path)
    assert [span.name for span in source.spans()] == ["s"]
    [problem] = [problem for problem in source.problems if "come out" in problem.message]
    assert problem.where == str(path)
    assert "more than 67,108,864 bytes" in problem.message
    assert "--unpack-limit" in problem.message
    assert "AGENTOOL_UNPACK_LIMIT" in problem.message


@pytest.mark.parametrize("unit", [b"a", b"0,", b"[", b" "])
def test_a_bomb_without_spans_is_refused_by_its_limit(
    tmp_path: Path, unit: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTOOL_UNPACK_LIMIT", "1MB")
    path = bomb(tmp_path / "bomb.jsonl.gz", b'{"resourceSpans": "', unit, size=4 * MIB)
    with pytest.raises(SourceError, match="more than 1,000,000 bytes come out of"):
        list(open_source(path).spans())


@pytest.mark.parametrize("unit", [b"{}\n", b"\n", b"words\n", b"1\n"])
def test_lines_that_hold_nothing_end_the_reading(
    tmp_path: Path, unit: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_files, "_BARREN", 1000)
    monkeypatch.setattr(span_files, "_LINE_BYTES", MIB)
    path = bomb(tmp_path / "bomb.jsonl.gz", DOCUMENT, unit, size=MIB)
    source = open_source(path)
    assert len(list(source.spans())) == 1
    assert any("1,000 lines or values in a row" in problem.message for problem in source.problems)


def test_rows_of_a_table_that_hold_nothing_end_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_files, "_BARREN", 1000)
    monkeypatch.setattr(span_files, "_LINE_BYTES", MIB)
    path = bomb(tmp_path / "bomb.csv.gz", b"trace_id,b\n", b"a,b\n", size=MIB)
    source = open_source(path)
    with pytest.raises(DecodeError):
        list(source.spans())
    assert "nothing in 1,000 lines or values in a row" in source.problems[0].message


@pytest.mark.parametrize("unit", [b"\0", b"y", b"{}\n", b"[1,", b'"', b"\n\xff\xff\xff\x7f", b"\n"])
def test_an_input_without_an_end_is_ended(unit: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_files, "_LIVE", 1000)
    monkeypatch.setattr(span_files, "_ENDLESS", 16 * MIB)
    endless = _Endless(unit)
    source = SpanFiles([io.BufferedReader(endless)])
    with suppress(AgentoolError):
        assert list(source.spans()) == []
    assert endless.given <= 24 * MIB
    assert source.problems


def test_a_pipe_with_spans_is_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_files, "_ENDLESS", 2 * MIB)
    endless = _Endless(DOCUMENT + b"x" * (MIB // 2) + b"\n", most=40 * MIB)
    source = SpanFiles([io.BufferedReader(endless)])
    assert sum(1 for _ in source.spans()) > 70


class _Endless(io.RawIOBase):
    """A device: it gives the same bytes again and again."""

    def __init__(self, unit: bytes, most: int = 200 * MIB):
        self._data = unit * max(1, MIB // len(unit))
        self._device = Path("/dev/zero").open("rb")  # noqa: SIM115 - closed with this
        self._most = most
        self.given = 0

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._device.fileno()

    def close(self) -> None:
        self._device.close()
        super().close()

    def readinto(self, buffer: Any, /) -> int:
        if self.given >= self._most:
            return 0
        at = self.given % len(self._data)
        data = self._data[at : at + len(buffer)]
        buffer[: len(data)] = data
        self.given += len(data)
        return len(data)


@needs_unix
@pytest.mark.thorough
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_ends_with_a_message(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_files, "_ENDLESS", 4 << 20)
    result = run("show", device)
    assert result.exit_code == 3
    assert device in result.stderr


def test_a_file_of_holes_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (path := tmp_path / "holes.json").open("wb") as file:
        file.truncate(1 << 36)
    if path.stat().st_blocks:
        pytest.skip("this file system has no holes")
    with pytest.raises(AgentoolError):
        list(open_source(path).spans())


def test_a_plain_file_is_read_however_little_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_files, "_BARREN", 1000)
    (tmp_path / "log.jsonl").write_bytes(b"\n" * 5000 + DOCUMENT)
    assert len(list(open_source(tmp_path / "log.jsonl").spans())) == 1


def test_the_limit_can_be_raised_and_lowered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bomb(tmp_path / "bomb.jsonl.gz", b"", DOCUMENT + b" " * MIB, size=80 * MIB)
    counts: dict[str, int] = {}
    for limit in ("", "200MB", "2 MiB"):
        monkeypatch.setenv("AGENTOOL_UNPACK_LIMIT", limit)
        counts[limit] = len(list(open_source(path).spans()))
    assert counts[""] == 64
    assert counts["200MB"] == 79
    assert counts["2 MiB"] == 2


def test_an_option_of_the_commands_raises_the_limit(tmp_path: Path) -> None:
    path = bomb(tmp_path / "bomb.jsonl.gz", b"", DOCUMENT + b" " * MIB, size=80 * MIB)
    before = run("rebuild", str(path), "-o", str(tmp_path / "out"))
    assert before.exit_code == 1
    assert "more than 67,108,864 bytes come out of" in before.stderr
    after = run("rebuild", "--unpack-limit", "1GB", str(path), "-o", str(tmp_path / "out"))
    assert (after.exit_code, "problem:" in after.stderr) == (0, False)
    wrong = run("rebuild", "--unpack-limit", "much", str(path))
    assert wrong.exit_code == 2
    assert "is not a number of bytes" in wrong.stderr
