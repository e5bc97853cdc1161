"""Texts that were stored apart from their span because they were too large for an attribute.

`content.fitting` leaves the sha256, the size and the place on the span. The place is not believed,
since a file of spans is anybody's: a text is looked for by its hash, in the folder `content` beside
the files that are read and where `AGENTOOL_OFFLOAD` says, and nowhere else. One that is gone, or
has changed, stays shortened as it is on the span, and the fidelity report notes it.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from agentool_otel.ground import environment
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.ground.ownership import open_regular
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool

__all__ = ["LARGEST", "allow", "allow_beside", "put_back", "recordings", "restore_texts"]

LARGEST = 256 << 20
"""Bytes of a stored text that is read."""
_MARK = agentool.CONTENT_SHORTENED
_FOLDER = "content"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_recordings: set[str] = set()
"""The folders of the files that this process reads or has read."""


def allow_beside(files: Iterable[str | os.PathLike[str]]) -> None:
    """Allow texts to be read from the folder `content` next to each of some files."""
    allow(os.path.dirname(os.path.abspath(file)) for file in files)


def allow(folders: Iterable[str]) -> None:
    """Let texts be read from the folder `content` in each of some folders."""
    _recordings.update(folders)


def recordings() -> frozenset[str]:
    """Return the folders that `allow` was called with, for another process."""
    return frozenset(_recordings)


def put_back(spans: list[SpanRecord]) -> None:
    """Replace the spans of a list whose texts were stored apart by such with these in place."""
    for number, span in enumerate(spans):
        if _MARK in span.attributes:
            span = replace(span, attributes=restore_texts(span.attributes))
            spans[number] = span
        if span.events and any(_MARK in event.attributes for event in span.events):
            events = [
                replace(event, attributes=restore_texts(event.attributes)) for event in span.events
            ]
            spans[number] = replace(span, events=events)


def restore_texts(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return attributes with their offloaded texts in place; the same object if there are none."""
    encoded = attributes.get(agentool.CONTENT_SHORTENED)
    if not isinstance(encoded, str):
        return attributes
    try:
        notes = loads(encoded)
    except ValueError:
        return attributes
    if not isinstance(notes, dict):
        return attributes
    texts = {
        name: text
        for name, note in notes.items()
        if isinstance(note, dict) and (text := _text(note)) is not None
    }
    if not texts:
        return attributes
    restored = {**attributes, **texts}
    missing = {name: note for name, note in notes.items() if name not in texts}
    if missing:
        restored[agentool.CONTENT_SHORTENED] = dumps(missing)
    else:
        del restored[agentool.CONTENT_SHORTENED]
    return restored


def _text(note: dict[str, Any]) -> str | None:
    digest, size = note.get("sha256"), note.get("bytes")
    if not (isinstance(note.get("stored"), str) and isinstance(digest, str)):
        return None
    if type(size) is not int or not 0 <= size <= LARGEST or not _DIGEST.fullmatch(digest):
        return None
    for data in _candidates(digest, size):
        if hashlib.sha256(data).hexdigest() == digest:
            return data.decode("utf-8", "replace")
    return None


def _candidates(digest: str, size: int) -> Iterator[bytes]:
    """Yield the contents under a hash in each place where a text of that size may be."""
    ours = environment.value(environment.OFFLOAD).rstrip("/")
    if "://" in ours:
        yield from _of_url(f"{ours}/{digest}", size)
    elif ours and ours.lower() != "none":
        yield from _of_file(Path(os.path.realpath(ours)), digest, size)
    for folder in sorted(_recordings | {os.path.abspath(environment.recordings_folder())}):
        yield from _of_file(Path(folder, _FOLDER), digest, size)


def _of_file(folder: Path, digest: str, size: int) -> Iterator[bytes]:
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):  # a link may lead anywhere
            return
        with open(open_regular(folder / digest), "rb") as file:
            if os.fstat(file.fileno()).st_size == size:
                yield file.read(size)
    except (OSError, ValueError):
        return


def _of_url(where: str, size: int) -> Iterator[bytes]:
    try:
        fsspec: Any = importlib.import_module("fsspec")
        with fsspec.open(where, "rb") as source:
            data: bytes = source.read(size + 1)
    except Exception:  # no fsspec, no rights, no such object: a file system raises what it likes
        return
    yield data
