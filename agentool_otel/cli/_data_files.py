"""The files that commands write: never one that is being read, and each either complete or
unchanged."""

from __future__ import annotations

import errno
import os
import re
import secrets
import signal
import stat
import sys
import threading
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedWriter, FileIO
from itertools import combinations
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, BinaryIO

from agentool_otel.cli._output import data_stream, say
from agentool_otel.cli._system_errors import hint_for
from agentool_otel.errors import ConfigurationError
from agentool_otel.reading.sources.files.streams import SpanFile
from agentool_otel.reading.sources.opening import is_recording

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["STDOUT", "data_files"]

STDOUT = Path("-")
"""The path that stands for standard output on a command line."""

_ENDING = ("SIGTERM", "SIGHUP")
_LONGEST_NAME = 200
"""Bytes of a name that the one beside it repeats: file systems allow 255, and it gets longer."""


@contextmanager
def data_files(
    places: Mapping[str, Path | None], inputs: Iterable[SpanFile]
) -> Generator[dict[str, BinaryIO]]:
    """Open the files that a command writes, by the option that names each.

    They are written beside and take their names together, when the block has ended without an
    error: until then, and if it is interrupted, old files are as they were. Only what is no file,
    such as a pipe or a device, is written directly.

    Args:
        places: by option, the file that it names; `STDOUT`, or None if it is not given.
        inputs: what the command reads: files, and folders of which all recordings are read. None of
            it has to be open.

    Raises:
        ConfigurationError: a file is one of the inputs or would be the next time, is named twice,
            is a URL, or cannot be written.
        OSError: writing fails, as where the disk is full.
    """
    wanted = {option: place for option, place in places.items() if place is not None}
    _refuse_urls(wanted)
    inputs = list(inputs)
    _refuse_inputs(wanted, inputs)
    _refuse_folders(
        wanted, [entry for entry in inputs if isinstance(entry, Path) and entry.is_dir()]
    )
    _refuse_the_same(wanted)
    outputs = {option: _Output(place) for option, place in wanted.items()}
    with _ended_in_order(), ExitStack() as at_the_end:
        for option, output in outputs.items():
            at_the_end.callback(output.discard)
            try:
                output.open()
            except OSError as error:
                hint = hint_for(error, option)
                raise ConfigurationError(
                    f"{wanted[option]} cannot be written: {error.strerror or error}"
                    f"{f'; hint: {hint}' if hint else ''}"
                ) from error
        yield {option: output.stream for option, output in outputs.items()}
        for output in outputs.values():
            output.complete()
        for output in outputs.values():
            output.take_name()


# ------------------------------------------------------------------------------- one output


class _Output:
    """A file that is written next to the one it replaces, or a target that can only be written
    directly."""

    stream: BinaryIO

    def __init__(self, place: Path):
        self._place = place
        self._target = place
        self._beside: Path | None = None
        self._old: os.stat_result | None = None

    def open(self) -> None:
        """Open the target.

        Raises:
            OSError: it cannot be.
        """
        if self._place == STDOUT:
            self.stream = data_stream()
            return
        with suppress(FileNotFoundError):
            self._old = self._place.stat()
        if (descriptor := _opened_already(self._place)) is not None:
            self.stream = BufferedWriter(_Named(os.dup(descriptor), self._place))
        elif self._old is not None and not stat.S_ISREG(self._old.st_mode):
            self.stream = BufferedWriter(_Named(_open_special(self._place), self._place))
        else:
            self._open_beside()

    def _open_beside(self) -> None:
        target = self._target = Path(os.path.realpath(self._place))  # a link stays one
        target.parent.mkdir(parents=True, exist_ok=True)
        if self._old is not None and not os.access(target, os.W_OK, effective_ids=_EFFECTIVE):
            raise PermissionError(None, "it is write-protected")
        # Hidden, and with no suffix of a recording: whoever reads the folder passes it over.
        name = os.fsencode(target.name)[:_LONGEST_NAME].decode("utf-8", "ignore")
        self._beside = target.with_name(f".{name}.{secrets.token_hex(8)}.agentool-unfinished")
        descriptor = os.open(self._beside, _CREATED, 0o666 if self._old is None else 0o600)
        self.stream = BufferedWriter(_Named(descriptor, self._place))
        if self._old is not None:
            _make_alike(descriptor, self._old)

    def complete(self) -> None:
        """Flush the rest.

        Raises:
            OSError: there is no room for it.
        """
        self.stream.flush()
        if self._beside is not None and self._old is not None:
            try:
                os.fsync(self.stream.fileno())  # else a power cut might cost both, old and new
            except OSError as error:
                raise with_place(error, self._place) from error
        if self._place != STDOUT:
            self.stream.close()

    def take_name(self) -> None:
        """Replace the old file.

        Raises:
            OSError: that is not allowed.
        """
        if self._beside is not None:
            try:
                self._beside.replace(self._target)
            except OSError as error:
                raise with_place(error, self._place) from error

    def discard(self) -> None:
        """Close, and remove a file that was not renamed into place."""
        stream = getattr(self, "stream", None)
        if stream is None or self._place == STDOUT:
            stream = None
        elif self._beside is not None:
            stream = stream.raw  # what is left in the buffer is not wanted
        with suppress(OSError):  # a disk that is full still, a pipe that nobody reads
            if stream is not None:
                stream.close()
        with suppress(OSError):
            if self._beside is not None:
                self._beside.unlink()


