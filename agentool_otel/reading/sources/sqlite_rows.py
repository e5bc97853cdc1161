"""Rows of an SQLite file of unknown origin.

    with opened(path) as database:
        for own, text in database.rows("SELECT id, data FROM message"):
            ...

A damaged page ends a query, whatever table it is of. `copy_readable` makes a file of the rows that
SQLite can still read: it passes over the pages that it cannot.

The file is data: it may have views that never end, cells of any type in any column, and text that
is not UTF-8. So `tables` names no views, and a query has a deadline and a limit. The types of cells
are for the caller to check.

Source: sqlite.org/c3ref/progress_handler.html; sqlite.org/pragma.html#pragma_trusted_schema;
src/btree.c `lockBtree` of SQLite 3.45: a file that is shorter than its header claims is read if
`writable_schema` is on.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agentool_otel.errors import SourceError
from agentool_otel.ground.urls import printable_place
from agentool_otel.reading.sources.files.compression import limit_of, too_large

__all__ = ["DamagedFile", "SqliteFile", "copy_readable", "opened"]

_LONGEST_S = 60.0
"""Seconds that a query may take, with what is done with its rows meanwhile."""
_STEPS = 100_000
"""Instructions of SQLite's machine between two looks at the clock: about a millisecond."""
_CELL = 16
"""Bytes that a cell takes at least."""
_LATE = "a query of it takes more than {:.0f} s"
_LAST_ROW = (1 << 63) - 1
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"


class DamagedFile(SourceError):
    """A file that SQLite finds damaged."""


class SqliteFile:
    """An open file."""

    def __init__(self, connection: sqlite3.Connection, limit: int):
        self._connection = connection
        self._limit = limit
        self._ends = 0.0
        self._size = 0
        connection.text_factory = _text
        connection.set_progress_handler(self._is_late, _STEPS)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")

    def tables(self) -> set[str]:
        """Return the names of its tables. A view is none: its rows are computed."""
        return {name for (name,) in self.rows(_TABLES) if isinstance(name, str)}

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query.

        Raises:
            SourceError: it takes too long, or more comes out of it than of any packed input.
            sqlite3.Error: the file is damaged, or has other columns.
        """
        self._start()
        yield from self._rows(query, values)

    def readable_rows(
        self, table: str, columns: Sequence[str], report: Callable[[str], None]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table that a damaged file still has; report what is lost.

        Raises:
            sqlite3.Error: the file has other columns.
        """
        self._start()
        query = f"SELECT rowid, {', '.join(columns)} FROM {table} NOT INDEXED WHERE rowid >= ?"
        at: int | None = 0
        places, why = 0, ""
        try:
            while at is not None:
                try:
                    for number, *cells in self._rows(f"{query} ORDER BY rowid", (at,)):
                        at = max(at, number + 1)
                        yield tuple(cells)
                    at = None
                except sqlite3.DatabaseError as error:
                    if not _is_damage(error):
                        raise
                    places, why = places + 1, str(error)
                    at = self._next_readable(f"{query} ORDER BY rowid LIMIT 1", at or 0)
        except SourceError as error:
            report(f"the rest of its table {table} is left out: {error}")
        if places:
            where = f"in {places:,} place{'s' * (places != 1)}"
            report(f"its table {table} is damaged {where}, whose rows are left out: {why}")

    def _next_readable(self, query: str, damaged: int) -> int | None:
        """Return a row behind a damaged one from which on rows are read; None if there is none."""
        step, start = 1, damaged + 1
        while not self._is_readable(query, start):
            damaged, step = start, 2 * step
            start = damaged + step
            if start > _LAST_ROW:
                return None
        while start - damaged > 1:
            middle = (damaged + start) // 2
            if self._is_readable(query, middle):
                start = middle
            else:
                damaged = middle
        return start

    def _is_readable(self, query: str, start: int) -> bool:
        try:
            for _ in self._rows(query, (start,)):
                pass
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            return False
        return True

    def _start(self) -> None:
        self._ends = time.monotonic() + _LONGEST_S
        self._size = 0

    def _rows(self, query: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        try:
            for row in self._connection.execute(query, tuple(values)):
                cells = (len(cell) if isinstance(cell, (str, bytes)) else _CELL for cell in row)
                self._size += sum(cells)
                if self._size > self._limit:
                    raise SourceError(too_large(self._limit))
                yield row
        except sqlite3.OperationalError:
            if self._is_late():
                raise SourceError(_LATE.format(_LONGEST_S)) from None
            raise

    def _is_late(self) -> bool:
        return time.monotonic() > self._ends


@contextmanager
def opened(
    path: Path, *, is_in_use: bool, hint: str, is_damaged: bool = False
) -> Generator[SqliteFile]:
    """Open a file without writing to its folder.

    Args:
        path: the file.
        is_in_use: whether a log beside it has rows that it does not have yet.
        hint: what else a user can do, for errors.
        is_damaged: whether it is opened even if it is shorter than it claims.

    Raises:
        DamagedFile: SQLite finds it damaged.
        SourceError: it cannot be read.
    """
    mode = "mode=ro" if is_in_use else "mode=ro&immutable=1"
    place = printable_place(path)
    try:
        url = f"file:{quote(str(path.absolute()))}?{mode}"
        with closing(sqlite3.connect(url, uri=True)) as connection:
            if is_damaged:
                connection.execute("PRAGMA writable_schema = ON")
            yield SqliteFile(connection, limit_of(path.stat().st_size))
    except SourceError as error:
        raise SourceError(f"{place} cannot be read: {error}") from None
    except sqlite3.DatabaseError as error:
        kind = DamagedFile if _is_damage(error) else SourceError
        raise kind(f"{place} cannot be read: {error}; hint: {hint}") from None
    except (sqlite3.Error, OSError, MemoryError, UnicodeError) as error:  # a name may be damaged
        reason = str(error) or type(error).__name__
        raise SourceError(f"{place} cannot be read: {reason}; hint: {hint}") from None


def copy_readable(
    path: Path, copy: Path, tables: Mapping[str, Sequence[str]], *, is_in_use: bool, hint: str
) -> list[str]:
    """Copy the rows of a damaged file that SQLite can still read; return what is lost.

    Args:
        path: the file.
        copy: the new file, whose tables have their first column as index.
        tables: names and columns.
        is_in_use: as of `opened`.
        hint: as of `opened`.

    Raises:
        SourceError: not even its list of tables can be read, or it has other columns.
    """
    losses: list[str] = []
    with (
        opened(path, is_in_use=is_in_use, hint=hint, is_damaged=True) as file,
        closing(sqlite3.connect(copy)) as target,
    ):
        there = file.tables()
        for table, columns in tables.items():
            if table not in there:
                continue
            target.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            target.executemany(
                f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})",
                map(_storable, file.readable_rows(table, columns, losses.append)),
            )
            target.execute(f"CREATE INDEX {table}_by ON {table} ({columns[0]})")
        target.commit()
    return losses


def _is_damage(error: sqlite3.Error) -> bool:
    """Return whether SQLite says that a file is malformed, or that it is none of its files."""
    return type(error) is sqlite3.DatabaseError


def _storable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row whose texts are UTF-8."""
    return tuple(
        cell.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if isinstance(cell, str) and not cell.isascii()
        else cell
        for cell in row
    )


def _text(data: bytes) -> str:
    """Return text. Bytes that are not UTF-8 stay different from any others."""
    return data.decode("utf-8", "surrogateescape")
