"""Fit the attributes of a span: large values are shortened, and stored in full elsewhere.

A backend refuses, or cuts in the middle, what is over its limits; a viewer freezes on it. What is
shortened here stays valid JSON of the same shape with marks in it. `agentool.content.shortened`
says of each attribute how long it was and, if it was stored, where:
`reading.sources.offloaded` puts it back.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import msgspec

from agentool_otel.content.fitting.shortening import shorten
from agentool_otel.ground import environment
from agentool_otel.ground import variable_values as values
from agentool_otel.ground.json_codec import dumps
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.semconv.table import CONTENT

__all__ = [
    "NO_CUTS",
    "PREVIEW",
    "SIZES",
    "Cut",
    "Sizes",
    "Store",
    "fit",
]

PREVIEW = 2048
"""Bytes that an attribute keeps when the whole span is too large."""

_GOES_FIRST = (
    gen_ai.TOOL_DEFINITIONS,
    gen_ai.INPUT_MESSAGES,
    gen_ai.SYSTEM_INSTRUCTIONS,
    gen_ai.TOOL_CALL_ARGUMENTS,
)
"""Cut first when a span is too large, in this order, then other content, the largest first: a
history repeats earlier spans, an output appears once."""


class Store(Protocol):
    """Storage for full texts and for media."""

    def put(self, digest: str, data: bytes) -> str | None:
        """Store bytes under their sha256, once; return the place, None if that failed."""

    def put_chunks(
        self, digest: str, size: int, chunks: Iterable[bytes | memoryview]
    ) -> str | None:
        """Store bytes that come in chunks, which are read only if they are not stored yet."""


class Sizes(msgspec.Struct, frozen=True):
    """Largest sizes of attributes and spans, in bytes of UTF-8."""

    attribute: int = 1 << 20
    span: int = 3 << 20
    """Of all texts of a span together; below what a gRPC receiver takes in a message, 4 MiB."""

    @classmethod
    def requested(cls, environ: Mapping[str, str]) -> Sizes:
        """Return the sizes in force."""
        read, default = values.positive("bytes"), cls()
        attribute = environment.usable(
            environment.LARGEST_ATTRIBUTE, read, default.attribute, environ
        )
        span = environment.usable(environment.LARGEST_SPAN, read, default.span, environ)
        return cls(attribute=min(attribute, span), span=span)


SIZES = Sizes.requested(os.environ)


class Cut(NamedTuple):
    """One shortened text and the way it was shortened."""

    whole: str
    most: int
    """Bytes it was allowed to have."""
    short: str
    note: dict[str, Any]
    """Entry for this text in `agentool.content.shortened`."""


NO_CUTS: Mapping[str, Cut] = MappingProxyType({})


def fit(
    attributes: dict[str, Any],
    sizes: Sizes,
    store: Store | None,
    before: Mapping[str, Cut] = NO_CUTS,
) -> Mapping[str, Cut]:
    """Shorten the texts among attributes until they fit, in place.

    Args:
        attributes: of a span or an event.
        sizes: what fits.
        store: where what is shortened is kept whole.
        before: what this has returned of the same attributes, or some of them.

    Returns:
        How each text was shortened.
    """
    total = 0
    for value in attributes.values():
        if type(value) is str:
            total += len(value)
    if total * 4 <= min(sizes.attribute, sizes.span):
        return NO_CUTS
    lengths = {
        key: _bytes(attribute)
        for key, attribute in attributes.items()
        if isinstance(attribute, str)
    }
    cut = {key: sizes.attribute for key, size in lengths.items() if size > sizes.attribute}
    bytes_kept = sum(min(size, sizes.attribute) for size in lengths.values())
    for key in sorted(CONTENT & lengths.keys(), key=lambda key: _rank(key, lengths[key])):
        if bytes_kept <= sizes.span:
            break
        bytes_kept -= max(0, min(lengths[key], sizes.attribute) - PREVIEW)
        cut[key] = min(PREVIEW, sizes.attribute)
    cuts: dict[str, Cut] = {}
    for key, most in cut.items():
        if lengths[key] > most:
            text = attributes[key]
            shortened = before.get(key)
            if shortened is None or shortened.whole is not text or shortened.most != most:
                shortened = Cut(text, most, shorten(text, most), _store_note(text, store))
            attributes[key] = shortened.short
            cuts[key] = shortened
    if cuts:
        notes = {key: shortened.note for key, shortened in cuts.items()}
        attributes[agentool.CONTENT_SHORTENED] = dumps(notes)
    return cuts


def _store_note(text: str, store: Store | None) -> dict[str, Any]:
    """Return the length of a text and, if it could be stored, its place."""
    data = text.encode("utf-8", "replace")
    digest = hashlib.sha256(data).hexdigest()
    note: dict[str, Any] = {"bytes": len(data), "sha256": digest}
    place = store.put(digest, data) if store is not None else None
    if place is not None:
        note["stored"] = place
    return note


def _rank(key: str, size: int) -> tuple[int, int]:
    return (_GOES_FIRST.index(key) if key in _GOES_FIRST else len(_GOES_FIRST), -size)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
