"""The dialect protocol, and the choice of a dialect for each span."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple, Protocol, cast

from agentool_otel.dialects.kit.agent_tools import AgentTools
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.errors import ConfigurationError
from agentool_otel.ground.plugins import plugins
from agentool_otel.model.operations import Operation, Unclassified
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.semconv import agentool

__all__ = [
    "AROUND",
    "CENSUS",
    "EXTENDS",
    "GUESSED",
    "LAST",
    "NOT_MINE",
    "ORIGINAL",
    "OWN_ROLE",
    "SCOPE",
    "SHARED_ROLE",
    "SPAN_NAME",
    "Confidence",
    "Content",
    "Dialect",
    "LinkingDialect",
    "Markers",
    "Match",
    "Shape",
    "ShapeReader",
    "TraceLinks",
    "WritingDialect",
    "WrittenSpan",
    "agent_tools",
    "classify",
    "dialects",
    "linking_dialects",
    "match_dialect",
    "namespaces",
    "prompt_ids",
    "writing_dialect",
]

AROUND = 1.0
"""A store has wrapped its own names around another vocabulary, which is read from there as well."""
ORIGINAL = 0.99
"""Another vocabulary was derived from this one's names, which are still there and have
more data.
"""
OWN_ROLE = 0.98
"""An attribute that only this vocabulary has names the role: `openinference.span.kind`."""
EXTENDS = 0.95
"""The span follows the GenAI conventions, with names or a scope of an SDK that adds to them."""
SHARED_ROLE = 0.9
"""An attribute that many vocabularies share names the role: `gen_ai.operation.name`."""
SCOPE = 0.7
"""The instrumentation scope is known."""
CENSUS = 0.5
"""Some attributes or events have names of this vocabulary."""
SPAN_NAME = 0.3
"""Only the span's name points to it."""
LAST = 0.1
"""No other dialect recognises the span, and names of attributes suggest what it is."""
GUESSED = "guessed"
"""Name of the dialect that reads spans by such names."""


class Confidence(NamedTuple):
    """Certainty of a dialect, from 0 (not mine) to 1 (certain), and the reason, for display."""

    level: float
    reason: str = ""


NOT_MINE = Confidence(0.0)


Shape = tuple[str, ...]
"""A span's scope and the names of its attributes, in their order: nearly all spans of one kind from
one SDK have the same."""


class Markers(NamedTuple):
    """Traits of a span, one of which suffices for a dialect to be offered the span.

    There are many dialects and millions of spans: offering every span to every dialect would cost
    more than reading the span.
    """

    keys: tuple[str, ...] = ()
    """Names of attributes or events; one that ends in a dot is a prefix."""
    scopes: tuple[str, ...] = ()
    """Prefixes of the scope's name."""
    names: tuple[str, ...] = ()
    """Prefixes of the span's name; looked at only where no key or scope matches any dialect."""
    namespaces: tuple[str, ...] = ()
    """Prefixes of attribute names that nobody else uses, besides the name of the dialect: by them
    alone, without ids, an object is known for the attributes of a span."""
    last: bool = False
    """Whether the dialect is offered only the spans that no other dialect recognises."""


class Content(NamedTuple):
    """Names in a vocabulary whose values are texts of people, models and tools.

    Where content is off, nothing under these names leaves, whichever vocabulary a span is in: the
    list used then is made of these declarations (`semconv/_content_names.py`). A name that ends in
    a dot is a prefix, a segment `*` stands for any one segment. What `semconv.table` marks as
    content is not repeated here.
    """

    attributes: tuple[str, ...] = ()
    """Names of attributes of spans, events and log records, and of members of a body."""
    events: tuple[str, ...] = ()
    """Names of events and log records whose attributes all hold content, but for those that place
    the event in the conversation."""
    objects: tuple[str, ...] = ()
    """Names of attributes that hold an object of settings: members with names of content are
    removed, the others stay."""
    keeps: tuple[str, ...] = ()
    """Names that a prefix or pattern covers although they hold no content: counts, costs."""


class WrittenSpan(NamedTuple):
    """The attributes, name and kind of an operation in one dialect."""

    name: str
    kind: str
    attributes: Attributes