_EFFECTIVE = os.access in os.supports_effective_ids
_CREATED = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class _Named(FileIO):
    """A file whose errors carry the name that the user typed."""

    def __init__(self, descriptor: int, place: Path):
        super().__init__(descriptor, "wb")
        self._place = place

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise with_place(error, self._place) from error


def with_place(error: OSError, place: Path) -> OSError:
    return OSError(error.errno, error.strerror, str(place))


def _open_special(place: Path) -> int:
    """Open a pipe or a device. Where a pipe has no reader yet, print that on stderr.

    Raises:
        OSError: it cannot be opened.
    """
    try:
        descriptor = os.open(place, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if error.errno != errno.ENXIO or not stat.S_ISFIFO(place.stat().st_mode):
            raise
        say(f"{place} is a pipe that no program reads: waiting for one")
        return os.open(place, os.O_WRONLY)
    os.set_blocking(descriptor, True)
    return descriptor


def _opened_already(place: Path) -> int | None:
    """Return the descriptor behind a path such as /dev/stdout, None for any other path.

    What it leads to is not this command's to replace, and has a place to write at.
    """
    at = os.path.abspath(place)
    while True:
        folder, name = os.path.realpath(os.path.dirname(at)), os.path.basename(at)
        if folder in ("/dev/fd", f"/proc/{os.getpid()}/fd") and name.isdecimal():
            return int(name)
        if not os.path.islink(at):
            return None
        at = os.path.join(folder, os.readlink(at))


def _make_alike(descriptor: int, old: os.stat_result) -> None:
    """Give a new file the owner and permissions of the old one, as far as allowed."""
    if not hasattr(os, "fchmod"):
        return  # Windows: files have what their folder gives them
    mode = stat.S_IMODE(old.st_mode)
    for owner in ((old.st_uid, old.st_gid), (-1, old.st_gid)):
        with suppress(PermissionError):
            os.fchown(descriptor, *owner)
            break
    else:
        mode &= ~stat.S_IRWXG  # these were for another group
    os.fchmod(descriptor, mode)


# --------------------------------------------------------------------------------- refusals


def _refuse_inputs(wanted: Mapping[str, Path], inputs: Iterable[SpanFile]) -> None:
    written = {option: file_stat for option, place in wanted.items() if (file_stat := _file(place))}
    if not written:
        return
    for read in inputs:
        file_stat = _file(read)
        for option, other in written.items():
            if file_stat is not None and os.path.samestat(file_stat, other):
                raise ConfigurationError(
                    f"{_label(wanted[option])} is also read: {_label(read)} is the same file"
                    f"; hint: name another file with {option}, outside of what is read"
                )


def _refuse_folders(wanted: Mapping[str, Path], folders: Iterable[Path]) -> None:
    """Refuse files that the same command would read the next time."""
    for option, place in wanted.items():
        path = Path(os.path.realpath(place))
        for folder in folders:
            if place != STDOUT and is_recording(path) and _contains(folder, path):
                raise ConfigurationError(
                    f"{place} is in {folder}, of which all recordings are read"
                    f"; hint: name a file outside of it with {option}"
                )


def _contains(folder: Path, path: Path) -> bool:
    return path.is_relative_to(os.path.realpath(folder))


def _refuse_urls(wanted: Mapping[str, Path]) -> None:
    for option, place in wanted.items():
        if re.match(r"[A-Za-z][\w+.-]+:[/\\]", str(place)):  # a path has one slash of two
            raise ConfigurationError(
                f"{option} names a URL; hint: name a file, and copy it from there"
            )


def _refuse_the_same(wanted: Mapping[str, Path]) -> None:
    for (option, place), (other_option, other) in combinations(wanted.items(), 2):
        file_stat, other_stat = _file(place), _file(other)
        same = os.path.realpath(place) == os.path.realpath(other) and not _is_device(place)
        if same or (file_stat and other_stat and os.path.samestat(file_stat, other_stat)):
            raise ConfigurationError(
                f"{option} and {other_option} both name {_label(other)}"
                f"; hint: name another file with {other_option}"
            )


def _file(place: SpanFile) -> os.stat_result | None:
    """Return the identity of a regular file, None for anything else."""
    try:
        if place == STDOUT:
            file_stat = os.fstat(sys.stdout.fileno())
        else:
            file_stat = os.stat(place if isinstance(place, Path) else place.fileno())
    except (OSError, ValueError):  # none there yet, or nothing that the system knows as open
        return None
    return file_stat if stat.S_ISREG(file_stat.st_mode) else None


def _is_device(place: Path) -> bool:
    with suppress(OSError):
        return stat.S_ISCHR(place.stat().st_mode)
    return False


def _label(place: SpanFile) -> str:
    if not isinstance(place, Path):
        return "standard input"
    return "standard output" if place == STDOUT else str(place)


# --------------------------------------------------------------------------------- signals


@contextmanager
def _ended_in_order() -> Generator[None]:
    """Turn signals that end the process at once into an exit that cleans up."""
    handled: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        for other in handled:
            signal.signal(other, signal.SIG_IGN)
        raise SystemExit(128 + number)

    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
        handled += (number for number in numbers if signal.getsignal(number) is signal.SIG_DFL)
    try:
        for number in handled:
            signal.signal(number, end)
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
