"""The session files that a coding agent keeps on this machine.

    claude-code://                           sessions with anything of today
    claude-code://?since=7d&project=app      of a week, of one project
    claude-code://?session=30fa0c21          one session, by the beginning of its id

Files are read and nothing else: no file is written, and nothing is sent anywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar, NamedTuple
from urllib.parse import unquote

from agentool_otel.errors import SourceError, SourceUnreachable
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.urls import printable_place
from agentool_otel.model.times import from_ns, parse_time
from agentool_otel.reading.sources.files.span_files import SpanFiles

__all__ = ["SessionFolder", "SessionQuery", "parse_session_query"]

_PARAMETERS = ("since", "project", "session")
_CWD = re.compile(rb'"cwd"\s*:\s*"((?:[^"\\]|\\.)*)"')
_HEAD = 256 << 10
"""Bytes of a file in which it names the folder of its project."""


class SessionQuery(NamedTuple):
    """The sessions to read."""

    since_ns: int
    """Sessions that were written to since then."""
    project: str | None
    """A folder, or its name; None for all."""
    session: str | None
    """The beginning of an id; None for all."""
    is_default: bool
    """Whether no start time was given, which is then the beginning of today."""


def parse_session_query(where: str, now_ns: Callable[[], int] = time.time_ns) -> SessionQuery:
    """Return the query of a URL such as `codex://?since=7d`.

    Raises:
        SourceError: it cannot be understood.
    """
    place, _, query = where.partition("?")
    scheme, _, rest = place.partition("://")
    if rest.strip("/"):
        raise SourceError(
            f"{scheme}:// reads this machine's sessions and has no host or path; "
            f"hint: {scheme}://?project={rest.strip('/')}, or name the file or folder itself"
        )
    values: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        if name not in _PARAMETERS:
            raise SourceError(
                f"{scheme}:// has no parameter {name!r}; known: {', '.join(_PARAMETERS)}"
            )
        values[name] = unquote(value)
    since = values.get("since")
    return SessionQuery(
        _midnight_ns(now_ns()) if since is None else _since_ns(since, scheme, now_ns()),
        values.get("project") or None,
        values.get("session") or None,
        since is None and "session" not in values,
    )


def _midnight_ns(now_ns: int) -> int:
    today = datetime.fromtimestamp(now_ns / 1e9).replace(hour=0, minute=0, second=0, microsecond=0)
    return int(today.timestamp()) * 10**9


def _since_ns(text: str, scheme: str, now_ns: int) -> int:
    at = parse_time(text, now_ns)
    if at is None:
        raise SourceError(
            f"{scheme}://: expected since= to be how long ago, as 2h or 7d, or a time, as "
            f"2026-11-22, got {text!r}"
        )
    return at


class SessionFolder(SpanFiles):
    """The sessions of one agent."""

    product: ClassVar[str]
    """Its name in messages."""
    place: ClassVar[str]
    """Its files, in words of its documentation."""

    def __init__(self, where: str):
        query = parse_session_query(where)
        scheme = where.partition("://")[0]
        folder = self.folder()
        every = sorted(self.session_files(folder)) if folder.is_dir() else []
        if not every:
            raise SourceUnreachable(
                f"{self.product} has no sessions here (looked in {printable_place(folder)})"
            )
        files = [file for file in every if _is_asked_for(file, query, self.session_of(file))]
        if not files:
            raise SourceUnreachable(_nothing(self.product, scheme, query, every))
        super().__init__(files, f"{scheme}://")

    @classmethod
    def folder(cls) -> Path:
        """Return the folder with the sessions, which may not exist."""
        raise NotImplementedError

    @classmethod
    def session_files(cls, folder: Path) -> Iterator[Path]:
        """Yield the session files in the folder."""
        raise NotImplementedError

    @classmethod
    def session_of(cls, file: Path) -> str:
        """Return the id of the session that a file is of, or a text with it."""
        return file.stem


def _is_asked_for(file: Path, query: SessionQuery, session: str) -> bool:
    if query.session is not None:
        if query.session not in session:
            return False
    elif _changed_ns(file) < query.since_ns:
        return False
    return query.project is None or _is_of_project(file, query.project)


def _changed_ns(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0  # removed meanwhile


def _is_of_project(file: Path, project: str) -> bool:
    """Return whether a session was in a project's folder, or one of that name."""
    try:
        with file.open("rb") as stream:
            found = _CWD.search(stream.read(_HEAD))
    except OSError:
        return False
    wanted = project.rstrip("/")
    if found is None:
        return wanted.rpartition("/")[2] in file.parts
    cwd = found[1].decode("utf-8", "replace").replace("\\\\", "\\").rstrip("/")
    return cwd == wanted or cwd.endswith(("/" + wanted, "\\" + wanted))


def _nothing(product: str, scheme: str, query: SessionQuery, every: Sequence[Path]) -> str:
    count = f"{len(every):,} session file{'s' * (len(every) != 1)}"
    newest = from_ns(max(map(_changed_ns, every)))
    if query.session is not None:
        return f"no session of {product} has the id {query.session!r}; there are {count}"
    of_project = f" of project {query.project!r}" if query.project else ""
    when = "today" if query.is_default else f"since {from_ns(query.since_ns)}"
    return (
        f"no session of {product}{of_project} {when}; the newest of {count} is of {newest}"
        f"; hint: {scheme}://?since=30d"
    )
