"""Names with content, in every vocabulary that a dialect reads.

The names are in `_content_names`, generated from the declarations of the dialects: a program that
records loads no dialect for them. A name with a segment `pii` is content, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentool_otel.semconv import _content_names as names
from agentool_otel.semconv.table import NAMED_BY_US, OURS

__all__ = [
    "EVENT_KEEPS",
    "PERSONAL",
    "Names",
    "holds_content",
    "holds_object",
    "is_content_event",
]

EVENT_KEEPS = frozenset(
    {"gen_ai.system", "gen_ai.provider.name", "event.name", "role", "id", "index"}
)
"""Attributes of a content event that stay without content: its place in the conversation."""

PERSONAL = frozenset({"pii"})
"""Segments, in lower case, that mark a name as one of personal data in every vocabulary, whatever
separates them.

Source: livekit-agents 1.8.9 `livekit/agents/telemetry/trace_types.py`, "the segment is the only
marker it honors".
"""

_SEPARATORS = str.maketrans(dict.fromkeys("/:-[](){}<> ,;|#@", "."))
_CACHED = 4096


class Names:
    """Names, prefixes (ending in a dot) and names with a `*` for one segment, to look names up in.

    Looked up once per attribute of each span that leaves, so answers are kept.

    Args:
        declared: the names, prefixes and patterns.
        keeps: names that are left out although a prefix or pattern covers them.
        segments: in lower case; a name with one of these is in, whatever stands around it.
    """

    def __init__(
        self,
        declared: Iterable[str],
        keeps: Iterable[str] = (),
        segments: frozenset[str] = frozenset(),
    ):
        names = frozenset(declared)
        self._segments = segments
        self._patterns: dict[str, list[list[str]]] = {}
        """Names with a `*` by their last segment, which is empty for a prefix."""
        for name in names:
            if "*" in name:
                self._patterns.setdefault(name.rpartition(".")[2], []).append(name.split("."))
        self._whole = frozenset(name for name in names if name[-1] != "." and "*" not in name)
        self._prefixes = tuple(name for name in names if name[-1] == "." and "*" not in name)
        self._keeps = Names(keeps) if keeps else ()
        self._known: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        cached = self._known.get(name)
        return self._look_up(name) if cached is None else cached

    def _look_up(self, name: str) -> bool:
        bare = name.removeprefix(OURS) if name.startswith(NAMED_BY_US) else name
        matches = bare in self._whole or bare.startswith(self._prefixes) or self._is_like(bare)
        matches = (matches and bare not in self._keeps) or self._has_segment(name)
        if len(self._known) >= _CACHED:  # names with an id in them
            self._known.clear()
        self._known[name] = matches
        return matches

    def _has_segment(self, name: str) -> bool:
        return bool(self._segments) and not self._segments.isdisjoint(
            name.lower().translate(_SEPARATORS).split(".")
        )

    def _is_like(self, name: str) -> bool:
        """Return whether a name is like one with a `*`."""
        segments = name.split(".")
        patterns, prefixes = self._patterns.get(segments[-1], ()), self._patterns.get("", ())
        return any(
            len(segments) == len(pattern) and _fits(pattern, segments) for pattern in patterns
        ) or any(
            len(segments) >= len(pattern) and _fits(pattern[:-1], segments) for pattern in prefixes
        )


def _fits(pattern: list[str], segments: list[str]) -> bool:
    return all(item in ("*", segment) for item, segment in zip(pattern, segments, strict=False))


_attributes = Names(names.ATTRIBUTES, names.KEEPS, PERSONAL)
_events = Names(names.EVENTS)
_objects = Names(names.OBJECTS)

holds_content = _attributes.__contains__
"""Whether the attribute, or the member of a body, of this name has content."""

is_content_event = _events.__contains__
"""Whether events and log records of this name have content in all attributes but `EVENT_KEEPS`."""

holds_object = _objects.__contains__
"""Whether the attribute of this name has an object with content among its members."""
