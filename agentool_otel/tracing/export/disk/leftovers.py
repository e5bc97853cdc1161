"""Files that dead processes have left in a folder: verified and locked.

A process is dead when its journal can be locked. Only what this user's processes have made here is
recovered: a journal notes its own inode, which tells it from a clone, an unpacked archive or a
copy; links, pipes and files of others are recognised too. Those are left as they are;
`RecoveryReport` lists which, and why.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import orjson

from agentool_otel.errors import AgentoolError
from agentool_otel.ground.environment import Signal
from agentool_otel.ground.ownership import NotOurs, open_own, why_untrusted
from agentool_otel.ground.recording_names import files_of_recording, part_suffix
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.semconv import agentool
from agentool_otel.tracing.export.disk import journal
from agentool_otel.tracing.export.disk.files import host_name, is_alive, lock
from agentool_otel.tracing.export.disk.frames import (
    SentMark,
    Stretches,
    read_spool,
    sent_stretches,
    span_id_of,
)
from agentool_otel.tracing.export.disk.spool import SUFFIXES
from agentool_otel.tracing.export.incomplete import close_document, span_id_in
from agentool_otel.tracing.export.send.otlp import Destination

__all__ = ["RECORDING", "Damaged", "Leftovers", "RecoveryReport", "lines_of", "remains_in"]

_log = logger(__name__)

RECORDING = "recording"
"""Destination in the journal of a process that records."""
_DAMAGED = ".damaged"
_PARTIAL = re.compile(
    rf"[a-z]+-(?P<host>[\w.-]+)-(?P<pid>\d+)-[\dT.]+{re.escape(journal.SUFFIX)}~[0-9a-f]+"
)
_FIRST_LINE = 64 << 10
_READ = 4 << 20
_TAIL = 64 << 10
_LONGEST_LINE = 64 << 20
"""Bytes; a span has some 3 MiB at most, twice that where everything in it is escaped."""


class Damaged(Exception):
    """A file of ours holds what our processes do not write."""


class OtherVersion(NotOurs):
    """A file has a format of another version of this package."""


class RecoveryReport:
    """Files that a recovery has found in a folder and could not deliver."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.left_alone: dict[Path, str] = {}
        """Files, or the folder, that are not ours to touch."""
        self.other_versions: dict[Path, str] = {}
        """Files of ours that another version of this package has to recover."""
        self.set_aside: dict[Path, str] = {}
        """Files of ours that cannot be understood, under the names that they have now."""
        self.failed: dict[Path, str] = {}
        """Files that could not be read or written. They are tried again the next time."""
        self.elsewhere: dict[Destination, None] = {}
        """Receivers that spans wait for, and that nobody here sends to."""

    @property
    def holds_back(self) -> bool:
        """Return whether spans or log records wait beside files that are left alone."""
        return any(
            os.path.lexists(path.with_suffix(suffixes.waiting))
            for path in self.left_alone
            for suffixes in SUFFIXES.values()
        )

    @contextmanager
    def handling(self, remains: Leftovers) -> Generator[None]:
        """Keep to one journal what goes wrong with it.

        What cannot be read or written stays for the next time; damage sets the journal aside.
        """
        try:
            yield
        except NotOurs as error:
            self.left_alone[Path(error.filename)] = error.strerror or ""
        except (OSError, MemoryError, AgentoolError) as error:
            self.failed[remains.path] = getattr(error, "strerror", None) or repr(error)
        except Exception as error:  # whatever a damaged file may cause
            reason = str(error) if isinstance(error, Damaged) else type(error).__name__
            self.set_aside[remains.set_aside()] = reason

    def sentences(self) -> Iterator[str]:
        """Yield what users should know of it, a line each."""
        for files, label in (
            (self.left_alone, "not made here by this user's programs and left alone"),
            (self.other_versions, "of another version of agentool-otel and left alone"),
            (self.set_aside, "damaged and set aside"),
            (self.failed, "not to be read or written at present"),
        ):
            if files:
                path, why = next(iter(files.items()))
                if len(files) == 1:
                    yield f"{path} is {label}: {why}"
                else:
                    yield f"{len(files)} files in {self.folder} are {label}; {path.name}: {why}"
        for destination in self.elsewhere:
            yield (
                f"spans that earlier processes could not deliver are in {self.folder} for "
                f"{destination.endpoint}: `{_command(self.folder)}` sends them"
            )

    def log(self) -> None:
        """Log each of these sentences, once in this process."""
        for sentence in self.sentences():
            if sentence not in _logged:
                _logged.add(sentence)
                _log.warning("%s", sentence)


_logged: set[str] = set()


def _command(folder: Path) -> str:
    where = os.path.relpath(folder)
    where = str(folder) if where.startswith("..") else where
    return shlex.join(["agentool-otel", "recover", *([] if where == ".agentool" else [where])])