class Dialect(Protocol):
    """One vocabulary. See the package docstring for the laws."""

    name: str

    @property
    def markers(self) -> Markers:
        """A span with one of these is passed to `recognise`; without this property all are."""
        ...

    @property
    def content(self) -> Content:
        """The names that hold content; without this property, those of the conventions alone."""
        ...

    @property
    def agent_tools(self) -> AgentTools:
        """The tools of handoffs, delegations and coding; without this property there are none."""
        ...

    @property
    def prompt_ids(self) -> tuple[str, ...]:
        """Attributes of log records with the id of the user's prompt that they belong to; without
        this property there are none."""
        ...

    def recognise(self, span: SpanRecord) -> Confidence:
        """Return how sure this dialect is, with one of the levels of this module."""
        ...

    def read(self, span: Reader) -> Operation: ...


class ShapedDialect(Dialect, Protocol):
    """A dialect that can read spans of one shape faster than attribute by attribute."""

    def reader_for(self, shape: Shape) -> ShapeReader | None:
        """Return a reader for spans of this shape; None if they have to be read one by one."""
        ...


ShapeReader = Callable[[SpanRecord], Operation | None]
"""Returns what `read` would; None for a span that only `read` can read."""


class WritingDialect(Dialect, Protocol):
    """A vocabulary that can also be written."""

    cannot_carry: tuple[str, ...]
    """Data that is lost or changed in writing, one sentence each."""

    def write(self, operation: Operation) -> WrittenSpan: ...


class TraceLinks(NamedTuple):
    """Links between OTel traces of the same run. They are not OTel's span links, though some
    dialects derive them from those.
    """

    offered: Sequence[str] = ()
    """Ids by which another trace can refer to this one."""
    needed: Sequence[str] = ()
    """Ids of the traces that this one refers to."""
    run_ids: Sequence[str] = ()
    """Ids of what the trace is part of. The same id can be run again, so only traces that overlap
    in time are parts of one run."""


class LinkingDialect(Dialect, Protocol):
    """A dialect whose SDK records a run as spans that are not nested, often in several traces.

    Only `trace_links` and `arrange` see more than one span at a time.
    """

    makes_spans: bool
    """Whether `arrange` may return other spans than it is given; without this, it may not."""

    def trace_links(self, spans: Sequence[SpanRecord]) -> TraceLinks | None:
        """Return the links of an OTel trace to others; None for a trace that stands alone."""
        ...

    def arrange(self, spans: list[SpanRecord]) -> list[SpanRecord]:
        """Return the spans of a run, from one trace or several, each below its parent and completed
        with data of the other spans. `spans` is sorted by start. The result must have the same
        spans: otherwise, or if this raises, the run is left out.
        """
        ...


class Match(NamedTuple):
    """The dialect a span is written in, and how that was decided."""

    dialect: Dialect | None
    confidence: Confidence = NOT_MINE
    tie: Problem | None = None
    """Set if another dialect claimed the span as strongly; the first by name was then chosen."""


@cache
def dialects() -> tuple[Dialect, ...]:
    """Return every installed dialect, ours and third parties', sorted by name."""
    points = plugins("agentool_otel.dialects")
    return tuple(cast("type[Dialect]", points[name].load())() for name in sorted(points))


@cache
def namespaces() -> tuple[str, ...]:
    """Return the prefixes of attribute names that belong to one of the installed dialects."""
    names: set[str] = set()
    for dialect in dialects():
        markers: Markers = getattr(dialect, "markers", Markers())
        names |= {f"{dialect.name}.", f"{dialect.name}:", *markers.namespaces}
    return tuple(sorted(names))


@cache
def agent_tools() -> AgentTools:
    """Return the tools of all installed dialects."""
    declared: list[AgentTools] = [
        getattr(dialect, "agent_tools", AgentTools()) for dialect in dialects()
    ]
    return AgentTools._make(
        tuple(dict.fromkeys(chain(*entries))) for entries in zip(*declared, strict=True)
    )


@cache
def prompt_ids() -> tuple[str, ...]:
    """Return the attributes with ids of prompts of all installed dialects."""
    return tuple(
        dict.fromkeys(chain(*(getattr(dialect, "prompt_ids", ()) for dialect in dialects())))
    )


