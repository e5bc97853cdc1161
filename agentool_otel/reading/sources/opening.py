"""From a path or URL of a user to the source that reads it.

Everything that reads a place comes through here, so that what one command reads the others do.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from filecmp import cmp
from pathlib import Path
from shlex import quote
from typing import cast

from agentool_otel.errors import AgentoolError, SourceDenied, SourceError, SourceUnreachable
from agentool_otel.ground.environment import recordings_folder
from agentool_otel.ground.near_names import instead_of
from agentool_otel.ground.ownership import irregular
from agentool_otel.ground.plugins import load_plugins, plugins
from agentool_otel.ground.read_locks import lock_while_alive
from agentool_otel.ground.recording_names import (
    distinct_files,
    own_name,
    read_part,
    whole_recordings,
)
from agentool_otel.ground.urls import printable_place, without_credentials
from agentool_otel.reading.sources.files.remote_files import is_remote, remote_files
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.files.streams import STDIN, head, stdin
from agentool_otel.reading.sources.several import SeveralSources
from agentool_otel.reading.sources.source import DatabaseReader, Source, complete_source

__all__ = ["is_recording", "open_source", "open_spans"]

_SQLITE = b"SQLite format 3\0"
_COMPARED = 8
"""Most recordings of one size that a file is compared with."""
_SUFFIXES = (
    ".jsonl", ".json", ".ndjson", ".pb", ".gz", ".zst", ".parquet", ".arrow", ".feather",
)  # fmt: skip


def open_source(where: str | Path | None = None) -> Source:
    """Return the source for a path, a folder, a glob pattern, `-` for standard input, or a URL.

    The URL of a server is of a scheme that an entry point is named for, any other of fsspec's.
    With nothing given it is the folder that programs record into: `AGENTOOL_DIR`, or `.agentool`.
    Of a folder, files with the names of `_SUFFIXES` at any depth are read, sorted by path; a file
    or a pattern that is named is read whatever its name. The file of a recording of ours stands for
    the whole recording. As long as the source lives, no limit removes the recordings.

    Raises:
        SourceUnreachable: nothing is there.
        SourceDenied: it may not be looked at.
        SourceError: the scheme of a URL is not known.
        MissingDependencyError: the library for a URL is not installed.
    """
    if where is None:
        folder = recordings_folder()
        if not folder.is_dir():
            raise SourceUnreachable(
                f"no recording here (looked in {folder}): nothing has been recorded, or spans went "
                "to an endpoint or to the program's own tracer provider; "
                "hint: agentool-otel run -- python app.py records a program; or name a SOURCE"
            )
        return _files(folder)
    if where == "-":
        return SpanFiles([stdin()], STDIN)
    if isinstance(where, str) and (scheme := re.match(r"([A-Za-z][\w+.-]*)://", where)):
        return _remote(scheme[1], where)
    return _files(Path(where))


def open_spans(places: Sequence[str]) -> Source:
    """Return one source for several places; with none, that of `open_source` by default.

    A place that cannot be opened is a problem, and the others are read.

    Raises: as `open_source`, if there is nothing to read in any of them.
    """
    ours = [Path(place) for place in places if _is_own_file(Path(place))]
    if len(ours) > 1:
        name = ", ".join(printable_place(path) for path in ours)
        recordings = _locked(whole_recordings(ours), name)
        if len(ours) == len(places):
            return recordings
        others = [place for place in places if not _is_own_file(Path(place))]
        opened = [(printable_place(place), _open(place)) for place in others]
        return SeveralSources([(name, recordings), *opened])
    if len(places) > 1:
        return SeveralSources([(printable_place(place), _open(place)) for place in places])
    return open_source(places[0] if places else None)


def _is_own_file(path: Path) -> bool:
    """Return whether a file has the name of a recording of ours."""
    name = own_name(path.name)
    return name is not None and read_part(name) is not None and path.is_file()


def _open(place: str) -> Source | AgentoolError:
    try:
        return open_source(place)
    except AgentoolError as error:
        return error


def _remote(scheme: str, where: str) -> Source:
    """Return the source of an entry point; the part after `+` in a scheme, such as `https`, is
    passed to the source.
    """
    if meant := _server_meant(where):
        raise SourceError(f"{printable_place(where)} is no SOURCE; hint: {meant}")
    plugin_names = plugins("agentool_otel.sources")
    name = scheme.lower().partition("+")[0]
    if name in plugin_names:
        return complete_source(plugin_names[name].load()(where), without_credentials(where))
    if is_remote(scheme.lower()):
        files = remote_files(where, _SUFFIXES)
        return SpanFiles(files, without_credentials(where))
    from agentool_otel.ground.installing import install_command

    schemes = ", ".join(f"{name}://" for name in sorted(plugin_names))
    command = install_command("remote", "fsspec")
    raise SourceError(
        f"no source for {scheme + '://'!r}; schemes known: {schemes} (servers also with TLS, as "
        f"jaeger+https://), and those of fsspec, as s3://, with {command}"
        "; hint: name a file, a folder or `-` for standard input"
    )


def _server_meant(where: str) -> str:
    """Return the server that a place without its scheme may mean, as a question; "" for none."""
    place = re.fullmatch(r"(?:http(s?):/+)?([\w.-]+:(16686|3200))(/.*)?", where)
    if place is None:
        return ""
    scheme = {"16686": "jaeger", "3200": "tempo"}[place[3]] + ("+https" if place[1] else "")
    return f"did you mean {scheme}://{place[2]}?"


def _source_meant(where: str) -> str:
    """Return the source that a place with the number or the id of a run after it may mean, as a
    question; "" for none."""
    place, _, run = where.rpartition("#")
    if not run or not os.path.exists(place):
        return ""
    named = printable_place(place)
    return f"did you mean {named!r}? only diff takes #{run}; --last 1 takes the newest run"


def _files(path: Path) -> Source:
    try:
        os.stat(path)
    except PermissionError as error:
        folder = quote(printable_place(path.parent))
        raise SourceDenied(
            f"{printable_place(path)} may not be read: {error.strerror}; hint: ls -ld {folder}"
        ) from None
    except (OSError, ValueError):
        matches = sorted(Path(match) for match in glob.glob(str(path), recursive=True))
        files = [file for file in matches if file.is_file()]
        if not files:
            hint = (
                _server_meant(str(path))
                or _source_meant(str(path))
                or instead_of(path)
                or "name a file, a folder, a glob pattern or `-`"
            )
            raise SourceUnreachable(
                f"{printable_place(path)} does not exist; hint: {hint}"
            ) from None
        return _locked(_without_copies(whole_recordings(files)), printable_place(path))
    if not path.is_dir():
        return _database(path) or _locked(whole_recordings([path]), printable_place(path))
    files, left_out = _recordings(path)
    if not files:
        names = ", ".join("*" + suffix for suffix in _SUFFIXES)
        raise SourceUnreachable(
            f"no recording in {printable_place(path)} (looked for {names}); hint: agentool-otel "
            "run -- python app.py records a program, agentool-otel recover recovers the spans of "
            "a killed one"
        )
    source = _locked(files, printable_place(path), whole_folders=True)
    source.folders = (path,)
    source.left_out = left_out
    return source


def _locked(files: Sequence[Path], name: str, whole_folders: bool = False) -> SpanFiles:
    """Return a source of files that no limit removes as long as it lives."""
    source = SpanFiles(files, name)
    ours = _ours(files)
    lock_while_alive(source, (file.parent for file in ours) if whole_folders else ours)
    removed = {file for file in ours if not _is_there(file)}  # before the lock
    source.files = [file for file in files if file not in removed] or files
    return source


def _ours(files: Iterable[Path]) -> list[Path]:
    """Return the files that have the name of one of our recordings."""
    return [file for file in files if own_name(file.name) is not None]


def _database(path: Path) -> Source | None:
    """Return the source of an SQLite file; None for any other file, and if no source knows it."""
    try:
        if not path.is_file() or head(path, len(_SQLITE)) != _SQLITE:  # a pipe is read only once
            return None
    except AgentoolError:
        return None  # reading it says why
    for kind in load_plugins("agentool_otel.sources").values():
        if hasattr(kind, "of_database"):
            reader = cast("type[DatabaseReader]", kind).of_database(path)
            if reader is not None:
                return complete_source(reader, printable_place(path))
    return None


def is_recording(path: Path) -> bool:
    """Return whether a file is read where its folder is named, by its name."""
    return path.suffix in _SUFFIXES


def _recordings(folder: Path) -> tuple[list[Path], tuple[tuple[str, str], ...]]:
    """Return the recordings in a folder, and what has the name of one and is none, such as a pipe.

    The unreadable folders in it are recordings, too: reading those raises the error.
    """
    denied: list[Path] = []
    named: list[Path] = []

    def skipped(error: OSError) -> None:
        denied.append(Path(error.filename))

    for inner, _, names in os.walk(folder, onerror=skipped):
        named += (Path(inner, name) for name in names)
    kinds = {path: irregular(path, follow=True) for path in sorted(named) if is_recording(path)}
    files = [path for path, kind in kinds.items() if kind is None]
    left_out = tuple(
        (printable_place(path), f"left out: it is {kind}, not a file")
        for path, kind in kinds.items()
        if kind is not None
    )
    return _without_copies(distinct_files(files)) + sorted(denied), left_out


def _without_copies(files: Sequence[Path]) -> list[Path]:
    """Return files without copies of recordings of ours: equal byte by byte, or compressed beside
    the file. The recording itself stays, since it may grow."""
    present = set(files)
    by_size: dict[int, list[Path]] = {}
    copies: set[Path] = set()
    for file in sorted(files, key=lambda file: own_name(file.name) is None):
        name = own_name(file.name)
        is_packed = name is not None and name.part is None and read_part(name) is not None
        if is_packed and file.with_suffix("") in present:
            copies.add(file)
            continue
        with suppress(OSError):
            size = file.stat().st_size
            others = by_size.setdefault(size, [])
            if size and any(cmp(file, other, shallow=False) for other in others[:_COMPARED]):
                copies.add(file)
            elif name is not None:
                others.append(file)
    return [file for file in files if file not in copies]


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # reading it says so
        return True
