"""What a dialect is, and which one a span speaks."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, Protocol, cast

from agentool_otel import _registry
from agentool_otel.dialects._reading import Reader
from agentool_otel.errors import DialectConflict
from agentool_otel.model.operations import Operation, Unclassified
from agentool_otel.model.spans import Attributes, SpanRecord

__all__ = ["Confidence", "Dialect", "Written", "classify", "dialects"]


class Confidence(NamedTuple):
    """How sure a dialect is: 0 (not mine) to 1 (certain), and the reason, for people."""

    level: float
    reason: str = ""


NOT_MINE = Confidence(0.0)


class Written(NamedTuple):
    """An operation in a dialect's words."""

    name: str
    kind: str
    attributes: Attributes


class Dialect(Protocol):
    """One vocabulary. See the package docstring for the laws."""

    name: str

    def recognise(self, span: SpanRecord) -> Confidence: ...

    def read(self, span: Reader) -> Operation: ...


@cache
def dialects() -> tuple[Dialect, ...]:
    """Return every installed dialect, ours and third parties', by name."""
    points = _registry.found("agentool_otel.dialects")
    return tuple(cast("type[Dialect]", points[name].load())() for name in sorted(points))


def classify(span: SpanRecord) -> tuple[str | None, Operation]:
    """Return the dialect a span speaks and what it says in it.

    A span that no dialect recognises is `Unclassified`, with dialect None.

    Raises:
        DialectConflict: if two dialects are equally sure.
    """
    best: Dialect | None = None
    rival: Dialect | None = None
    level = 0.0
    for dialect in dialects():
        confidence = dialect.recognise(span)
        if confidence.level > level:
            best, rival, level = dialect, None, confidence.level
        elif confidence.level == level and level > 0:
            rival = dialect
    if best is None:
        return None, Unclassified(extra=dict(span.attributes))
    if rival is not None:
        raise DialectConflict(
            f"dialects {best.name!r} and {rival.name!r} both claim span {span.span_id} "
            f"({span.name!r}) with confidence {level}"
        )
    return best.name, best.read(Reader(span))
