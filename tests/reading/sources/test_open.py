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


STEM = "traces-host-12-20260101T000000.000000000"


def part(number: int) -> bytes:
    """Return a part of a recording, with one span of its own."""
    span = SpanRecord("a" * 32, f"{number:016x}", name=str(number), start_ns=number)
    return lines([otlp([span])])


def names(where: Path) -> list[str]:
    return [span.name for span in open_source(where).spans()]


@pytest.mark.parametrize("named", ["{}.jsonl.gz", "{}.2.jsonl", "{}.3.jsonl.gz"])
def test_compressed_parts_belong_to_their_recording(named: str, tmp_path: Path) -> None:
    (tmp_path / f"{STEM}.jsonl.gz").write_bytes(gzip.compress(part(1)))
    (tmp_path / f"{STEM}.2.jsonl").write_bytes(part(2))
    (tmp_path / f"{STEM}.3.jsonl.gz").write_bytes(gzip.compress(part(3)))
    (tmp_path / f"{STEM.replace('12', '13')}.jsonl").write_bytes(part(4))
    assert names(tmp_path / named.format(STEM)) == ["1", "2", "3"]


@pytest.mark.parametrize("named", ["", "*.jsonl*", f"{STEM}.jsonl"])
def test_a_compressed_copy_of_a_part_is_read_once(named: str, tmp_path: Path) -> None:
    (tmp_path / f"{STEM}.jsonl").write_bytes(part(1))
    (tmp_path / f"{STEM}.jsonl.gz").write_bytes(gzip.compress(part(1)))
    assert names(tmp_path / named) == ["1"]


@pytest.mark.parametrize("link", ["latest.jsonl", f"{STEM}.jsonl", "no suffix"])
def test_a_link_to_a_recording_leads_to_its_other_parts(link: str, tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    for number, suffix in ((1, ".jsonl"), (2, ".2.jsonl")):
        (elsewhere / f"{STEM}{suffix}").write_bytes(part(number))
    (tmp_path / link).symlink_to(elsewhere / f"{STEM}.jsonl")
    assert names(tmp_path / link) == ["1", "2"]


def test_a_link_and_its_file_are_read_once(tmp_path: Path) -> None:
    (tmp_path / f"{STEM}.jsonl").write_bytes(part(1))
    (tmp_path / "latest.jsonl").symlink_to(f"{STEM}.jsonl")
    assert names(tmp_path) == ["1"]


@pytest.mark.parametrize("copy", ["backup.jsonl", "zz.jsonl", "old/x.jsonl"])
def test_a_copy_of_a_recording_is_read_once(copy: str, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for path in (f"{STEM}.jsonl", copy):
        (tmp_path / path).write_bytes(part(1))
    source = open_source(tmp_path)
    assert [span.name for span in source.spans()] == ["1"]
    assert [path.name for path in getattr(source, "files", ())] == [f"{STEM}.jsonl"]
