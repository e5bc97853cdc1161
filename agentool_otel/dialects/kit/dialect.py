"""What a dialect is, and which one a span speaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple, Protocol, cast

from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.errors import ConfigurationError
from agentool_otel.ground import registry
from agentool_otel.model.operations import Operation, Unclassified
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.semconv import agentool

__all__ = [
    "AROUND",
    "CENSUS",
    "EXTENDS",
    "NOT_MINE",
    "ORIGINAL",
    "OWN_ROLE",
    "SCOPE",
    "SHARED_ROLE",
    "SPAN_NAME",
    "Confidence",
    "Dialect",
    "GatheringDialect",
    "Judgement",
    "Shape",
    "ShapeReader",
    "Signs",
    "Ties",
    "WritingDialect",
    "Written",
    "classify",
    "dialects",
    "gathering_dialects",
    "judge",
    "writing_dialect",
]

AROUND = 1.0
"""A store has put its names around another vocabulary, which is read from there as well."""
ORIGINAL = 0.99
"""Another vocabulary was written from this one's names, which are still there and say more."""
OWN_ROLE = 0.98
"""An attribute of this vocabulary alone says what the span is, such as `openinference.span.kind`"""
EXTENDS = 0.95
"""The span speaks the GenAI conventions, with names or a scope of an SDK that adds to them."""
SHARED_ROLE = 0.9
"""An attribute that many vocabularies use says what the span is: `gen_ai.operation.name`."""
SCOPE = 0.7
"""The instrumentation scope is known."""
CENSUS = 0.5
"""Some attributes or events bear names of this vocabulary."""
SPAN_NAME = 0.3
"""Nothing but the span's name speaks for it."""


class Confidence(NamedTuple):
    """How sure a dialect is: 0 (not mine) to 1 (certain), and the reason, for people."""

    level: float
    reason: str = ""


NOT_MINE = Confidence(0.0)


Shape = tuple[str, ...]
"""A span's scope and the names of its attributes, in their order: the same for nearly all spans of
one kind that one SDK writes."""


class Signs(NamedTuple):
    """What a span must show for a dialect to be asked about it at all.

    There are many dialects and millions of spans: asking each about each would cost more than
    reading the span.
    """

    keys: tuple[str, ...] = ()
    """Names of attributes or events; one that ends in a dot stands for all that begin so."""
    scopes: tuple[str, ...] = ()
    """How the scope's name begins."""
    names: tuple[str, ...] = ()
    """How the span's name begins; looked at only where nothing else speaks."""


class Written(NamedTuple):
    """An operation in a dialect's words."""

    name: str
    kind: str
    attributes: Attributes


class Dialect(Protocol):
    """One vocabulary. See the package docstring for the laws."""

    name: str

    @property
    def signs(self) -> Signs:
        """Where one shows, `recognise` is called. Without this property it always is."""
        ...

    def recognise(self, span: SpanRecord) -> Confidence:
        """Return how sure this dialect is, with one of the levels of this module."""
        ...

    def read(self, span: Reader) -> Operation: ...


class ShapedDialect(Dialect, Protocol):
    """One that can read the spans of one shape faster than attribute by attribute."""

    def reader_for(self, shape: Shape) -> ShapeReader | None:
        """Return how spans of this shape are read; None if they have to be looked at one by one."""
        ...


ShapeReader = Callable[[SpanRecord], Operation | None]
"""Gives what `read` gives; None for a span that only `read` can read."""


class WritingDialect(Dialect, Protocol):
    """A vocabulary that can be written too."""

    cannot_carry: tuple[str, ...]
    """What is lost or comes back in another form, a sentence each."""

    def write(self, operation: Operation) -> Written: ...


class Ties(NamedTuple):
    """What ties the spans of one OTel trace to those of others that tell the same run."""

    offered: Sequence[str] = ()
    """Under which another trace can refer to this one."""
    needed: Sequence[str] = ()
    """Of the traces that this one refers to."""
    run_ids: Sequence[str] = ()
    """Of what it is part of, which can be run again: parts of one run overlap in time."""


class GatheringDialect(Dialect, Protocol):
    """One whose SDK tells a run by spans that do not lie below each other, often in traces of their
    own. What belongs together is said by ties; only then does it see several spans at once."""

    def ties(self, spans: Sequence[SpanRecord]) -> Ties | None:
        """Return what ties an OTel trace to others; None where it stands for itself."""
        ...

    def gathered(self, spans: list[SpanRecord]) -> list[SpanRecord]:
        """Return the spans of a run, whichever traces they are of, each below the one it is part
        of, and with what others tell of it. They come sorted by start."""
        ...


class Judgement(NamedTuple):
    """Which dialect a span speaks, and how that was decided."""

    dialect: Dialect | None
    confidence: Confidence = NOT_MINE
    tie: Problem | None = None
    """Set where another dialect had as much to say for itself; the choice is then by name."""


@cache
def dialects() -> tuple[Dialect, ...]:
    """Return every installed dialect, ours and third parties', by name."""
    points = registry.found("agentool_otel.dialects")
    return tuple(cast("type[Dialect]", points[name].load())() for name in sorted(points))


