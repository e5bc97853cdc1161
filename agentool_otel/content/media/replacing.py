"""Replace media in content by a mark, and store the bytes where a store is.

    data:image/png;base64,media-image-png-4500000-bytes-sha256-9f86d081884c…

The mark has no character that JSON escapes, so that it can stand in JSON at any depth. What is
around a body stays, and is searched for credentials as ever.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.content.fitting.fitter import Store
from agentool_otel.content.masking.secret_names import names_secret
from agentool_otel.content.media.recognition import (
    LEAST,
    LEAST_BYTES,
    Media,
    bodies_in,
    chunks_of,
    may_hold,
    of_bytes,
)
from agentool_otel.content.values import as_text
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.semconv.marks import MEDIA_TEXT

__all__ = ["MediaKeeper", "bytes_as_text"]

_TYPES = ("mime_type", "media_type", "mimeType", "mediaType")
"""Members that have the media type of the body beside them: of the conventions, Anthropic, Google,
LangChain; Google's REST API and MCP; Vercel's AI SDK."""
_DEPTH = 100
_SIGNS = re.compile(r"[^A-Za-z0-9]")


def bytes_as_text(value: Any, room: int = _DEPTH) -> Any:
    """Return a JSON value with text in place of bytes; the same object if it has none."""
    kind = type(value)
    if kind is bytes:
        return as_text(value)
    if room <= 0 or not (kind is dict or kind is list or kind is tuple):
        return value
    pairs = value.items() if kind is dict else enumerate(value)
    changed = {
        key: clean
        for key, member in pairs
        if (clean := bytes_as_text(member, room - 1)) is not member
    }
    return _with_changed(value, changed) if changed else value


def _with_changed(value: Any, changed: dict[Any, Any]) -> Any:
    if type(value) is dict:
        return {**value, **changed}
    return [changed.get(at, member) for at, member in enumerate(value)]


class MediaKeeper:
    """Replaces media, and stores their bytes.

    Args:
        store: where the bytes go; None keeps none.
    """

    __slots__ = ("_store",)

    def __init__(self, store: Store | None):
        self._store = store

    def text(self, text: str, declared: str | None = None) -> str:
        """Return a text with marks in place of media; the same object if it has none.

        Args:
            text: plain text or JSON.
            declared: the media type of the text, where it is a body alone.
        """
        if len(text) < LEAST:
            return text
        pieces: list[str] = []
        end = 0
        for body in bodies_in(text, declared):
            media = body.media
            if self._store is not None:
                chunks = chunks_of(text, body.start, body.end)
                self._store.put_chunks(media.digest, media.size, chunks)
            pieces += text[end : body.start], _mark(media)
            end = body.end
        clean = "".join((*pieces, text[end:])) if pieces else text
        return self._in_json(clean) if clean[:1] in ("{", "[") and may_hold(clean) else clean

    def _in_json(self, text: str) -> str:
        """Return JSON text with marks in place of bodies whose type another member declares."""
        try:
            value = loads(text)
        except ValueError:
            return text
        clean = self.value(value)
        return text if clean is value else dumps(clean)

    def value(self, value: Any) -> Any:
        """Return a JSON value with marks in place of media; the same object if it has none. What
        contains media is copied, never changed.
        """
        return self._replaced(value, None, _DEPTH)

    def binary(self, view: memoryview, declared: str | None = None) -> Media | None:
        """Store bytes that are media, and return what is recorded of them; None of other bytes."""
        media = of_bytes(view, declared)
        if media is not None and self._store is not None:
            self._store.put_chunks(media.digest, media.size, (view,))
        return media

    def _replaced(self, value: Any, declared: str | None, room: int) -> Any:
        kind = type(value)
        if kind is str:
            return self.text(value, declared)
        if kind is bytes:
            media = self.binary(memoryview(value), declared)
            return value if media is None else _mark(media)
        if room <= 0 or not (kind is dict or kind is list or kind is tuple):
            return value
        pairs = value.items() if kind is dict else enumerate(value)
        changed: dict[Any, Any] = {}
        for key, member in pairs:
            if _may_hold_media(member) and not _names_secret(key, member):
                media_type = _declared_in(value) if kind is dict else None
                clean = self._replaced(member, media_type, room - 1)
                if clean is not member:
                    changed[key] = clean
        return _with_changed(value, changed) if changed else value


def _may_hold_media(member: Any) -> bool:
    kind = type(member)
    if kind is str:
        return len(member) >= LEAST
    if kind is bytes:
        return len(member) >= LEAST_BYTES
    return kind is dict or kind is list or kind is tuple


def _names_secret(key: Any, member: Any) -> bool:
    """Return whether text or bytes have the name of a credential: they are masked as a whole."""
    return type(key) is str and type(member) in (str, bytes) and names_secret(key)


def _declared_in(members: dict[Any, Any]) -> str | None:
    """Return the media type among the members of an object."""
    for name, member in members.items():
        if type(name) is str and name in _TYPES and type(member) is str:
            return member
    return None


def _mark(media: Media) -> str:
    return MEDIA_TEXT.format(_SIGNS.sub("-", media.media_type), media.size, media.digest)
