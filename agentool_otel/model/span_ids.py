"""The ids of a document's spans: made from its own id, so that the same trace gives the same."""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

from agentool_otel.ground import lazy_re as re

__all__ = ["Place", "SpanIds", "place_of"]

_OF_SPANS = re.compile("([0-9a-f]{32})(?::([0-9a-f]{16}))?")
_ZERO = re.compile("0+")


class SpanIds:
    """Makes them, the root's first; an id generator of the SDK."""

    def __init__(self, trace_id: str):
        self._seed = trace_id.encode("utf-8", "surrogatepass")
        self._count = 0
        hexadecimal = len(trace_id) == 32 and all(c in "0123456789abcdef" for c in trace_id)
        self._trace_id = int(trace_id, 16) if hexadecimal else 0
        if not self._trace_id:
            self._trace_id = int.from_bytes(blake2b(self._seed, digest_size=16).digest(), "big")

    def generate_trace_id(self) -> int:
        return self._trace_id

    def generate_span_id(self) -> int:
        self._count += 1
        seed = self._seed + self._count.to_bytes(8, "big")
        return int.from_bytes(blake2b(seed, digest_size=8).digest(), "big") or 1

    def is_trace_id_random(self) -> bool:
        return False


class Place(NamedTuple):
    """Location of a trace's spans."""

    trace_id: str
    """The id of the OTel trace, in hex."""
    span_id: str | None
    """The id of the span of the run; None if the document's id does not contain it."""


def place_of(trace_id: str) -> Place:
    """Return where the spans of a trace are, from the id of its document.

    What was rebuilt has the id of its OTel trace, with that of the run's span where there are
    several runs in it. What has another id has spans only where it was replayed.
    """
    span_ids = _OF_SPANS.fullmatch(trace_id)
    if span_ids is not None and not _ZERO.fullmatch(span_ids[1]):
        return Place(span_ids[1], span_ids[2])
    ids = SpanIds(trace_id)
    return Place(f"{ids.generate_trace_id():032x}", f"{ids.generate_span_id():016x}")
