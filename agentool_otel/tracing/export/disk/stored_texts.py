"""References from recordings to the texts that are stored apart from them, in `content/`.

`content.fitting` leaves the attribute `agentool.content.shortened` on a span: JSON with the SHA-256
of each text and the place where it is stored. Only such an attribute makes us the owner of a
text. Whatever else mentions a digest keeps the text, and never removes it. Media have marks in the
content instead: a mark makes us the owner of a binary file, never of a text.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import orjson

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.ownership import open_own
from agentool_otel.semconv import agentool
from agentool_otel.tracing.export.disk.names import TEXTS

__all__ = [
    "TEXTS",
    "files_below",
    "is_stored_text",
    "mentioned_digests",
    "referenced_digests",
    "referenced_media",
    "remove_partial_texts",
    "stored_digests",
]

_DIGEST = re.compile(r"[0-9a-f]{64}")
_HEX = b"0123456789abcdef"
_IS_HEX = bytes(0x31 if byte in _HEX else 0x30 for byte in range(256))
"""Table for `translate`: `1` for a hexadecimal digit, `0` for any other byte."""
_ONLY_HEX = bytes(byte if byte in _HEX else 0x20 for byte in range(256))
"""Table for `translate`: a space for each byte that is no hexadecimal digit."""
_STEP = 16
_SAMPLED = b"1" * (64 // _STEP)
"""A digest in every sixteenth byte of a text, as `_IS_HEX` has it."""
_ATTRIBUTE = b'"key":"' + agentool.CONTENT_SHORTENED.encode() + b'","value":{"stringValue":"'
"""The beginning of the attribute in OTLP/JSON. Inside a text the quotes would be escaped."""
_TEXT = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_MARK = b"-bytes-sha256-"
_MEDIA = re.compile(_MARK + rb"([0-9a-f]{64})(?![0-9a-f])")
"""The end of a mark of media, as `semconv.marks.MEDIA_TEXT` has it."""
_PARTIAL = re.compile(r"[0-9a-f]{64}\.\d+\.[0-9a-f]+")
"""Name of a text while it is written."""
_WRITTEN_NS = 3_600_000_000_000
"""Time in which a text is written, within reason."""
_READ = 256 << 10
"""Bytes that are searched at once: other threads have to wait for that."""
_OVERLAP = 65


def stored_digests(folder: Path) -> set[str]:
    """Return the names in the folder of texts that are digests; none if the folder is a link."""
    texts = folder / TEXTS
    if texts.is_symlink() or not texts.is_dir():
        return set()
    return {name for name in os.listdir(texts) if _DIGEST.fullmatch(name)}


def remove_partial_texts(folder: Path) -> None:
    """Remove texts that a process was killed in while it wrote them."""
    before_ns = time.time_ns() - _WRITTEN_NS
    texts = folder / TEXTS
    if texts.is_symlink():
        return
    for path in texts.glob("*.*"):
        with suppress(OSError):
            if _PARTIAL.fullmatch(path.name) and os.lstat(path).st_mtime_ns < before_ns:
                os.close(open_own(path, os.O_RDONLY))
                path.unlink()


def referenced_digests(path: Path) -> set[str]:
    """Return the digests of the texts that a recording refers to, and that a program has stored.

    Raises:
        OSError: the file cannot be read.
    """
    digests: set[str] = set()
    with path.open("rb") as file:
        for line in file:
            at = line.find(_ATTRIBUTE)
            while at >= 0:
                match = _TEXT.match(line, at + len(_ATTRIBUTE))
                assert match is not None  # it matches an empty text too
                digests.update(_stored_in(match[0]))
                at = line.find(_ATTRIBUTE, match.end())
    return digests


def referenced_media(path: Path, folder: Path) -> set[str]:
    """Return the digests of stored media of which a recording has a mark.

    Anybody can write a mark into a text, so it stands for a stored file only if that is binary:
    media are never UTF-8, and stored texts always are.

    Args:
        path: the recording.
        folder: the folder of recordings, in which the files are stored.

    Raises:
        OSError: the recording cannot be read.
    """
    digests: set[str] = set()
    with path.open("rb") as file:
        for line in file:
            if _MARK in line:
                digests.update(match[1].decode() for match in _MEDIA.finditer(line))
    return {digest for digest in digests if _is_binary(folder / TEXTS / digest)}


def _is_binary(path: Path) -> bool:
    """Return whether a file of this user is no UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with os.fdopen(open_own(path, os.O_RDONLY), "rb") as file:
            while data := file.read(_READ):
                decoder.decode(data)
    except UnicodeDecodeError:
        return True
    except OSError:
        return False
    return False


def _stored_in(escaped: bytes) -> Iterator[str]:
    """Yield the digests in an attribute's value, which is a JSON text inside a JSON string."""
    with suppress(ValueError):
        notes = orjson.loads(orjson.loads(b'"%b"' % escaped))
        for note in notes.values() if isinstance(notes, dict) else ():
            digest = note.get("sha256") if isinstance(note, dict) else None
            if isinstance(digest, str) and _DIGEST.fullmatch(digest):
                place = str(note.get("stored")).replace("\\", "/")
                if place.endswith(f"/{digest}"):
                    yield digest


def mentioned_digests(path: Path) -> Iterator[bytes]:
    """Yield every SHA-256 in hexadecimal digits in a file.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        tail = b""
        while data := file.read(_READ):
            data = tail + data
            tail = data[-_OVERLAP:]
            yield from _digests_in(data)


def _digests_in(data: bytes) -> Iterator[bytes]:
    """Yield every run of exactly 64 hexadecimal digits.

    Most of a recording has none: one look at every sixteenth byte is a hundred times as fast as a
    regular expression, and other threads wait for this.
    """
    sample = data[::_STEP].translate(_IS_HEX)
    at = sample.find(_SAMPLED)
    while at >= 0:
        end = sample.find(b"0", at)
        end = len(sample) if end < 0 else end
        region = data[max(0, at - 1) * _STEP : end * _STEP]
        yield from (run for run in region.translate(_ONLY_HEX).split() if len(run) == 64)
        at = sample.find(_SAMPLED, end)


def is_stored_text(path: Path) -> bool:
    """Return whether a file is a text that is stored under its digest, by this user."""
    try:
        with os.fdopen(open_own(path, os.O_RDONLY), "rb") as file:
            digest = hashlib.sha256()
            while data := file.read(_READ):
                digest.update(data)
    except OSError:
        return False
    return digest.hexdigest() == path.name


def files_below(folder: Path, leaving: Iterable[Path]) -> Iterator[Path]:
    """Yield the files at any depth that may refer to a text: all but the texts and some files."""
    left_out = set(leaving)
    texts = folder / TEXTS
    for root, folders, names in os.walk(folder):
        folders[:] = [inner for inner in folders if Path(root, inner) != texts]
        for path in (Path(root, name) for name in names):
            if path not in left_out and path.is_file():
                yield path