def writing_dialect(name: str) -> WritingDialect:
    """Return an installed dialect that can be written.

    Raises:
        ConfigurationError: if there is none of that name.
    """
    writing = {it.name: cast("WritingDialect", it) for it in dialects() if hasattr(it, "write")}
    if name not in writing:
        raise ConfigurationError(
            f"dialect {name!r} cannot be written; those that can are {', '.join(writing)}"
        )
    return writing[name]


def gathering_dialects() -> Mapping[str, GatheringDialect]:
    """Return the installed dialects whose runs have to be gathered, by name."""
    return _gathering(dialects())


@cache
def _gathering(installed: tuple[Dialect, ...]) -> Mapping[str, GatheringDialect]:
    return {it.name: cast("GatheringDialect", it) for it in installed if hasattr(it, "gathered")}


def classify(span: SpanRecord) -> tuple[str | None, Operation]:
    """Return the dialect a span speaks and what it says in it.

    A span that no dialect recognises is `Unclassified`, with dialect None.
    """
    shape = (span.scope, *span.attributes)
    known = _readers.get(shape)
    if known is not None and (operation := known[1](span)) is not None:
        return known[0], operation
    candidates = _by_shape.get(shape) or _candidates(span)
    if len(candidates) == 1:
        (best,) = candidates
        if best.recognise(span).level > 0:
            return best.name, best.read(Reader(span))
    elif candidates and (surest := _best(span, candidates).dialect) is not None:
        return surest.name, surest.read(Reader(span))
    return None, Unclassified(extra=dict(span.attributes))


def judge(span: SpanRecord) -> Judgement:
    """Return which dialect a span speaks and why, as `classify` decides it."""
    return _best(span, _candidates(span))


def _best(span: SpanRecord, candidates: tuple[Dialect, ...]) -> Judgement:
    """The surest one; of equally sure ones, the one whose names the span uses most."""
    claims = [(dialect.recognise(span), dialect) for dialect in candidates]
    level = max((confidence.level for confidence, _ in claims), default=0)
    if level <= 0:
        return Judgement(None)
    surest = [claim for claim in claims if claim[0].level == level]
    if len(surest) == 1:
        return Judgement(surest[0][1], surest[0][0])
    said = [_names_used(span, dialect) for _, dialect in surest]
    first, *rivals = [claim for n, claim in zip(said, surest, strict=True) if n == max(said)]
    confidence, dialect = first
    if not rivals:
        return Judgement(dialect, confidence)
    names = ", ".join(repr(rival.name) for _, rival in rivals)
    problem = Problem(
        f"span {span.span_id} ({span.name!r})",
        f"dialects {dialect.name!r} and {names} both claim the span ({confidence.reason}; "
        f"{rivals[0][0].reason}); read as {dialect.name!r}",
    )
    return Judgement(dialect, confidence, problem)


def _names_used(span: SpanRecord, dialect: Dialect) -> int:
    signs = _signs(dialect)
    return sum(_shows(key, signs.keys) for key in span.attributes) if signs else 0


# ------------------------------------------------------------------------- whom to ask, and fast

_SHAPES = 4096
"""How many different sets of attribute names are remembered."""
_LARGE = 64
"""Spans with more attributes than this are of indexed names, and no two alike."""

_by_shape: dict[Shape, tuple[Dialect, ...]] = {}
_readers: dict[Shape, tuple[str, ShapeReader]] = {}
"""Of shapes that only one dialect has to do with, and that it reads at once; and its name."""


def _candidates(span: SpanRecord) -> tuple[Dialect, ...]:
    """Return the dialects that may have something to say, by name."""
    said = span.attributes.get(agentool.DIALECT)
    if said is not None and (named := tuple(it for it in dialects() if it.name == said)):
        return named  # whatever its shape
    shape = (span.scope, *span.attributes)
    found = _by_shape.get(shape)
    if found is None:
        found = tuple(it for it in dialects() if _may_speak(it, shape))
        if len(shape) <= _LARGE:
            if len(_by_shape) >= _SHAPES:
                _by_shape.clear()
                _readers.clear()
            _by_shape[shape] = found
            if len(found) == 1 and (reader_for := getattr(found[0], "reader_for", None)):
                reader = reader_for(shape)
                if reader is not None:
                    _readers[shape] = found[0].name, reader
    if found:
        return found
    return tuple(it for it in dialects() if _may_speak_otherwise(it, span))


def _may_speak(dialect: Dialect, shape: Shape) -> bool:
    signs = _signs(dialect)
    if signs is None or shape[0].startswith(signs.scopes):
        return True
    return any(_shows(key, signs.keys) for key in shape[1:])


def _may_speak_otherwise(dialect: Dialect, span: SpanRecord) -> bool:
    signs = _signs(dialect)
    if signs is None or span.name.startswith(signs.names):
        return True
    return any(_shows(event.name, signs.keys) for event in span.events)


def _signs(dialect: Dialect) -> Signs | None:
    return getattr(dialect, "signs", None)


def _shows(key: str, signs: tuple[str, ...]) -> bool:
    return any(key.startswith(sign) if sign[-1] == "." else key == sign for sign in signs)
