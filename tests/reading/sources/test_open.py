"""A path, a folder, a pattern or a URL is read, or refused with a hint."""

from __future__ import annotations

import gzip
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentool_otel.errors import SourceDenied, SourceError, SourceUnreachable
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from tests.reading.sources.encoders.otlp import otlp, proto
from tests.reading.sources.encoders.values import lines
from tests.users import as_nobody, needs_users

TWO = [
    SpanRecord("0af7651916cd43dd8448eb211c80319c", f"{n:016x}", name=f"span {n}") for n in (1, 2)
]
BOTH = lines([otlp(TWO)])


def test_a_folder_gives_its_recordings_sorted_and_at_any_depth(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines([otlp(TWO[1:])])))
    (tmp_path / "a.jsonl").write_bytes(lines([otlp(TWO[:1])]))
    (tmp_path / "sub" / "c.pb").write_bytes(proto(TWO[:1]))
    (tmp_path / "notes.txt").write_text("no recording")
    (tmp_path / "package.json").write_text("{}")
    source = open_source(tmp_path)
    assert [span.name for span in source.spans()] == ["span 1", "span 2", "span 1"]
    assert {problem.where.split()[0] for problem in source.problems} == {
        str(tmp_path / "package.json")
    }


def test_a_glob_pattern_gives_the_files_it_matches(tmp_path: Path) -> None:
    for number, name in enumerate(("x-1.log", "x-2.log")):
        (tmp_path / name).write_bytes(lines([otlp([TWO[number]])]))
    assert len(list(open_source(str(tmp_path / "x-*.log")).spans())) == 2


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BOTH)))
    source = open_source("-")
    assert len(list(source.spans())) == 2
    assert (source.name, source.bytes_total) == ("standard input", None)


def test_without_a_name_the_folder_of_recordings_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AGENTOOL_DIR", raising=False)
    with pytest.raises(
        SourceUnreachable, match=r"no recording here .* or to the program's own tracer"
    ):
        open_source(None)
    (tmp_path / ".agentool").mkdir()
    with pytest.raises(SourceUnreachable, match=r"no recording in .agentool"):
        open_source(None)
    (tmp_path / ".agentool" / "traces.jsonl").write_bytes(BOTH)
    assert len(list(open_source(None).spans())) == 2


@pytest.mark.parametrize("where", ["missing.jsonl", "no*such", "nul\0byte", "x" * 5000])
def test_a_path_that_does_not_exist_is_refused(where: str) -> None:
    with pytest.raises(SourceUnreachable, match="does not exist; hint"):
        open_source(where)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user may look into."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@needs_users
def test_a_file_that_may_not_be_read_is_refused(shared: Path) -> None:
    (file := shared / "traces.jsonl").touch(0o000)
    with as_nobody(), pytest.raises(SourceDenied, match="may not be read"):
        list(open_source(file).spans())


@needs_users
def test_an_unreadable_file_or_folder_among_others_is_a_problem(shared: Path) -> None:
    for name in ("a.jsonl", "b.jsonl", "inner/c.jsonl"):
        (shared / name).parent.mkdir(exist_ok=True)
        (shared / name).write_bytes(BOTH)
    (shared / "a.jsonl").chmod(0o000)
    (shared / "inner").chmod(0o000)
    with as_nobody():
        source = open_source(shared)
        assert len(list(source.spans())) == 2
    assert [problem.where for problem in source.problems] == [
        str(shared / "a.jsonl"),
        str(shared / "inner"),
    ]
    assert {"may not be read" in problem.message for problem in source.problems} == {True}
    (shared / "b.jsonl").chmod(0o000)
    with as_nobody(), pytest.raises(SourceDenied):
        list(open_source(shared).spans())


def test_an_unknown_scheme_names_those_known() -> None:
    with pytest.raises(SourceError, match=r"no source for 'gopher://'; schemes known: "):
        open_source("gopher://host")
