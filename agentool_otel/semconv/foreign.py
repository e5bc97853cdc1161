"""Which names hold content, in every vocabulary that a dialect reads.

The names are in `_content_names`, generated from the declarations of the dialects: a program that
records loads no dialect for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentool_otel.semconv import _content_names as names
from agentool_otel.semconv.table import NAMED_BY_US, OURS

__all__ = ["EVENT_KEEPS", "Names", "holds_content", "holds_object", "is_content_event"]

EVENT_KEEPS = frozenset(
    {"gen_ai.system", "gen_ai.provider.name", "event.name", "role", "id", "index"}
)
"""What stays of an event that holds content: its place in the conversation."""

_CACHED = 4096


class Names:
    """Names, prefixes (ending in a dot) and names with a `*` for one segment, to look names up in.

    Looked up once per attribute of each span that leaves, so answers are kept.
    """

    def __init__(self, declared: Iterable[str], keeps: Iterable[str] = ()):
        self._declared = _pattern(declared)
        self._keeps = _pattern(keeps)
        self._known: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        known = self._known.get(name)
        return self._look_up(name) if known is None else known

    def _look_up(self, name: str) -> bool:
        bare = name.removeprefix(OURS) if name.startswith(NAMED_BY_US) else name
        found = self._declared.match(bare) is not None and self._keeps.match(bare) is None
        if len(self._known) >= _CACHED:  # names with an id in them
            self._known.clear()
        self._known[name] = found
        return found


def _pattern(declared: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches each declared name whole, and each prefix."""
    parts = [
        re.escape(name).replace(r"\*", "[^.]+") + ("" if name.endswith(".") else r"\Z")
        for name in declared
    ]
    return re.compile("|".join(parts) if parts else r"(?!)")


_attributes = Names(names.ATTRIBUTES, names.KEEPS)
_events = Names(names.EVENTS)
_objects = Names(names.OBJECTS)

holds_content = _attributes.__contains__
"""Whether the attribute, or the member of a body, of this name holds content."""

is_content_event = _events.__contains__
"""Whether events and log records of this name hold content in all attributes but `EVENT_KEEPS`."""

holds_object = _objects.__contains__
"""Whether the attribute of this name holds an object with content among its members."""
