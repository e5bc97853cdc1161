"""Names with content, in every vocabulary that a dialect reads.

The names are in `_content_names`, generated from the declarations of the dialects: a program that
records loads no dialect for them. Three rules extend the declarations, in every vocabulary:

- Forms: what lies below a declared name (`a.b.0`, `a.b.0.c`, `a.b.c`) is content as well, in upper
  or lower case. Below a name of one segment, such as `message`, only an index is.
- Words: a name that ends in one of `WORDS`, or in one and an index, is content (`acme.prompt`).
  Counts, costs and error messages end in the same words and are none.
- A name with a segment `pii` is content.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentool_otel.semconv import _content_names as names
from agentool_otel.semconv.table import NAMED_BY_US, OURS

__all__ = [
    "EVENT_KEEPS",
    "NUMBERS",
    "PERSONAL",
    "WORDS",
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

WORDS = (
    *("args", "arguments", "kwargs", "body", "headers", "query"),
    *("completion", "completions", "prompt", "prompts", "system_prompt", "user_prompt"),
    *("content", "contents", "message", "messages", "msg", "text", "texts", "transcript"),
    *("input", "inputs", "output", "outputs", "instruction", "instructions", "explanation"),
    *("reasoning_content", "request.stop", "stop_sequences", "stopsequences"),
)
"""Last segments, in lower case, of names that hold content in every vocabulary."""

NUMBERS = (
    *("cost", "costs", "cost_details", "usage", "usage_details", "counts"),
    *("token", "tokens", "token_count", "token_counts", "token_usage"),
)
"""Segments, in lower case, of names of numbers: a word behind one says what is counted."""

_ERRORS = ("error.message", "exception.message")
"""The ends of names of error messages, which are no content."""

_SEPARATORS = str.maketrans(dict.fromkeys("/:-[](){}<> ,;|#@", "."))
_PATHS = str.maketrans("/:", "..")
_PART = re.compile(r"[.\[](?=([0-9])?)")
"""Where a part of a name begins, with the digit of an index."""
_ITEM = re.compile(r"[.\[][0-9].*\Z", re.S)
_NUMBERS = frozenset(NUMBERS)
_CACHED = 4096


class Names:
    """Names, prefixes (ending in a dot) and names with a `*` for one segment, to look names up in.

    Looked up once per attribute of each span that leaves, so answers are kept.

    Args:
        declared: the names, prefixes and patterns.
        keeps: names that are left out although a prefix, a pattern, a form or a word covers them.
        segments: in lower case; a name with one of these is in, whatever stands around it.
        words: in lower case; a name that ends in one of these is in.
        forms: whether a name in another case, and names below a declared one, are in.
    """

    def __init__(
        self,
        declared: Iterable[str],
        keeps: Iterable[str] = (),
        segments: frozenset[str] = frozenset(),
        words: tuple[str, ...] = (),
        forms: bool = False,
    ):
        self._forms = forms
        names = frozenset(map(self._folded, declared))
        self._segments = segments
        self._ends = tuple(f".{word}" for word in words)
        self._patterns: dict[str, list[list[str]]] = {}
        """Names with a `*` by their last segment, which is empty for a prefix."""
        for name in names:
            if "*" in name:
                self._patterns.setdefault(name.rpartition(".")[2], []).append(name.split("."))
        self._whole = frozenset(name for name in names if name[-1] != "." and "*" not in name)
        self._prefixes = tuple(name for name in names if name[-1] == "." and "*" not in name)
        self._keeps = Names(map(self._folded, keeps)) if keeps else ()
        self._known: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        cached = self._known.get(name)
        return self._look_up(name) if cached is None else cached

    def _folded(self, name: str) -> str:
        return name.lower() if self._forms else name

    def _look_up(self, name: str) -> bool:
        folded = self._folded(name)
        bare = folded.removeprefix(OURS) if folded.startswith(NAMED_BY_US) else folded
        matches = (
            self._is_declared(bare)
            or (self._forms and self._is_below(bare))
            or (bool(self._ends) and self._ends_in_a_word(bare))
        )
        matches = (matches and bare not in self._keeps) or self._has_segment(name)
        if len(self._known) >= _CACHED:  # names with an id in them
            self._known.clear()
        self._known[name] = matches
        return matches

    def _is_declared(self, name: str) -> bool:
        return name in self._whole or name.startswith(self._prefixes) or self._is_like(name)

    def _is_below(self, name: str) -> bool:
        """Return whether a name is a part of a declared one: an item of it or a member."""
        for part in _PART.finditer(name):
            above = name[: part.start()]
            if "." not in above and not part[1]:
                continue
            if above in self._whole:
                return True
            if above.rpartition(".")[2] in self._patterns and self._is_like(above):
                return True
        return False

    def _ends_in_a_word(self, name: str) -> bool:
        """Return whether a name, or the list that it is an item of, ends in one of the words."""
        path = "." + name.translate(_PATHS)
        item = _ITEM.search(path)
        path = path[: item.start()] if item else path
        if not path.endswith(self._ends) or path.endswith(_ERRORS):
            return False
        return _NUMBERS.isdisjoint(path.split(".")[:-1])

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


_attributes = Names(names.ATTRIBUTES, names.KEEPS, PERSONAL, WORDS, forms=True)
_events = Names(names.EVENTS)
_objects = Names(names.OBJECTS)

holds_content = _attributes.__contains__
"""Whether the attribute, or the member of a body, of this name has content."""

is_content_event = _events.__contains__
"""Whether events and log records of this name have content in all attributes but `EVENT_KEEPS`."""

holds_object = _objects.__contains__
"""Whether the attribute of this name has an object with content among its members."""
