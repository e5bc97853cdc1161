"""opencode's database with damaged pages: what SQLite can read of the others is read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentool_otel.errors import SourceError
from agentool_otel.reading.sources import sqlite_rows
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.reading.sources.sqlite_rows import DamagedFile, copy_readable, opened
from tests.integrations.opencode.test_opencode_log_reader import database, recorded

PAGE = 512
SESSIONS = ("answer", "denied")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("OPENCODE_DB", raising=False)
    whole = database(tmp_path, *(next((recorded(n) / "session").iterdir()) for n in SESSIONS))
    with closing(sqlite3.connect(whole)) as connection:
        connection.execute(f"PRAGMA page_size = {PAGE}")
        connection.execute("VACUUM")
    return whole


def damage(file: Path, page: int, at: int = 0, data: bytes = b"\xff" * 8) -> None:
    with file.open("r+b") as stream:
        stream.seek(page * PAGE + at)
        stream.write(data)


def spans(where: str) -> tuple[int, list[str]]:
    """Return the number of all spans, and the problems; of two readings, which are equal."""
    source = open_source(where)
    ids = [span.span_id for span in source.spans()]
    problems = [str(problem) for problem in source.problems]
    assert [span.span_id for span in source.spans()] == ids
    assert [str(problem) for problem in source.problems] == problems
    return len(ids), problems


@pytest.mark.parametrize("where", ["path", "opencode://?since=1970-01-01"])
def test_a_damaged_page_costs_the_rows_on_it(where: str, file: Path) -> None:
    place = str(file) if where == "path" else where
    whole, data = spans(place)[0], file.read_bytes()
    pages, read = len(data) // PAGE, 0
    for page in range(1, pages):
        file.write_bytes(data)
        damage(file, page)
        try:
            count, problems = spans(place)
        except SourceError as error:
            count, problems = 0, [str(error)]
        assert count == whole or problems
        read += count
    assert read > whole * pages * 0.6


@pytest.mark.parametrize("pages", [1, 2, 5])
def test_a_database_that_is_cut_is_read_as_far_as_it_goes(pages: int, file: Path) -> None:
    whole = spans(str(file))[0]
    file.write_bytes(file.read_bytes()[: -pages * PAGE])
    count, problems = spans(str(file))
    assert 0 < count <= whole
    assert problems


def test_a_database_without_a_readable_list_of_tables_is_called_damaged(file: Path) -> None:
    damage(file, 0, at=100)
    for where in (str(file), "opencode://?since=1970-01-01"):
        with pytest.raises(SourceError, match="malformed; hint: "):
            open_source(where)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A table of 1,000 rows with gaps between their numbers; every 10th has pages of its own."""
    file = tmp_path / "rows.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA page_size = {PAGE}")
        connection.execute("CREATE TABLE t (own TEXT, data TEXT)")
        for n in range(1000):
            text = "x" * (2000 if n % 10 == 0 else 20)
            connection.execute(
                "INSERT INTO t (rowid, own, data) VALUES (?, ?, ?)", (n * n, f"{n}", f"{n} {text}")
            )
        connection.commit()
    return file


def copied(file: Path, tmp_path: Path) -> tuple[list[tuple[str, str]], list[str]]:
    copy = tmp_path / "copy.db"
    copy.unlink(missing_ok=True)
    losses = copy_readable(file, copy, {"t": ("own", "data")}, is_in_use=False, hint="none")
    with closing(sqlite3.connect(copy)) as connection:
        return connection.execute("SELECT own, data FROM t ORDER BY rowid").fetchall(), losses


def test_all_rows_of_a_whole_table_are_copied(rows: Path, tmp_path: Path) -> None:
    found, losses = copied(rows, tmp_path)
    assert [int(own) for own, _ in found] == [*range(1000)]
    assert losses == []


@pytest.mark.parametrize("first", range(2, 300, 37))
@pytest.mark.parametrize("count", [1, 3])
def test_rows_around_damaged_pages_are_copied(
    first: int, count: int, rows: Path, tmp_path: Path
) -> None:
    whole = dict(copied(rows, tmp_path)[0])
    for n in range(count):
        damage(rows, first + 40 * n, data=b"\xff" * PAGE)
    found, losses = copied(rows, tmp_path)
    sound = [own for own, data in found if whole[own] == data]
    assert len(sound) > 1000 - count * 60
    assert bool(losses) == (len(found) < 1000)


def test_the_rows_of_a_damaged_table_have_a_deadline(
    rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_rows, "_STEPS", 100)
    losses: list[str] = []
    with opened(rows, is_in_use=False, hint="h", is_damaged=True) as file:
        monkeypatch.setattr(sqlite_rows, "_LONGEST_S", -1.0)
        assert len(list(file.readable_rows("t", ["data"], losses.append))) < 1000
    (loss,) = losses
    assert loss.startswith("the rest of its table t is left out: a query of it takes more than")


def test_a_damaged_file_is_told_from_others(rows: Path) -> None:
    with pytest.raises(SourceError) as error, opened(rows, is_in_use=False, hint="h") as file:
        list(file.rows("SELECT x FROM t"))
    assert not isinstance(error.value, DamagedFile)
    damage(rows, 1, data=b"\xff" * PAGE)
    with pytest.raises(DamagedFile), opened(rows, is_in_use=False, hint="h") as file:
        list(file.rows("SELECT * FROM t"))