def writing_dialect(name: str) -> WritingDialect:
    """Return an installed dialect that can be written.

    Raises:
        ConfigurationError: if there is none of that name.
    """
    writing = {
        dialect.name: cast("WritingDialect", dialect)
        for dialect in dialects()
        if hasattr(dialect, "write")
    }
    if name not in writing:
        raise ConfigurationError(
            f"dialect {name!r} cannot be written; those that can are {', '.join(writing)}"
        )
    return writing[name]


def linking_dialects() -> Mapping[str, LinkingDialect]:
    """Return the installed dialects whose runs have to be arranged, by name."""
    return _linking(dialects())


@cache
def _linking(installed: tuple[Dialect, ...]) -> Mapping[str, LinkingDialect]:
    return {
        dialect.name: cast("LinkingDialect", dialect)
        for dialect in installed
        if hasattr(dialect, "arrange")
    }


def classify(span: SpanRecord) -> tuple[str | None, Operation]:
    """Return the name of the dialect a span is written in, and the operation it records.

    A span that no dialect recognises is `Unclassified`, with None for the name.
    """
    shape = (span.scope, *span.attributes)
    reader = _readers.get(shape)
    if reader is not None and (operation := reader[1](span)) is not None:
        return reader[0], operation
    candidates = _by_shape.get(shape)
    if not candidates:
        candidates = _candidates(span)
    elif reader is None:
        _add_reader(shape, candidates)
    if len(candidates) == 1:
        (best,) = candidates
        if best.recognise(span).level > 0:
            return best.name, best.read(Reader(span))
    elif candidates and (surest := _best(span, candidates).dialect) is not None:
        return surest.name, surest.read(Reader(span))
    if (fallback := _best(span, _marking().last).dialect) is not None:
        return fallback.name, fallback.read(Reader(span))
    return None, Unclassified(extra=dict(span.attributes))


def match_dialect(span: SpanRecord) -> Match:
    """Return the dialect a span is written in and why, as `classify` decides it."""
    match = _best(span, _candidates(span))
    return match if match.dialect is not None else _best(span, _marking().last)


def _best(span: SpanRecord, candidates: tuple[Dialect, ...]) -> Match:
    """Return the surest candidate; of equals, the one of whose markers the span has most."""
    claims = [(dialect.recognise(span), dialect) for dialect in candidates]
    level = max((confidence.level for confidence, _ in claims), default=0)
    if level <= 0:
        return Match(None)
    surest = [claim for claim in claims if claim[0].level == level]
    if len(surest) == 1:
        return Match(surest[0][1], surest[0][0])
    counts = [_count_markers(span, dialect) for _, dialect in surest]
    first, *rivals = [
        item for count, item in zip(counts, surest, strict=True) if count == max(counts)
    ]
    confidence, dialect = first
    if not rivals:
        return Match(dialect, confidence)
    claimed = " and ".join(f"{each.name!r} ({why.reason})" for why, each in (first, *rivals))
    problem = Problem(
        f"span {span.span_id} ({span.name!r})",
        f"dialects {claimed} claim the span; read as {dialect.name!r}",
    )
    return Match(dialect, confidence, problem)


def _count_markers(span: SpanRecord, dialect: Dialect) -> int:
    markers = _markers(dialect)
    return sum(_is_marker(key, markers.keys) for key in span.attributes) if markers else 0


# ------------------------------------------------------------------ candidates, by a span's shape

_SHAPES = 4096
"""Limit of the shapes that are remembered."""
_LARGE = 64
"""Spans with more attributes than this use indexed names, and no two have the same shape."""

_by_shape: dict[Shape, tuple[Dialect, ...]] = {}
_readers: dict[Shape, tuple[str, ShapeReader]] = {}
"""Fast readers, with their dialect's name, of shapes that have only one candidate; made at their
second span, because a file may have another shape in every span."""


