"""Recognise base64 of an image, a sound, a video or a PDF.

A body counts as media if all of these hold, and is ordinary text otherwise:

- it is base64 of at least `LEAST` characters, in one of both alphabets, padded and canonical;
- a media type beside it (`data:image/png;base64,`, a member `mime_type`) declares media, or its
  first bytes are those of a media format;
- what it decodes to is no text, neither UTF-8 nor UTF-16 with a byte order mark, and does not
  begin as keys do;
- it ends with its text, or is in quotes: a word behind a body may be the name of a credential, and
  would be taken for a part of the body.

`docs/decisions/media.md` has the reasons. All work on a body is done by C code, chunk by chunk: a
body is read twice, decoded and hashed, and never copied as a whole.
"""

from __future__ import annotations

import codecs
import hashlib
from base64 import b64encode
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeGuard

import msgspec

from agentool_otel.content.masking.secret_names import has_word, names_secret
from agentool_otel.ground import lazy_re as re

__all__ = [
    "LEAST",
    "LEAST_BYTES",
    "Body",
    "Media",
    "bodies_in",
    "chunks_of",
    "holds_long_text",
    "may_hold",
    "of_bytes",
]

LEAST = 8192
"""Characters of base64 below which nothing is media: most keys and key files are shorter."""
LEAST_BYTES = LEAST // 4 * 3
"""The same in bytes."""
_CHUNK = 1 << 16
"""Characters that are decoded at once: a multiple of 4, in the cache of the processor."""
_BYTES_AT_ONCE = _CHUNK // 4 * 3
_HEAD = 64
_PROBE = 48
_LONGEST_DECLARATION = 256
_LONGEST_TYPE = 128
_NODES = 4096

