"""opencode's sessions on this machine.

They are in a database, which is read without the program: `opencode session list` knows those of
one project alone, takes seconds a session, and writes files. A session is read as
`opencode export` prints it. A copy of the database is read by its path.

Source: opencode 1.18.33, `packages/opencode/src/storage/db.ts` as released.
"""

from __future__ import annotations

import os
import shutil
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from io import BytesIO
from pathlib import Path
from shlex import quote
from tempfile import mkdtemp
from typing import Any, NamedTuple, TypeVar

from agentool_otel.errors import SourceError, SourceUnreachable
from agentool_otel.ground import json_codec
from agentool_otel.ground.ownership import irregular
from agentool_otel.ground.untrusted_text import flat
from agentool_otel.ground.urls import printable_place
from agentool_otel.reading.sources.files.remote_files import RemoteFile
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.session_folder import (
    SessionQuery,
    is_in_project,
    no_session,
    parse_session_query,
    path_exists,
)
from agentool_otel.reading.sources.sqlite_rows import (
    DamagedFile,
    SqliteFile,
    copy_readable,
    opened,
)

__all__ = ["OpenCodeSessions"]

_T = TypeVar("_T")

_MS = 1_000_000
_NAME = "opencode.db"
_TABLES = {
    "session": ("id", "parent_id", "project_id", "directory", "title", "agent", "version",
                "time_created", "time_updated"),
    "message": ("session_id", "id", "time_created", "data"),
    "part": ("session_id", "message_id", "id", "data"),
}  # fmt: skip
"""Tables and their columns that are read."""
_LATEST_MS = 1 << 53
"""Milliseconds of a time are fewer."""
_DEEP = 200
"""Levels that JSON of any row may have before it is tried."""
_HINT = "opencode export ID > session.json, and name that file"
_SESSIONS = "SELECT id, parent_id, directory, time_updated FROM session ORDER BY time_created, id"
_INFO = (
    "SELECT id, parent_id, project_id, directory, title, agent, version, time_created,"
    " time_updated FROM session WHERE id = ?"
)
_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY id"
_LONE = (
    "SELECT count(*) FROM {} WHERE session_id IS NULL"
    " OR session_id NOT IN (SELECT id FROM session WHERE id IS NOT NULL)"
)


class _Session(NamedTuple):
    """A row of the table of sessions."""

    id: str
    parent: str | None
    folder: str
    changed_ns: int


class _Database(SpanFiles):
    """The sessions of one database."""

    def __init__(
        self, original: Path, name: str, select: Callable[[list[_Session]], list[_Session]]
    ):
        """
        Args:
            original: the file.
            name: the name of the source.
            select: returns the sessions to read, of all that the file has.
        """
        place = printable_place(original)
        if not path_exists(original):
            raise SourceUnreachable(f"opencode has no sessions here (looked in {place})")
        database, odd = _SessionsFile(original), list[str]()
        every = database.read(partial(_sessions, report=odd.append))
        problems = [*database.losses, *odd]
        if problems and not every:
            raise SourceError(f"{place} has no session that can be read: {problems[0]}")
        if not every:
            raise SourceUnreachable(f"opencode has no sessions here (looked in {place})")
        files = [
            RemoteFile(
                f"{place} {flat(session.id)}", None, partial(_open, database, session.id), ()
            )
            for session in select(every)
        ]
        super().__init__(files, name)
        self.left_out = tuple((place, problem) for problem in problems)


class _SessionsFile:
    """A database, read without writing to its folder, even if it is damaged."""

    def __init__(self, original: Path):
        self._file, folder = _copied(original)
        if folder is not None:
            weakref.finalize(self, _remove, folder)
        self.losses: list[str] = []
        """What is lost, once a damaged database is copied."""
        self._damaged_session: str | None = None
        """The session that the damage was found in; None if it is known since the beginning."""

    def of_session(self, session: str) -> tuple[_Export, Sequence[str]]:
        """Return the export of a session, and the losses if they were found in it."""
        had_losses = bool(self.losses)
        export = self.read(partial(_export, session=session))
        if self.losses and not had_losses:
            self._damaged_session = session
        return export, self.losses if self._damaged_session == session else ()

    def read(self, query: Callable[[SqliteFile], _T]) -> _T:
        """Return the result of a function that reads the database. If that is damaged, the function
        is called once more with what is left of it.

        Raises:
            SourceError: it cannot be read, or has other tables.
        """
        try:
            with _reading(self._file) as connection:
                return query(connection)
        except DamagedFile:
            if self.losses:
                raise
            self._leave_damage()
        with _reading(self._file) as connection:
            return query(connection)

    def _leave_damage(self) -> None:
        folder = Path(mkdtemp(prefix="agentool-"))
        weakref.finalize(self, _remove, folder)
        copy = folder / _NAME
        is_in_use = _is_in_use(self._file)
        losses = copy_readable(self._file, copy, _TABLES, is_in_use=is_in_use, hint=_HINT)
        self.losses = losses or ["it is damaged outside its tables of sessions"]
        self._file = copy


