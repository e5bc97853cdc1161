"""The session files that a coding agent keeps on this machine.

    claude-code://                           sessions with anything of today
    claude-code://?since=7d&project=app      of a week, of one project
    claude-code://?session=30fa0c21          one session, by the beginning of its id

Files are read and nothing else: no file is written, and nothing is sent anywhere.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import ClassVar, NamedTuple
from urllib.parse import unquote

from agentool_otel.errors import SourceDenied, SourceError, SourceUnreachable
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.urls import printable_place
from agentool_otel.model.times import from_ns, parse_time
from agentool_otel.reading.sources.files.span_files import SpanFiles

__all__ = ["SessionFolder", "SessionQuery", "is_in_project", "no_session",
           "parse_session_query", "path_exists"]  # fmt: skip

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


class SessionFolder(SpanFiles, ABC):
    """The sessions of one agent."""

    product: ClassVar[str]
    """Its name in messages."""
    place: ClassVar[str]
    """Its files, in words of its documentation."""

    def __init__(self, where: str):
        query = parse_session_query(where)
        scheme = where.partition("://")[0]
        folder = self.folder()
        is_there = path_exists(folder) and folder.is_dir()
        every = sorted(self.session_files(folder)) if is_there else []
        denied = _unreadable_folders(folder)
        if not every and not denied:
            raise SourceUnreachable(
                f"{self.product} has no sessions here (looked in {printable_place(folder)})"
            )
        files = [file for file in every if _is_asked_for(file, query, self.session_of(file))]
        files += denied
        if not files:
            newest_ns = max(map(_changed_ns, every))
            there = f"{len(every):,} session file{'s' * (len(every) != 1)}"
            raise no_session(self.product, scheme, query, there, newest_ns)
        super().__init__(files, f"{scheme}://")

    def _report(self, label: str, at: str, message: str) -> None:
        """Report what is wrong, other than a last line that is still being written."""
        if not (message.startswith("cut short") and _is_written_to(Path(label))):
            super()._report(label, at, message)

    @classmethod
    @abstractmethod
    def folder(cls) -> Path:
        """Return the folder with the sessions, which may not exist."""

    @classmethod
    @abstractmethod
    def session_files(cls, folder: Path) -> Iterator[Path]:
        """Yield the session files in the folder."""

    @classmethod
    def session_of(cls, file: Path) -> str:
        """Return the id of the session that a file is of, or a text with it."""
        return file.stem


def path_exists(path: Path) -> bool:
    """Return whether a path exists.

    Raises:
        SourceDenied: a folder above it may not be read.
    """
    try:
        os.stat(path)
    except PermissionError as error:
        raise SourceDenied(
            f"{printable_place(path)} may not be read: {error.strerror}; "
            f"hint: ls -ld {quote(printable_place(path.parent))}"
        ) from None
    except (OSError, ValueError):
        return False
    return True


def _unreadable_folders(folder: Path) -> list[Path]:
    """Return the folders that may not be read, `folder` and those in it: reading one as a file
    raises the error that names it."""
    denied: list[Path] = []

    def add(error: OSError) -> None:
        if isinstance(error, PermissionError):
            denied.append(Path(error.filename))

    for _ in os.walk(folder, onerror=add):
        pass
    return sorted(denied)


def _is_asked_for(file: Path, query: SessionQuery, session: str) -> bool:
    if query.session is not None:
        if query.session not in session:
            return False
    elif _changed_ns(file) < query.since_ns:
        return False
    return query.project is None or _is_of_project(file, query.project)


def _is_written_to(file: Path) -> bool:
    """Return whether the last line of a file has no end yet."""
    try:
        with file.open("rb") as stream:
            stream.seek(-1, os.SEEK_END)
            return stream.read(1) != b"\n"
    except OSError:
        return False


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
    if found is None:
        return project.rstrip("/").rpartition("/")[2] in file.parts
    return is_in_project(found[1].decode("utf-8", "replace").replace("\\\\", "\\"), project)


def is_in_project(folder: str, project: str) -> bool:
    """Return whether a folder is a project's, which is given by its path or the end of it."""
    own, wanted = folder.rstrip("/"), project.rstrip("/")
    return own == wanted or own.endswith(("/" + wanted, "\\" + wanted))


def no_session(
    product: str, scheme: str, query: SessionQuery, there: str, newest_ns: int
) -> SourceUnreachable:
    """Return the error that no session is asked for.

    Args:
        product: the agent.
        scheme: of the URL.
        query: what was asked for.
        there: all sessions, counted.
        newest_ns: when the newest of them was written to.
    """
    if query.session is not None:
        words = f"no session of {product} has the id {query.session!r}; there are {there}"
        return SourceUnreachable(words)
    of_project = f" of project {query.project!r}" if query.project else ""
    when = "today" if query.is_default else f"since {from_ns(query.since_ns)}"
    return SourceUnreachable(
        f"no session of {product}{of_project} {when}; the newest of {there} is of "
        f"{from_ns(newest_ns)}; hint: {scheme}://?since=30d"
    )
