"""Rows of an SQLite file of unknown origin.

    with opened(path) as database:
        for own, text in database.rows("SELECT id, data FROM message"):
            ...

The file is data: it may have views that never end, cells of any type in any column, and text that
is not UTF-8. So `tables` names no views, and a query has a deadline and a limit. The types of cells
are for the caller to check.

Source: sqlite.org/c3ref/progress_handler.html; sqlite.org/pragma.html#pragma_trusted_schema.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agentool_otel.errors import SourceError
from agentool_otel.ground.urls import printable_place
from agentool_otel.reading.sources.files.compression import limit_of, too_large

__all__ = ["SqliteFile", "opened"]

_LONGEST_S = 60.0
"""Seconds that a query may take, with what is done with its rows meanwhile."""
_STEPS = 100_000
"""Instructions of SQLite's machine between two looks at the clock: about a millisecond."""
_CELL = 16
"""Bytes that a cell takes at least."""
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"


class SqliteFile:
    """An open file."""

    def __init__(self, connection: sqlite3.Connection, limit: int):
        self._connection = connection
        self._limit = limit
        self._ends = 0.0
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
        self._ends = time.monotonic() + _LONGEST_S
        size = 0
        try:
            for row in self._connection.execute(query, tuple(values)):
                size += sum(len(cell) if isinstance(cell, (str, bytes)) else _CELL for cell in row)
                if size > self._limit:
                    raise SourceError(too_large(self._limit))
                yield row
        except sqlite3.OperationalError:
            if self._is_late():
                raise SourceError(f"a query of it takes more than {_LONGEST_S:.0f} s") from None
            raise

    def _is_late(self) -> bool:
        return time.monotonic() > self._ends


@contextmanager
def opened(path: Path, *, is_in_use: bool, hint: str) -> Generator[SqliteFile]:
    """Open a file without writing to its folder.

    Args:
        path: the file.
        is_in_use: whether a log beside it has rows that it does not have yet.
        hint: what else a user can do, for errors.

    Raises:
        SourceError: it cannot be read.
    """
    mode = "mode=ro" if is_in_use else "mode=ro&immutable=1"
    place = printable_place(path)
    try:
        url = f"file:{quote(str(path.absolute()))}?{mode}"
        with closing(sqlite3.connect(url, uri=True)) as connection:
            yield SqliteFile(connection, limit_of(path.stat().st_size))
    except SourceError as error:
        raise SourceError(f"{place} cannot be read: {error}") from None
    except (sqlite3.Error, OSError, MemoryError, UnicodeError) as error:  # a name may be damaged
        reason = str(error) or type(error).__name__
        raise SourceError(f"{place} cannot be read: {reason}; hint: {hint}") from None


def _text(data: bytes) -> str:
    """Return text. Bytes that are not UTF-8 stay different from any others."""
    return data.decode("utf-8", "surrogateescape")