class OpenCodeSessions(_Database):
    """The source."""

    place = "~/.local/share/opencode/opencode.db"

    def __init__(self, where: str):
        query = parse_session_query(where)
        scheme = where.partition("://")[0]
        super().__init__(_database(), f"{scheme}://", partial(_selected, query, scheme))

    @classmethod
    def of_database(cls, file: Path) -> SpanFiles | None:
        """Return the source of all sessions in an SQLite file; None if it is not opencode's."""
        return _Database(file, printable_place(file), list) if _has_sessions(file) else None


def _database() -> Path:
    """Return the file of the database, which may not exist."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    folder = Path(data) / "opencode"
    return folder / (os.environ.get("OPENCODE_DB") or _NAME)


def _copied(database: Path) -> tuple[Path, Path | None]:
    """Return a database that nobody writes to, and the folder that a copy of it is in: SQLite
    writes beside one that is in use, even to read it."""
    if (kind := irregular(database, follow=True)) is not None:
        raise SourceError(f"{printable_place(database)} is {kind}, not a database")
    log = _log_of(database)
    if log is None:
        return database, None
    folder = Path(mkdtemp(prefix="agentool-"))
    try:
        for file, name in ((database, database.name), (log, f"{database.name}-wal")):
            shutil.copyfile(file, folder / name)
    except OSError as error:
        _remove(folder)
        raise SourceError(
            f"{printable_place(database)} cannot be copied to read it: {error.strerror}"
            "; hint: opencode export ID > session.json, and name that file"
        ) from None
    return folder / database.name, folder


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _log_of(database: Path) -> Path | None:
    """Return the file with what is not in a database yet; None if there is none. A copy of the
    database may have another name than the log that was copied with it."""
    own, original = database.with_name(f"{database.name}-wal"), database.with_name(_NAME)
    if own.exists():
        return own
    log = original.with_name(f"{_NAME}-wal")
    return log if log.exists() and not original.exists() else None


def _reading(database: Path) -> AbstractContextManager[SqliteFile]:
    """Open the database without writing to its folder.

    Raises:
        SourceError: it cannot be read, or has other tables.
    """
    return opened(database, is_in_use=_is_in_use(database), hint=_HINT)


def _is_in_use(database: Path) -> bool:
    return database.with_name(f"{database.name}-wal").exists()


def _has_sessions(database: Path) -> bool:
    """Return whether an SQLite file has the tables of opencode, as far as it can be read.

    Raises:
        DamagedFile: not even the list of its tables can be read.
    """
    folder: Path | None = None
    try:
        copy, folder = _copied(database)
        hint = f"sqlite3 {quote(printable_place(database))} .recover prints what is left of it"
        in_use = _is_in_use(copy)
        with opened(copy, is_in_use=in_use, hint=hint, is_damaged=True) as connection:
            tables = connection.tables()
    except DamagedFile:
        raise
    except SourceError:
        return False
    finally:
        if folder is not None:
            _remove(folder)
    return tables >= _TABLES.keys()


def _sessions(connection: SqliteFile, report: Callable[[str], None]) -> list[_Session]:
    """Return the sessions of a database, each once; report the rows that are none.

    Raises:
        SourceError: it has other tables.
    """
    if missing := _TABLES.keys() - connection.tables():
        raise SourceError(f"it has no table {', '.join(sorted(missing))}; hint: {_HINT}")
    sessions: dict[str, _Session] = {}
    problems: list[str] = []
    for number, (own, parent, folder, changed) in enumerate(connection.rows(_SESSIONS)):
        if not isinstance(own, str) or not own:
            problems.append(f"session {number} left out: its id is no text")
            continue
        is_time = isinstance(changed, int) and abs(changed) < _LATEST_MS
        if not is_time:
            problems.append(f"session {own}: its time is no number of milliseconds")
        sessions[own] = _Session(
            own,
            parent if isinstance(parent, str) else None,
            folder if isinstance(folder, str) else "",
            changed * _MS if is_time else 0,
        )
    for table in ("message", "part"):
        ((lone,),) = connection.rows(_LONE.format(table))
        if lone:
            problems.append(f"{_rows(lone, table)} left out: no session has their session_id")
    for problem in problems:  # once the database is read to its end
        report(problem)
    return [*sessions.values()]


def _selected(query: SessionQuery, scheme: str, every: list[_Session]) -> list[_Session]:
    """Return the sessions that a query is for.

    Raises:
        SourceUnreachable: there are none.
    """
    asked = [*_asked_for(every, query)]
    projects = [s.folder for s in _asked_for(every, query._replace(project=None))]
    if not asked:
        newest_ns = max(session.changed_ns for session in every)
        there = f"{len(every):,} session{'s' * (len(every) != 1)}"
        raise no_session("opencode", scheme, query, there, newest_ns, projects)
    return asked


def _asked_for(every: Sequence[_Session], query: SessionQuery) -> Iterator[_Session]:
    """Yield the sessions that a query is for, each with all of its sub-agents."""
    main = _main_sessions(every)
    asked = {main[session.id] for session in every if _is_asked_for(session, query)}
    yield from (session for session in every if main[session.id] in asked)


def _is_asked_for(session: _Session, query: SessionQuery) -> bool:
    if query.session is not None:
        if query.session not in session.id:
            return False
    elif session.changed_ns < query.since_ns:
        return False
    return query.project is None or is_in_project(session.folder, query.project)


def _main_sessions(every: Sequence[_Session]) -> dict[str, str]:
    """Return the session that each one works for, as a sub-agent or itself.

    Sessions whose parents make a circle work for one of them.
    """
    parents = {session.id: session.parent for session in every}
    main: dict[str, str] = {}
    for session in parents:
        path: list[str] = []
        at = session
        while at not in main:
            path.append(at)
            main[at] = at  # until its top is known; a circle ends here
            parent = parents[at]
            at = at if parent is None or parent not in parents else parent
        main.update(dict.fromkeys(path, main[at]))
    return main


class _Export(BytesIO):
    """The document that `opencode export` prints of a session."""

    problems: list[str] = []  # noqa: RUF012 # replaced, not changed
    """The rows that it lacks."""


def _open(database: _SessionsFile, session: str) -> _Export:
    """Return the export of a session."""
    export, losses = database.of_session(session)
    export.problems = [*losses, *export.problems]
    return export


def _export(connection: SqliteFile, session: str) -> _Export:
    damaged: Counter[str] = Counter()
    row = next(connection.rows(_INFO, (session,)), None)
    if row is None:
        raise SourceError(f"session {session} is not there any more")
    own, parent, project, folder, title, agent, version, created, updated = row
    info = {
        "id": own, "projectID": project, "directory": folder, "title": title, "agent": agent,
        "version": version, "time": {"created": created, "updated": updated},
    }  # fmt: skip
    if parent is not None:
        info["parentID"] = parent
    messages: dict[str, dict[str, Any]] = {}
    for message, data in connection.rows(_MESSAGES, (session,)):
        read = _object(data)
        damaged["message"] += read is None
        messages[message] = {"info": {**(read or {}), "id": message}, "parts": []}
    lone = 0
    for message, part, data in connection.rows(_PARTS, (session,)):
        read = _object(data)
        damaged["part"] += read is None
        if message not in messages:
            lone += 1
        elif read is not None:
            messages[message]["parts"].append({**read, "id": part})
    document = {"info": info, "messages": [*messages.values()]}
    export = _Export(json_codec.dumps(document).encode("utf-8", "surrogatepass"))
    export.problems = [
        f"{_rows(count, table)} left out: data is no JSON object, or nested too deeply"
        for table, count in damaged.items()
        if count
    ]
    if lone:
        export.problems.append(f"{_rows(lone, 'part')} left out: no message has their message_id")
    return export


def _rows(count: int, table: str) -> str:
    return f"{count:,} row{'s' * (count != 1)} of the table {table}"


def _object(data: Any) -> dict[str, Any] | None:
    """Return the object of a column; None if the column is damaged or nested too deeply."""
    text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
    try:
        read = json_codec.loads(text)
        if text.count("{") + text.count("[") > _DEEP:
            json_codec.dumps(read)
    except (ValueError, TypeError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