def _candidates(span: SpanRecord) -> tuple[Dialect, ...]:
    """Return the dialects that may recognise a span, by name."""
    name = span.attributes.get(agentool.DIALECT)
    if name is not None and (
        named := tuple(dialect for dialect in dialects() if dialect.name == name)
    ):
        return named  # whatever its shape
    shape = (span.scope, *span.attributes)
    candidates = _by_shape.get(shape)
    if candidates is None:
        candidates = _marking().by_shape(shape)
        _remember(shape, candidates)
    return candidates or _marking().by_name_or_event(span)


def _remember(shape: Shape, candidates: tuple[Dialect, ...]) -> None:
    if len(shape) > _LARGE:
        return
    if len(_by_shape) >= _SHAPES:
        _by_shape.clear()
        _readers.clear()
    _by_shape[shape] = candidates


def _add_reader(shape: Shape, candidates: tuple[Dialect, ...]) -> None:
    reader_for = getattr(candidates[0], "reader_for", None) if len(candidates) == 1 else None
    reader = reader_for(shape) if reader_for is not None else None
    _readers[shape] = candidates[0].name, reader or _no_reader


def _no_reader(span: SpanRecord) -> None:
    """Read no span fast."""


class _Marking:
    """Index of dialects by the attribute, event, scope and span names in their markers.

    A name is looked up, rather than compared with every marker of every dialect: a file may have
    other names in every span.
    """

    def __init__(self, installed: Sequence[Dialect]):
        self._always: set[int] = set()
        self._exact: dict[str, set[int]] = defaultdict(set)
        self._prefixes: dict[str, set[int]] = defaultdict(set)
        self._scopes: list[tuple[tuple[str, ...], int]] = []
        self._names: list[tuple[tuple[str, ...], int]] = []
        self._installed = tuple(installed)
        self.last = tuple(
            dialect for dialect in installed if (markers := _markers(dialect)) and markers.last
        )
        """Those for spans that no other dialect recognises."""
        for number, dialect in enumerate(installed):
            markers = _markers(dialect)
            if markers is None:
                self._always.add(number)
                continue
            for key in markers.keys:
                (self._prefixes if key[-1] == "." else self._exact)[key].add(number)
            if markers.scopes:
                self._scopes.append((markers.scopes, number))
            if markers.names:
                self._names.append((markers.names, number))
        self._longest = max(map(len, self._prefixes), default=0)
        self._of_scope = lru_cache(maxsize=1024)(self._by_scope)
        self._of_key = lru_cache(maxsize=4096)(self._by_key)

    def by_shape(self, shape: Shape) -> tuple[Dialect, ...]:
        """Return the dialects that have a marker among the names of a shape, in their order."""
        return self._chosen(self._of_scope(shape[0]) | self._by_keys(shape[1:]))

    def by_name_or_event(self, span: SpanRecord) -> tuple[Dialect, ...]:
        """Return those that have one in the name of a span, or among its events."""
        names = {number for prefixes, number in self._names if span.name.startswith(prefixes)}
        events = self._by_keys([event.name for event in span.events])
        return self._chosen(names | events | self._always)

    def _chosen(self, numbers: Set[int]) -> tuple[Dialect, ...]:
        return tuple(self._installed[number] for number in sorted(numbers))

    def _by_scope(self, scope: str) -> frozenset[int]:
        marked = {number for prefixes, number in self._scopes if scope.startswith(prefixes)}
        return frozenset(marked | self._always)

    def _by_keys(self, keys: Iterable[str]) -> set[int]:
        return set().union(*map(self._of_key, keys))

    def _by_key(self, key: str) -> frozenset[int]:
        numbers = set(self._exact.get(key, _NONE))
        dot = key.find(".", 0, self._longest)
        while dot >= 0:
            numbers |= self._prefixes.get(key[: dot + 1], _NONE)
            dot = key.find(".", dot + 1, self._longest)
        return frozenset(numbers)


_NONE: frozenset[int] = frozenset()


def _marking() -> _Marking:
    return _marking_of(dialects())


@cache
def _marking_of(installed: tuple[Dialect, ...]) -> _Marking:
    return _Marking(installed)


def _markers(dialect: Dialect) -> Markers | None:
    return getattr(dialect, "markers", None)


def _is_marker(key: str, markers: tuple[str, ...]) -> bool:
    return any(key.startswith(marker) if marker[-1] == "." else key == marker for marker in markers)
