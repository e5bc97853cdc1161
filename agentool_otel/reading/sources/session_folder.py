"""The session files that a coding agent keeps on this machine.

    claude-code://                           sessions with anything of today
    claude-code://?since=7d&project=app      of a week, of one project
    claude-code://?session=30fa0c21          one session, by the beginning of its id

Files are read and nothing else: no file is written, and nothing is sent anywhere. A link, a pipe or
a device among them is named and left out: it would lead elsewhere, or never end.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import ClassVar, NamedTuple
from urllib.parse import unquote

from agentool_otel.errors import SourceDenied, SourceError, SourceUnreachable
from agentool_otel.ground import json_codec
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.ownership import irregular
from agentool_otel.ground.urls import printable_place
from agentool_otel.model.times import from_ns, parse_time
from agentool_otel.reading.sources.files.span_files import SpanFiles

__all__ = ["SessionFolder", "SessionQuery", "is_in_project", "no_session",
           "parse_session_query", "path_exists"]  # fmt: skip

_PARAMETERS = ("since", "project", "session")
_CWD = re.compile(rb'"cwd"\s*:\s*"((?:[^"\\]|\\.)*)"')
_LISTED = 8
"""Names in a message."""
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
    if values.get("session") == "":
        raise SourceError(f"{scheme}://: expected session= to be an id or its beginning, got ''")
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
        matches = sorted(self.session_files(folder)) if is_there else []
        kinds = {match: irregular(match) for match in matches}
        every = [file for file, kind in kinds.items() if kind is None]
        left_out = [(path, kind) for path, kind in kinds.items() if kind is not None]
        denied = _unreadable_folders(folder)
        if not every and not denied:
            others = [f"; {printable_place(path)} is {kind}" for path, kind in left_out[:_LISTED]]
            raise SourceUnreachable(
                f"{self.product} has no sessions here (looked in {printable_place(folder)})"
                f"{''.join(others)}"
            )
        asked = [file for file in every if _is_asked_for(file, query, self.session_of(file))]
        files = [file for file in asked if self._is_of(file, query.project)] + denied
        if not files:
            newest_ns = max(map(_changed_ns, every))
            there = f"{len(every):,} session file{'s' * (len(every) != 1)}"
            projects = [*filter(None, map(self.project_of, asked))]
            raise no_session(self.product, scheme, query, there, newest_ns, projects)
        super().__init__(files, f"{scheme}://")
        self.left_out = tuple(
            (printable_place(path), f"left out: it is {kind}, not a file")
            for path, kind in left_out
            if _is_asked_for(path, query, str(path))
        )

    def _is_of(self, file: Path, project: str | None) -> bool:
        if project is None:
            return True
        folder = self.project_of(file)
        return folder is not None and is_in_project(folder, project)

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

    @classmethod
    def project_of(cls, file: Path) -> str | None:
        """Return the folder of the project that a file's session was in; None if unknown."""
        try:
            with file.open("rb") as stream:
                found = _CWD.search(stream.read(_HEAD))
        except OSError:
            return None
        return None if found is None else _unescaped(found[1])


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
    """Return whether a file is of the session and the time that a query has."""
    if query.session is not None:
        return query.session in session
    return _changed_ns(file) >= query.since_ns


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
        return file.lstat().st_mtime_ns
    except OSError:
        return 0  # removed meanwhile


def _unescaped(path: bytes) -> str:
    """Return a string of a JSON document."""
    try:
        return str(json_codec.loads(b'"%s"' % path))
    except ValueError:
        return path.decode("utf-8", "replace")


def is_in_project(folder: str, project: str) -> bool:
    """Return whether a folder is a project's, which is given by its path or the end of it."""
    own, wanted = folder.rstrip("/"), os.path.expanduser(project).rstrip("/")
    return bool(wanted) and (own == wanted or own.endswith(("/" + wanted, "\\" + wanted)))


def no_session(
    product: str,
    scheme: str,
    query: SessionQuery,
    there: str,
    newest_ns: int,
    projects: Iterable[str] = (),
) -> SourceUnreachable:
    """Return the error that no session is asked for.

    Args:
        product: the agent.
        scheme: of the URL.
        query: what was asked for.
        there: all sessions, counted.
        newest_ns: when the newest of them was written to.
        projects: the folders of those that are asked for but for their project.
    """
    names = sorted({re.split(r"[/\\]", folder.rstrip("/\\"))[-1] for folder in projects})
    if query.session is not None and query.project is not None and names:
        return SourceUnreachable(
            f"no session of {product} with the id {query.session!r} is of project "
            f"{query.project!r}; it is of {_listed(names)}"
        )
    if query.session is not None:
        words = f"no session of {product} has the id {query.session!r}; there are {there}"
        return SourceUnreachable(words)
    of_project = f" of project {query.project!r}" if query.project else ""
    when = "today" if query.is_default else f"since {_to_the_second(query.since_ns)}"
    if query.project is not None and names:
        return SourceUnreachable(
            f"no session of {product}{of_project} {when}; projects with sessions: {_listed(names)}"
        )
    return SourceUnreachable(
        f"no session of {product}{of_project} {when}; the newest of {there} is of "
        f"{_to_the_second(newest_ns)}; hint: {scheme}://?since=30d"
    )


def _to_the_second(at_ns: int) -> str | None:
    return from_ns(at_ns // 10**9 * 10**9)


def _listed(names: Sequence[str]) -> str:
    """Return names for a message, as many as one reads."""
    more = f", and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(map(repr, names[:_LISTED])) + more