class Leftovers:
    """The files of one dead process, locked until `release`.

    Raises:
        NotOurs: the journal was not made here.
        Damaged: it was, and cannot be understood.
    """

    def __init__(self, path: Path, file: int):
        self.path = path
        self._file = file
        status = os.fstat(file)
        self.died_ns = status.st_mtime_ns
        self._first = _first_line(file)
        self.damaged_lines = 0
        """Lines that `unfinished` has met and could not understand."""
        try:
            header = orjson.loads(self._first)
            ours = header["inode"] == status.st_ino and str(header["destination"]).isprintable()
            is_damaged = header.get("signal", "traces") not in SUFFIXES
            self.destination = Destination(
                str(header["destination"]),
                str(header.get("protocol", "")),
                str(header.get("signal", "traces")),
                bool(header.get("exact", False)),
            )
            also = header.get("also")
            self.part = int(header.get("part", 1))
            self.ended_from = int(header["from" if "from" in header else "part_from"])
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
            raise NotOurs(path, "it is no journal of a process of this user") from None
        self.also: str | None = also if also in agentool.VOCABULARIES else None
        """The vocabulary whose names the process was to send beside ours."""
        if not ours:
            raise NotOurs(path, "it is a copy of a journal, made elsewhere")
        if is_damaged:
            raise NotOurs(path, "its first line is damaged")
        for what, versions in journal.UNDERSTOOD.items():
            if (version := header.get(what, 1)) not in versions:
                raise OtherVersion(
                    path,
                    f"its {what} has format {version!r}, and this version reads {versions[-1]}; "
                    "hint: recover it with the version that wrote it",
                )

    def sibling(self, suffix: str) -> Path:
        """Return another file of the process; it may not be there."""
        return self.path.with_suffix(suffix)

    def recording_files(self) -> list[Path]:
        """Return the files of the recording in which spans of the journal may have ended.

        The first one may not be there; `ended_from` is a position in it.
        """
        files = files_of_recording(self.path.parent, self.path.stem)
        first = self.path.with_name(self.path.stem + part_suffix(self.part))
        return [first, *(path for number, path in files.items() if number > self.part)]

    @property
    def waiting(self) -> bool:
        """Return whether some data may not have been delivered."""
        try:
            return self._waits()
        except (OSError, Damaged):
            return True

    def _waits(self) -> bool:
        for signal, suffixes in SUFFIXES.items():
            path = self.sibling(suffixes.waiting)
            with suppress(FileNotFoundError):
                if len(self.sent_stretches(signal)) < os.lstat(path).st_size:
                    return True
        ended: list[str] = []
        with suppress(FileNotFoundError):
            for stretch in read_spool(self.sibling(SUFFIXES["traces"].waiting), _READ):
                ended += map(span_id_of, stretch.spans)
        return any(True for _ in self.unfinished(ended))

    def sent_stretches(self, signal: Signal) -> Stretches:
        """Return the parts of the spool of a signal that have arrived.

        Raises:
            OSError: the spool is missing or cannot be read.
            Damaged: the journal has a line that is too long for one of ours.
        """
        marks = journal.sent_marks(self._lines(), signal)
        return sent_stretches(self.sibling(SUFFIXES[signal].waiting), marks)

    def unfinished(self, ended: Iterable[str]) -> Iterator[bytes]:
        """Yield a closed document for every span that has not ended; a damaged line is left out.

        Raises:
            Damaged: the journal has a line that is too long for one of ours.
        """
        done = set(ended)
        first = 0
        for number, line in enumerate(self._lines()):
            ids = journal.ended_in(line)
            if ids is None:
                first = number
            else:
                done.update(ids)
        self.damaged_lines = 0
        for line in islice(self._lines(), first, None):
            try:
                span_id = span_id_in(line)
                if span_id not in done:
                    done.add(span_id)
                    yield close_document(line, self.died_ns)
            except ValueError:
                is_damaged = line.endswith(b"\n") and not line.startswith(journal.WITHOUT_SPANS)
                self.damaged_lines += is_damaged

    def _lines(self) -> Iterator[bytes]:
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(len(self._first) + 1)
            yield from lines_of(file)

    def note_sent(self, signal: Signal, mark: SentMark) -> None:
        """Note spans, or log records, of a spool that have arrived or are kept elsewhere."""
        self._note(journal.sent_line(signal, mark))

    def note_ended(self, span_ids: Iterable[str] | None) -> None:
        """Note open spans that are closed and have arrived; None for all of them.

        All of them have to be noted before the spool is removed: it shows which have ended.
        """
        self._note(journal.ended_line(span_ids))

    def _note(self, line: bytes) -> None:
        """Append a line. Where there is no room, what it notes may be sent again."""
        status = os.fstat(self._file)
        with suppress(OSError), _staying(self._file):
            os.ftruncate(self._file, self._end_of_lines(status.st_size))
            os.lseek(self._file, 0, os.SEEK_END)
            os.write(self._file, line)
            os.utime(self.path, ns=(status.st_atime_ns, status.st_mtime_ns))  # the time of death

    def _end_of_lines(self, size: int) -> int:
        """Return where the last whole line ends: the process may have been killed in the next."""
        at = size
        while at > len(self._first) + 1:
            start = max(0, at - _TAIL)
            newline = _read_at(self._file, start, at - start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            at = start
        return size

    def forget_spans(self) -> None:
        """Leave nothing but the first line and the marks of log records, in place."""
        marks = list(journal.sent_marks(self._lines(), "logs"))
        os.ftruncate(self._file, len(self._first) + 1)
        for mark in marks:
            self.note_sent("logs", mark)

    def remove(self) -> None:
        """Delete the journal, and what a process that was killed while it wrote left beside it."""
        if self._in_place():
            with suppress(OSError):
                self.path.unlink()
        for partial in self.path.parent.glob(f"{self.path.stem}.*~*"):
            with suppress(OSError):
                os.close(open_own(partial, os.O_RDONLY))
                partial.unlink()

    def retire(self, report: RecoveryReport) -> None:
        """Delete the journal, or set it aside if lines in it could not be understood."""
        if self.damaged_lines:
            lines = "1 line" if self.damaged_lines == 1 else f"{self.damaged_lines} lines"
            report.set_aside[self.set_aside()] = f"{lines} in it cannot be understood"
        else:
            self.remove()

    def discard(self, paths: Iterable[Path]) -> None:
        """Delete files of the process that wait to be sent, and the journal after them.

        The journal goes without its open spans at first: a kill in between leaves no span that a
        later recovery takes for open.

        Raises:
            OSError: a file cannot be deleted. The journal is there then.
        """
        if not self._in_place():
            return
        self.forget_spans()
        for path in paths:
            path.unlink(missing_ok=True)
        self.remove()

    def set_aside(self) -> Path:
        """Give the journal a name under which nobody takes it up again, and return that."""
        damaged = self.path.with_name(self.path.name + _DAMAGED)
        if self._in_place():
            with suppress(OSError):
                os.replace(self.path, damaged)
        return damaged

    def release(self) -> None:
        with suppress(OSError):
            os.close(self._file)

    def _in_place(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._file), os.lstat(self.path))
        except OSError:
            return False