_SIGNS = "+/-_"
_ALPHABET = f"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789{_SIGNS}"
"""Of base64 and of its form for URLs, which Google's SDK sends. Spec: RFC 4648, 4 and 5."""
_STANDARD = str.maketrans("-_", "+/")
_RUN = re.compile(r"[A-Za-z0-9+/\-_]*={0,2}")
_DECLARED = re.compile(
    r"data:(?P<type>[a-z]+\\*/[A-Za-z0-9.+\-]+)(?:;[A-Za-z0-9_.\-]+=[A-Za-z0-9_.\-\"]*)*;base64,\Z",
    re.IGNORECASE,
)
"""The head of a data URL, at the end of a text. JSON may have a backslash before the slash.

Spec: RFC 2397."""
_NAMED = re.compile(
    r"(?P<name>[\w.\-]{1,64})[\\\"']*\s*(?:[:=]|=>)\s*[\\\"']*(?:data:[^,\s\"'\\]{0,128},)?\Z"
)
"""A name and the sign behind it, before a body or the data URL of one."""
_OPENS = re.compile(r"(?:\A|[\s:=,(\[{])(?P<quote>\\*[\"'])(?:data:[^,\s\"']{0,128},)?\Z")
_CLOSES = re.compile(r"\\*[\"']")
_TYPE = re.compile(r"(?:image|audio|video)/[a-z0-9.+\-]+|application/(?:x-)?pdf", re.IGNORECASE)
_TEXT_TYPE = re.compile(r"text/|[a-z]+/(?:[a-z0-9.\-]+\+)?(?:json|xml)\b", re.IGNORECASE)

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (0, b"\x00\x00\x00\x0cjP  \r\n\x87\n", "image/jp2"),
    (0, b"\x00\x00\x00\x0cJXL \r\n\x87\n", "image/jxl"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftyphei", "image/heic"),
    (4, b"ftypmif1", "image/heif"),
    (4, b"ftypM4A ", "audio/mp4"),
    (4, b"ftypqt  ", "video/quicktime"),
    (4, b"ftyp", "video/mp4"),
    (8, b"WEBPVP8", "image/webp"),
    (8, b"WAVEfmt ", "audio/wav"),
    (8, b"AVI LIST", "video/x-msvideo"),
    (0, b"OggS\x00", "audio/ogg"),
    (0, b"fLaC\x00", "audio/flac"),
    (0, b"ID3\x03\x00", "audio/mpeg"),
    (0, b"ID3\x04\x00", "audio/mpeg"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"%PDF-1.", "application/pdf"),
    (0, b"%PDF-2.", "application/pdf"),
)
"""The place and value of the first bytes of each format, with its media type. A sign of two bytes,
as MP3 without a header and BMP have it, is none: random bytes have it too often.

Sources: the specifications of the formats; WHATWG MIME Sniffing, 6; iana.org/assignments."""
_RIFF = frozenset({"image/webp", "audio/wav", "video/x-msvideo"})
_NEVER = (
    *(codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    *(b"0\x82", b"0\x83"),  # DER: PKCS #8, PKCS #12, certificates
    b"openssh-key-v1\x00",  # PROTOCOL.key of OpenSSH
    *(b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce"),  # Java KeyStore, JCEKS
)
"""First bytes of texts and keys. What has them is no media, whatever it is declared as."""
_IDS = ("AKIA", "ASIA")
"""Beginnings of ids without which the search does not mask the secret beside them. At the ends of a
body they may have been put together with it."""


class Media(NamedTuple):
    """The facts about media that are recorded."""

    media_type: str
    size: int
    """In bytes, decoded."""
    digest: str
    """Of the bytes, sha256."""


class Body(NamedTuple):
    """One body of base64 in a text."""

    start: int
    end: int
    media: Media


def _is_media_type(name: str | None) -> TypeGuard[str]:
    """Return whether a media type is that of an image, a sound, a video or a PDF."""
    if name is None or len(name) > _LONGEST_TYPE or _TYPE.fullmatch(name) is None:
        return False
    return not name.lower().endswith("+xml")  # SVG is text, which may have anything in it


def holds_long_text(value: Any) -> bool:
    """Return whether plain JSON has a text or bytes that may be media, among its first members."""
    kind = type(value)
    if kind is str:
        return len(value) >= LEAST
    if kind is bytes:
        return len(value) >= LEAST_BYTES
    containers = [value] if kind is dict or kind is list or kind is tuple else []
    room = _NODES
    for container in containers:  # grows meanwhile
        room -= len(container)
        for member in container.values() if type(container) is dict else container:
            kind = type(member)
            if kind is str:
                if len(member) >= LEAST:
                    return True
            elif kind is dict or kind is list or kind is tuple:
                containers.append(member)
            elif kind is bytes and len(member) >= LEAST_BYTES:
                return True
        if room < 0:
            return False
    return False


def may_hold(text: str) -> bool:
    """Return whether a text has a run of the alphabet that may be long enough."""
    return any(_is_probe(text[at : at + _PROBE]) for at in range(0, len(text), LEAST // 2))


def _sniffed(data: bytes) -> str | None:
    """Return the media type that the first bytes of a format show."""
    for place, magic, media_type in _MAGIC:
        if data.startswith(magic, place):
            if media_type in _RIFF and not data.startswith(b"RIFF"):
                continue
            return media_type
    return None


def bodies_in(text: str, declared: str | None = None) -> Iterator[Body]:
    """Yield the bodies of media in a text, in order: the text itself, a data URL, or either of them
    in quotes, as in HTML and in JSON at any depth.

    A run of the alphabet that is long enough has a whole probe in it, so that ordinary text costs
    two short slices for each `LEAST` characters.

    Args:
        text: any text.
        declared: the media type of the text, where it is a body alone, as a member beside it has.
    """
    step, at, low, length = LEAST // 2, 0, 0, len(text)
    may_be_last = True
    declared = declared if _is_media_type(declared) else None
    while length - low >= LEAST and at < length:
        if not _is_probe(text[at : at + _PROBE]):
            at += step
            continue
        before = text[low:at]
        start = low + len(before.rstrip(_ALPHABET))
        body = None
        media_type = _type_of(text, start)
        whole_type = declared if media_type is None and not start else media_type
        if whole_type is not None and _is_named_secret(text, start):
            media_type = whole_type = None
        if whole_type is not None and may_be_last and _is_probe(text[-_PROBE:].rstrip("=")):
            body = _body(text, start, length, whole_type)
        may_be_last = False
        end = length
        if body is None:
            end = _run_end(text, start)
            if media_type is not None and end - start >= LEAST:
                body = _body(text, start, end, media_type)
        if body is not None:
            yield body
        at = low = max(end, at + 1)


def _is_probe(text: str) -> bool:
    for sign in _SIGNS:
        text = text.replace(sign, "")
    return text.isalnum() and text.isascii()


def _type_of(text: str, start: int) -> str | None:
    """Return the media type of the body at a place: as its data URL or its first bytes have it."""
    declared = _declaration(text, start)
    if _is_media_type(declared):
        return declared
    is_text = declared is not None and _TEXT_TYPE.match(declared) is not None
    return None if is_text else _sniffed(_head_of(text, start))


def _declaration(text: str, start: int) -> str | None:
    """Return the media type in the head of a data URL that ends at a place."""
    if text[start - 8 : start].lower() != ";base64,":
        return None
    declaration = _DECLARED.search(text, max(0, start - _LONGEST_DECLARATION), start)
    return None if declaration is None else declaration["type"].replace("\\", "")


def _run_end(text: str, start: int) -> int:
    """Return the end of the run of the alphabet that begins at a place, behind its padding."""
    at = start
    while at + _CHUNK <= len(text):
        chunk = text[at : at + _CHUNK]
        if chunk.endswith("=") or not _decodes(chunk):
            break
        at += _CHUNK
    run = _RUN.match(text, at)
    return at if run is None else run.end()


def _decodes(text: str) -> bool:
    """Return whether text is base64, which costs a fifth of an expression for its characters."""
    try:
        _decoded(text)
    except ValueError:
        return False
    return True


def _is_named_secret(text: str, start: int) -> bool:
    """Return whether the name of a credential is before a body: then the body is text like any
    other, and the search masks it.
    """
    named = _NAMED.search(text, max(0, start - _LONGEST_DECLARATION), start)
    return named is not None and names_secret(named["name"])


def _head_of(text: str, start: int) -> bytes:
    try:
        return _decoded(text[start : start + _HEAD])
    except ValueError:
        return b""


def _decoded(text: str) -> bytes:
    """Return the bytes of base64, in one alphabet.

    Raises:
        ValueError: if it is something else.
    """
    if "-" in text or "_" in text:
        if "+" in text or "/" in text:
            raise ValueError("two alphabets")
        text = text.translate(_STANDARD)
    return msgspec.convert(text, bytes)


def _body(text: str, start: int, end: int, media_type: str) -> Body | None:
    """Return the body between two places, None if it is not base64 of media.

    Args:
        text: any text.
        start: where the body begins.
        end: where it ends, behind its padding.
        media_type: its type.
    """
    length = end - start
    if length < LEAST or length % 4 or not _is_canonical(text[end - 4 : end]):
        return None
    if any(sign in text[at : at + _HEAD] for at in (start, end - _HEAD) for sign in _IDS):
        return None
    if _has_any(text, "-_", start, end) and _has_any(text, "+/", start, end):
        return None
    if end < len(text) and not _is_closed(text, start, end):
        return None
    digest, size, is_text = hashlib.sha256(), 0, True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for chunk in chunks_of(text, start, end):
            if size % _BYTES_AT_ONCE or (not size and chunk.startswith(_NEVER)):
                return None  # padding in the middle, or no media
            is_text = is_text and _goes_on_as_text(decoder, chunk)
            digest.update(chunk)
            size += len(chunk)
    except ValueError:  # not base64
        return None
    if is_text:
        return None
    return Body(start, end, Media(media_type.lower(), size, digest.hexdigest()))


def _has_any(text: str, signs: str, start: int, end: int) -> bool:
    return any(text.find(sign, start, end) >= 0 for sign in signs)


def _is_closed(text: str, start: int, end: int) -> bool:
    """Return whether a body in a text is in quotes, and does not end with the name of a
    credential.
    """
    opening = _OPENS.search(text, max(0, start - _LONGEST_DECLARATION), start)
    closing = _CLOSES.match(text, end)
    if opening is None or closing is None or has_word(text[end - _HEAD : end]):
        return False
    return opening["quote"] == closing[0]


def chunks_of(text: str, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of base64 between two places of a text.

    Raises:
        ValueError: if it is something else.
    """
    for at in range(start, end, _CHUNK):
        yield _decoded(text[at : min(at + _CHUNK, end)])


def _goes_on_as_text(decoder: codecs.IncrementalDecoder, chunk: bytes | memoryview) -> bool:
    """Return whether bytes go on as UTF-8. Those of media stop it within a few."""
    try:
        decoder.decode(bytes(chunk))
    except UnicodeDecodeError:
        return False
    return True


def _is_canonical(end: str) -> bool:
    """Return whether the last four characters are those that an encoder writes."""
    end = end.translate(_STANDARD)
    try:
        return b64encode(_decoded(end)).decode() == end
    except ValueError:
        return False


def of_bytes(view: memoryview, declared: str | None = None) -> Media | None:
    """Return what is recorded of bytes, None if they are no media.

    Args:
        view: bytes, one after the other.
        declared: their media type, as a member beside them has it.
    """
    if view.nbytes < LEAST_BYTES or view.itemsize != 1 or not view.c_contiguous:
        return None
    head = bytes(view[:_HEAD])
    media_type = declared if _is_media_type(declared) else _sniffed(head)
    if media_type is None or head.startswith(_NEVER):
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    for at in range(0, view.nbytes, _BYTES_AT_ONCE):
        if not _goes_on_as_text(decoder, view[at : at + _BYTES_AT_ONCE]):
            digest = hashlib.sha256(view).hexdigest()
            return Media(media_type.lower(), view.nbytes, digest)
    return None
