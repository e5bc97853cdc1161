"""Scopes, names and attributes of spans that no run is made of, and why none was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from agentool_otel.cli import _text
from agentool_otel.dialects import match_dialect
from agentool_otel.dialects.kit.dialect import GUESSED
from agentool_otel.errors import AgentoolError
from agentool_otel.model.spans import SpanRecord, is_fragment
from agentool_otel.reading.sources.source import Source, files_of

__all__ = ["NEXT", "Inventory", "inventory_of"]

_MOST = 5
"""Names of one kind that are listed."""
_LONGEST = 80
"""Characters of a name that are printed."""
_LOOKED_AT = 10_000
"""Spans that are looked at: the rest is like them."""
NEXT = (
    "docs/reference/vocabularies.md lists the names that are read; examples/own_dialect "
    "reads names of your own"
)
"""The next step for whoever has such spans."""


class Inventory:
    """Names among spans, with the number of spans that have each."""

    def __init__(self, spans: Iterable[SpanRecord] = ()):
        self._scopes: Counter[str] = Counter()
        self._names: Counter[str] = Counter()
        self._attributes: Counter[str] = Counter()
        self._dialects: Counter[str] = Counter()
        for span in spans:
            self.add(span)

    def add(self, span: SpanRecord) -> None:
        """Count the names of a span, among the first `_LOOKED_AT`."""
        if self._scopes.total() == _LOOKED_AT:
            return
        self._scopes[span.scope or "(none)"] += 1
        names = [event.name for event in span.events] if is_fragment(span) else [span.name]
        self._names.update(name or "(none)" for name in names)
        self._attributes.update(span.attributes.keys())
        if (dialect := match_dialect(span).dialect) is not None:
            self._dialects[dialect.name] += 1

    @property
    def is_unknown(self) -> bool:
        """Return whether no span is in a known vocabulary."""
        return self._dialects.keys() <= {GUESSED}

    def lines(self) -> Iterator[str]:
        """Yield lines for people: the most frequent names, and why no run was read."""
        for title, names in (
            ("scopes", self._scopes),
            ("spans", self._names),
            ("attributes", self._attributes),
        ):
            yield f"{title}: {_listed(names)}"
        if self.is_unknown:
            guessed = self._dialects[GUESSED]
            yield (
                "why: no scope, span name or attribute is of a known vocabulary"
                + (f"; {guessed:,} spans read by the names of attributes alone" if guessed else "")
            )
        else:
            yield f"why: known as {_listed(self._dialects)}, but none is a run or a call"


def _listed(names: Counter[str]) -> str:
    most = [
        f"{_shortened(_text.line(name))} ({count:,})" for name, count in names.most_common(_MOST)
    ]
    further = len(names) - len(most)
    return ", ".join(most) + (f" and {further:,} more" if further else "") if most else "none"


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def inventory_of(source: Source) -> Inventory | None:
    """Return the names among the first spans of a source, read once more; None if that is not
    possible, as for standard input or a server."""
    files = files_of(source)
    if not files or not all(isinstance(file, Path) for file in files):
        return None
    try:
        return Inventory(islice(source.spans(), _LOOKED_AT))
    except AgentoolError:
        return None