def remains_in(folder: Path, survey: RecoveryReport) -> Iterator[Leftovers]:
    """Yield what each dead process has left, one after the other, locked for the time.

    Files that a process was killed in before it had a journal are removed: nothing is in them.

    Args:
        folder: where to look.
        survey: takes what is left alone.
    """
    try:
        paths = sorted(folder.glob(f"*{journal.SUFFIX}"))
        partial = list(folder.glob(f"*{journal.SUFFIX}~*"))
    except OSError:
        return
    why = why_untrusted(folder) if paths or partial else None
    if why is not None:
        survey.left_alone[folder] = why
        return
    for path in partial:
        _remove_partial(path)
    for path in paths:
        remains = _claim(path, survey)
        if remains is not None:
            try:
                yield remains
            finally:
                remains.release()


def _remove_partial(path: Path) -> None:
    match = _PARTIAL.fullmatch(path.name)
    if match is None or match["host"] != host_name() or is_alive(int(match["pid"])):
        return
    if not os.path.lexists(path.with_name(path.name.partition("~")[0])):
        with suppress(OSError):
            os.close(open_own(path, os.O_RDONLY))
            path.unlink()


def _claim(path: Path, survey: RecoveryReport) -> Leftovers | None:
    try:
        file = open_own(path, os.O_RDWR)
    except NotOurs as error:
        survey.left_alone[path] = error.strerror or ""
        return None
    except OSError as error:
        if error.errno != errno.ENOENT:
            survey.left_alone[path] = error.strerror or str(error)
        return None
    try:
        # The file may have been replaced or removed between opening and locking it.
        if lock(file) and os.path.samestat(os.fstat(file), os.lstat(path)):
            return Leftovers(path, file)
    except OtherVersion as error:
        survey.other_versions[path] = error.strerror or ""
    except NotOurs as error:
        survey.left_alone[path] = error.strerror or ""
    except OSError as error:
        survey.failed[path] = error.strerror or str(error)
    os.close(file)
    return None


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file of ours from its position on.

    Raises:
        Damaged: one is longer than any of ours.
    """
    while line := file.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise Damaged(f"it has a line of more than {_LONGEST_LINE >> 20} MB")
        yield line


def _first_line(file: int) -> bytes:
    return _read_at(file, 0, _FIRST_LINE).partition(b"\n")[0]


def _read_at(file: int, start: int, size: int) -> bytes:
    with _staying(file):
        os.lseek(file, start, os.SEEK_SET)
        return os.read(file, size)


@contextmanager
def _staying(file: int) -> Generator[None]:
    """Leave the position of a descriptor as it is: the lines of the file may be read meanwhile."""
    here = os.lseek(file, 0, os.SEEK_CUR)
    try:
        yield
    finally:
        os.lseek(file, here, os.SEEK_SET)
