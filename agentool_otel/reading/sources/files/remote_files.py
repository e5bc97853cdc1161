"""Files of spans wherever fsspec can read: `s3://bucket/folder`, `gs://…`, `az://…`, `https://…`.

Credentials are those that the library for such a place finds by itself. A folder is read as one on
disk is; a pattern and a single file, whatever its name.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any, TypeVar

from agentool_otel.errors import (
    AgentoolError,
    MissingDependencyError,
    SourceDenied,
    SourceUnreachable,
)
from agentool_otel.ground.optional import library
from agentool_otel.ground.urls import credentials_in, without_credentials, without_secrets

__all__ = ["RemoteFile", "is_remote", "remote_files"]

_T = TypeVar("_T")


def is_remote(scheme: str) -> bool:
    """Return whether fsspec is installed and supports a scheme, with or without the library behind
    it.
    """
    try:
        fsspec = library("fsspec", "a URL", extra="remote")
    except MissingDependencyError:
        return False
    return scheme in fsspec.available_protocols()


class RemoteFile(io.RawIOBase):
    """A file, opened when it is read. After `release` it is read from its beginning again."""

    def __init__(
        self, place: str, size: int | None, open_file: Callable[[], Any], secrets: Sequence[str]
    ):
        super().__init__()
        self.name = place
        """Its URL, without credentials."""
        self.size = size
        """Bytes; None if they are not known."""
        self.problems: Sequence[str] = ()
        """What the file lacks, as the stream says that it was opened as."""
        self._open = open_file
        self._secrets = secrets
        self._stream: Any = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read some bytes.

        Raises:
            OSError: it breaks off.
            AgentoolError: it cannot be opened.
        """
        if self._stream is None:
            with _errors_with_place(self.name, self._secrets):
                self._stream = self._open()
            self.problems = getattr(self._stream, "problems", ())
        try:
            data = self._stream.read(len(buffer))
        except Exception as error:  # a file system of any vendor raises what it likes
            reason = without_secrets(str(error), self._secrets)
            raise OSError(f"{type(error).__name__}: {reason}") from None
        buffer[: len(data)] = data
        return len(data)

    def release(self) -> None:
        """Let go of the connection."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()


def remote_files(url: str, suffixes: Sequence[str]) -> list[RemoteFile]:
    """Return the files of a URL: a file, a pattern, or a folder at any depth, of which those with
    one of the suffixes, sorted.

    Raises:
        MissingDependencyError: the library for such a place is not installed.
        SourceDenied: it may not be looked at.
        SourceUnreachable: nothing is there, or it does not answer.
    """
    place, secrets = without_credentials(url), credentials_in(url)
    with _errors_with_place(place, secrets):
        fsspec = library("fsspec", f"reading {place}", extra="remote")
        system, path = fsspec.core.url_to_fs(url)
        paths = _paths(system, path, suffixes)
        if not paths:
            looked = ", ".join("*" + suffix for suffix in suffixes)
            raise SourceUnreachable(f"nothing to read in {place} (looked for {looked})")
        return [_file(system, place, path, item, secrets) for item in paths]


def _paths(system: Any, path: str, suffixes: Sequence[str]) -> list[str]:
    if system.isfile(path):
        return [path]
    if re.search(r"[*\[]", path):
        return sorted(path for path in system.glob(path) if system.isfile(path))
    return sorted(item for item in system.find(path) if PurePosixPath(item).suffix in suffixes)


def _file(system: Any, place: str, path: str, file_path: str, secrets: Sequence[str]) -> RemoteFile:
    size = system.info(file_path).get("size")
    inner_path = file_path[len(path) :] if file_path.startswith(path) else f" {file_path}"
    name = without_credentials(place + inner_path)
    return RemoteFile(
        name,
        size if isinstance(size, int) else None,
        lambda: system.open(file_path, "rb"),
        secrets,
    )


@contextmanager
def _errors_with_place(place: str, secrets: Sequence[str]) -> Generator[None]:
    """Turn an error of a file system, which may quote the URL, into an error that names the place
    and has none of the secrets.
    """
    try:
        yield
    except AgentoolError:
        raise
    except ImportError as error:
        raise MissingDependencyError(
            f"reading {place} needs a library that is not installed: {_reason(error, secrets)}"
        ) from None
    except PermissionError as error:
        raise SourceDenied(f"{place} may not be read: {_reason(error, secrets)}") from None
    except Exception as error:  # a file system of any vendor raises what it likes
        raise SourceUnreachable(f"{place} cannot be read: {_reason(error, secrets)}") from None


def _reason(error: Exception, secrets: Sequence[str]) -> str:
    return without_secrets(str(error), secrets) or type(error).__name__
