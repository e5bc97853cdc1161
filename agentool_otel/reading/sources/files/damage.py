"""Bytes that are not UTF-8: the value around them is lost, and its place is noted.

    bytes ── decode(…, MARKING) ──▶ text with marks in it ── any reader ──▶ record ── mend ──▶

Whoever decodes lets `MARKING` put a mark in place of what is no UTF-8. A mark is a character as any
other, so what is read of the text needs to know nothing of it. `mend` then puts U+FFFD in its place
in the record, and notes where. Half a surrogate pair, as JSON may escape one, is treated alike.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.invalid_utf8 import MARK, MARKING
from agentool_otel.model.spans import Attributes, Damage, SpanEvent, SpanLink, SpanRecord

__all__ = [
    "encoded",
    "is_damaged",
    "is_marked",
    "mend",
    "mended",
    "readable",
    "stand_in",
    "with_marks",
]

"""A character that Unicode has set aside for use inside a program, and no text has."""
_MARK_BYTES = MARK.encode()
_REPLACEMENT = "\ufffd"
_NO_BYTE_OF_UTF8 = b"\xff"
_DAMAGED = re.compile(f"[{MARK}\ud800-\udfff]+")
_ESCAPED = repr(MARK)[1:-1]


def encoded(text: str) -> bytes:
    """Return the UTF-8 of text that has been decoded with `MARKING`, to be decoded once more: its
    marks are no UTF-8 again."""
    return text.encode("utf-8", "surrogatepass").replace(_MARK_BYTES, _NO_BYTE_OF_UTF8)


def with_marks(text: str) -> str:
    """Return text with marks in place of halves of surrogate pairs, which UTF-8 cannot hold."""
    if text.isascii() or _is_encodable(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", MARKING)


def _is_encodable(text: str) -> bool:
    try:
        text.encode()  # ten times as fast as looking for surrogates
    except UnicodeEncodeError:
        return False
    return True


def is_marked(value: Any) -> bool:
    """Return whether a value is a text with a mark in it."""
    return isinstance(value, str) and MARK in value


def is_damaged(value: Any) -> bool:
    """Return whether a JSON value has a mark, at any depth.

    Raises:
        RecursionError: it is nested more deeply than the interpreter's stack allows.
    """
    if isinstance(value, dict):
        return any(is_damaged(inner) for inner in (*value, *value.values()))
    return any(map(is_damaged, value)) if isinstance(value, list) else is_marked(value)


def stand_in(marked: str) -> str:
    """Return a span id for a damaged one: that of a span which is not there."""
    return blake2b(marked.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def readable(message: str) -> str:
    """Return words about marked text as a person can read them."""
    return message.replace(MARK, _REPLACEMENT).replace(_ESCAPED, _REPLACEMENT)


def mend(span: SpanRecord) -> SpanRecord:
    """Return a span whose marks are U+FFFD and noted in `damaged`; the same object, changed."""
    if _is_sound(span):
        return span
    mending = _Mending(_DAMAGED)
    span.name = mending.text(span.name, "name")
    span.scope = mending.text(span.scope, "scope")
    if span.status_message is not None:
        span.status_message = mending.text(span.status_message, "status_message")
    span.attributes = mending.attributes(span.attributes, "attributes")
    for number, event in enumerate(span.events):
        _mend_part(event, mending, f"events[{number}]")
    for number, link in enumerate(span.links):
        _mend_part(link, mending, f"links[{number}]")
    span.resource = mending.attributes(span.resource, "resource")
    if mending.damages:
        span.damaged = (*span.damaged, *mending.damages)
    return span


def mended(value: Any) -> tuple[Any, bool]:
    """Return a JSON value whose marks and lone surrogates are U+FFFD, and whether it had marks."""
    mending = _Mending(_DAMAGED)
    whole = mending.value(value, "")
    return whole, bool(mending.damages) and is_damaged(value)


def _is_sound(span: SpanRecord) -> bool:
    """Return whether a span is undamaged, as nearly all are; optimized for speed."""
    for text in (span.name, span.scope, span.status_message or ""):
        if not (text.isascii() or _is_sound_text(text)):
            return False
    if not (_are_sound(span.attributes) and _are_sound(span.resource)):
        return False
    for event in span.events:
        if not (_is_sound_text(event.name) and _are_sound(event.attributes)):
            return False
    return all(_are_sound(link.attributes) for link in span.links)


def _are_sound(values: Attributes) -> bool:
    for key, value in values.items():
        if not key.isascii() and not _is_sound_text(key):
            return False
        kind = value.__class__
        if kind is str:
            if not value.isascii() and not _is_sound_text(value):
                return False
        elif (kind is list or kind is dict) and not _is_sound_value(value):
            return False
    return True


def _is_sound_value(value: Any) -> bool:
    if isinstance(value, str):
        return _is_sound_text(value)
    if isinstance(value, dict):
        return _are_sound(value)
    return all(map(_is_sound_value, value)) if isinstance(value, list) else True


def _is_sound_text(text: str) -> bool:
    return text.isascii() or (MARK not in text and _is_encodable(text))


def _mend_part(part: SpanEvent | SpanLink, mending: _Mending, where: str) -> None:
    if isinstance(part, SpanEvent):
        part.name = mending.text(part.name, f"{where}.name")
    part.attributes = mending.attributes(part.attributes, f"{where}.attributes")


class _Mending:
    """Mends one span: values without damage are kept as they are, and shared."""

    def __init__(self, damaged: re.Pattern[str]):
        self.damages: list[Damage] = []
        self._damaged = damaged

    def text(self, text: str, where: str) -> str:
        if text.isascii() or not self._damaged.search(text):
            return text
        mended_text = self._damaged.sub(_REPLACEMENT, text)
        self.damages.append(Damage(where, cut=mended_text.endswith(_REPLACEMENT)))
        return mended_text

    def attributes(self, attributes: Attributes, where: str) -> Attributes:
        """Return attributes without marks; of each of them the first damage is noted."""
        mended_attributes: Attributes = {}
        at_first = len(self.damages)
        for key, value in attributes.items():
            before = len(self.damages)
            name = self.text(key, f"{where}.{_plain(key)}")
            whole_value = self.value(value, f"{where}.{name}")
            while name is not key and name in attributes:
                name += _REPLACEMENT  # that name is another's
            mended_attributes[name] = whole_value
            del self.damages[before + 1 :]
        return mended_attributes if len(self.damages) > at_first else attributes

    def value(self, value: Any, where: str) -> Any:
        if isinstance(value, str):
            return self.text(value, where)
        before = len(self.damages)
        mended_value: Any = value
        if isinstance(value, list):
            mended_value = [self.value(item, where) for item in value]
        elif isinstance(value, dict):
            mended_value = {
                self.text(key, where): self.value(inner, where) for key, inner in value.items()
            }
        return mended_value if len(self.damages) > before else value


def _plain(key: str) -> str:
    return key if key.isascii() else _DAMAGED.sub(_REPLACEMENT, key)
