"""opencode's database with rows that the program does not write: each costs itself."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.errors import SourceError
from agentool_otel.loading import rebuild
from agentool_otel.reading.sources import sqlite_rows
from agentool_otel.reading.sources.opening import open_source
from tests.integrations.opencode.test_opencode_log_reader import database, recorded

CELLS: dict[str, Any] = {
    "null": None,
    "a number": 7,
    "a large number": 2**63 - 1,
    "a negative number": -(2**63),
    "a fraction": 1e300,
    "no text": "",
    "bytes": b"\xff\x00",
    "text that is not UTF-8": b"CAST",
    "a long text": "x" * 400_000,
    "deep JSON": "[" * 400_000,
    "deep whole JSON": '{"a":' * 800 + "1" + "}" * 800,
    "a list": "[1, 2]",
}
COLUMNS = {
    "session": ["id", "parent_id", "project_id", "directory", "title", "agent", "version",
                "time_created", "time_updated"],
    "message": ["id", "session_id", "time_created", "data"],
    "part": ["id", "message_id", "session_id", "data"],
}  # fmt: skip
_ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("OPENCODE_DB", raising=False)
    return tmp_path


@pytest.fixture
def file(home: Path) -> Path:
    files = [next((recorded(name) / "session").iterdir()) for name in ("answer", "denied")]
    return database(home, *files)


def changed(file: Path, statements: str, *values: Any) -> None:
    with closing(sqlite3.connect(file)) as connection:
        if values:
            connection.execute(statements, values)
        else:
            connection.executescript(statements)
        connection.commit()


def inputs(where: str) -> tuple[list[Any], list[str]]:
    source = open_source(where)
    found = [run.document.get("input") for run in rebuild(source.spans())]
    return found, [str(problem) for problem in source.problems]


@pytest.mark.parametrize("odd", CELLS)
@pytest.mark.parametrize(("table", "column"), [(t, c) for t in COLUMNS for c in COLUMNS[t]])
def test_an_odd_cell_leaves_the_other_session(
    table: str, column: str, odd: str, file: Path
) -> None:
    row = f"rowid = (SELECT min(rowid) FROM {table})"
    if odd == "text that is not UTF-8":
        changed(file, f"UPDATE {table} SET {column} = CAST(x'ff6162' AS TEXT) WHERE {row}")
    else:
        changed(file, f"UPDATE {table} SET {column} = ? WHERE {row}", CELLS[odd])
    for where in ("opencode://?since=1970-01-01", str(file)):
        assert "Delete prices.csv." in inputs(where)[0]


@pytest.mark.parametrize("odd", [odd for odd in CELLS if odd != "deep whole JSON"])
@pytest.mark.parametrize(
    ("table", "column"),
    [("session", "id"), ("part", "message_id"),
     *((table, column) for table in ("message", "part") for column in ("session_id", "data"))],
)  # fmt: skip
@pytest.mark.parametrize("row", ["min", "max"])
def test_no_span_is_lost_without_a_problem(
    row: str, table: str, column: str, odd: str, file: Path
) -> None:
    whole = len(list(open_source(str(file)).spans()))
    where = f"rowid = (SELECT {row}(rowid) FROM {table})"
    changed(file, f"UPDATE {table} SET {column} = ? WHERE {where}", CELLS[odd])
    source = open_source(str(file))
    assert len(list(source.spans())) == whole or source.problems


@pytest.mark.parametrize("odd", [odd for odd in CELLS if odd != "deep whole JSON"])
@pytest.mark.parametrize("table", ["message", "part"])
def test_rows_without_an_object_are_counted(table: str, odd: str, file: Path) -> None:
    row = f"session_id = (SELECT min(session_id) FROM {table})"
    changed(file, f"UPDATE {table} SET data = ? WHERE {row}", CELLS[odd])
    with closing(sqlite3.connect(file)) as connection:
        ((count,),) = connection.execute(f"SELECT count(*) FROM {table} WHERE {row}")
    source = open_source(str(file))
    for _ in range(2):  # each reading has its own problems
        list(source.spans())
        assert [problem.message for problem in source.problems] == [
            f"{count} row{'s' * (count > 1)} of the table {table} left out: "
            "data is no JSON object, or nested too deeply"
        ]


def test_parts_of_no_message_are_counted(file: Path) -> None:
    changed(file, "UPDATE part SET message_id = 'x' WHERE rowid = (SELECT min(rowid) FROM part)")
    (problem,) = inputs(str(file))[1]
    assert problem.endswith("1 row of the table part left out: no message has their message_id")


def test_a_session_without_a_time_is_named_and_read(file: Path) -> None:
    changed(file, "UPDATE session SET time_updated = NULL WHERE id = (SELECT id FROM session)")
    found, problems = inputs(str(file))
    assert len(found) == 2
    (problem,) = problems
    assert problem.endswith("its time is no number of milliseconds")


def test_a_session_without_an_id_is_named_and_left_out(file: Path) -> None:
    changed(file, "UPDATE session SET id = NULL WHERE id = (SELECT id FROM session)")
    found, problems = inputs("opencode://?since=1970-01-01")
    assert len(found) == 1
    assert [problem.partition(": ")[2] for problem in problems] == [
        "session 0 left out: its id is no text",
        "2 rows of the table message left out: no session has their session_id",
        "4 rows of the table part left out: no session has their session_id",
    ]


@pytest.mark.parametrize("length", [1, 2, 3000])
def test_parents_in_a_circle_are_one_family(length: int, file: Path) -> None:
    columns = ", ".join(COLUMNS["session"])
    with closing(sqlite3.connect(file)) as connection:
        connection.executemany(
            f"INSERT INTO session ({columns}) VALUES (?,?,'p','/p','t','a','1',1,?)",
            [(f"c{n}", f"c{(n + 1) % length}", 2 if n == length // 2 else 1)
             for n in range(length)],
        )  # fmt: skip
        connection.commit()
    source = open_source("opencode://?session=c0")
    assert len(source.files) == length  # type: ignore[attr-defined]


def test_a_chain_of_sub_agents_belongs_to_its_first_session(file: Path) -> None:
    columns = ", ".join(COLUMNS["session"])
    with closing(sqlite3.connect(file)) as connection:
        connection.executemany(
            f"INSERT INTO session ({columns}) VALUES (?,?,'p','/p','t','a','1',1,1)",
            [(f"c{n}", f"c{n + 1}") for n in range(20)],
        )
        connection.commit()
    for n in (0, 7, 19):
        assert len(open_source(f"opencode://?session=c{n}").files) >= 20  # type: ignore[attr-defined]


@pytest.mark.parametrize("table", COLUMNS)
def test_a_view_that_never_ends_is_not_read(table: str, file: Path) -> None:
    columns = ", ".join(f"'a' AS {name}" for name in COLUMNS[table])
    changed(
        file,
        f"ALTER TABLE {table} RENAME TO t; CREATE VIEW {table} AS {_ENDLESS} SELECT {columns} "
        "FROM n;",
    )
    with pytest.raises(SourceError, match=f"has no table {table}"):
        open_source("opencode://?since=1970-01-01")


@pytest.mark.parametrize("query", [f"{_ENDLESS} SELECT x FROM n WHERE x < 0",
                                   f"{_ENDLESS} SELECT sum(x) FROM n"])  # fmt: skip
def test_a_query_has_a_deadline(query: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_rows, "_LONGEST_S", 0.05)
    with (
        pytest.raises(SourceError, match="a query of it takes more than"),
        sqlite_rows.opened(file, is_in_use=False, hint="none") as connection,
    ):
        list(connection.rows(query))


@pytest.mark.parametrize("expression", ["x", "'a'", "NULL", "zeroblob(1000)", "hex(zeroblob(9))"])
def test_the_rows_of_a_query_have_a_limit(
    expression: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTOOL_UNPACK_LIMIT", "1MB")
    with (
        pytest.raises(SourceError, match=r"more than 1,000,000 bytes .* --unpack-limit 20GB"),
        sqlite_rows.opened(file, is_in_use=False, hint="none") as connection,
    ):
        for _ in connection.rows(f"{_ENDLESS} SELECT {expression} FROM n"):
            pass
