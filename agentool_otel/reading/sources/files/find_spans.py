"""Find the parts of any JSON value that are spans or traces.

API responses, exports and test fixtures wrap them in objects and lists of their own. The wrapping
needs no name here, because a piece is recognised by its own members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Literal, NamedTuple

from agentool_otel.ground.json_codec import Json
from agentool_otel.model.atif import is_trajectory
from agentool_otel.model.spec_documents import document_class
from agentool_otel.reading.sources.files.envelopes import RunMembers, run_members
from agentool_otel.reading.sources.files.tables import rows_of
from agentool_otel.reading.sources.log_readers import LogReader, log_reader_of
from agentool_otel.reading.sources.stores import go_stdout, log_record
from agentool_otel.reading.sources.stores.store_format import Container, Object

__all__ = ["TELLING", "Foreign", "Piece", "container_of", "pieces", "scope_name", "short"]

_LEVELS = (
    5  # of objects around a piece; the deepest met is a row in a message in a list in an answer
)
_OTLP = frozenset({
    "resourceSpans", "resource_spans", "resourceLogs", "resource_logs", "resourceMetrics",
    "resource_metrics",
})  # fmt: skip
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans",
           "instrumentation_library_spans", "ilSpans")  # fmt: skip


Kind = Literal["otlp", "log record", "trace", "trajectory", "document"]


class Foreign(ValueError):
    """JSON, but nothing that is known here."""


class Piece(NamedTuple):
    """An object and its type."""

    value: Object
    what: Container | type[LogReader] | Kind
    """A class is the reader of the log that it is an event of."""
    run: RunMembers | None = None
    """Members of the objects around it that describe its run."""


def pieces(value: Json, levels: int = _LEVELS) -> Iterator[Piece]:
    """Yield the pieces of a JSON value in their order.

    Raises:
        RecursionError: the value is nested more deeply than the interpreter's stack allows.
        ValueError: a piece holds text that cannot be read.
    """
    if isinstance(value, dict):
        members = _piece_or_members(value, levels)
        if isinstance(members, Piece):
            yield members
            return
        levels -= 1
    elif isinstance(value, list):
        members = value
    else:
        return
    inner: Iterator[Piece] = (piece for member in members if isinstance(member, (dict, list))
             for piece in pieces(member, levels))  # fmt: skip
    if isinstance(value, list):
        yield from _items_or_inside(value, inner, levels)
        return
    inner = _within(value, inner)
    if document_class(value) is not None:
        yield from _document_or_spans(value, inner)
    else:
        yield from inner


def _within(value: Object, inner: Iterator[Piece]) -> Iterator[Piece]:
    """Yield pieces with the members of the object around them that describe their run. Pieces of
    one run share one object."""
    first = next(inner, None)
    if first is None:
        return  # as of most objects, whose members may be large
    run = run_members(value)
    if run is None:
        yield first
        yield from inner
        return
    inner_run, joined = None, run
    for piece in chain((first,), inner):
        if piece.run is not inner_run:
            inner_run, joined = piece.run, run if piece.run is None else piece.run.inside(run)
        yield piece._replace(run=joined)


def _items_or_inside(value: list[Json], inner: Iterator[Piece], levels: int) -> Iterator[Piece]:
    """Yield the pieces of a list's items; where they are none, those that a store wrapped in it."""
    first = next(inner, None)
    if first is not None:
        yield first
        yield from inner
    elif levels and value:
        from agentool_otel.reading.sources.stores import registry

        if (wrapped := registry.unwrap(value)) is not None:
            yield from pieces(wrapped, levels)


def _document_or_spans(value: Object, inner: Iterator[Piece]) -> Iterator[Piece]:
    """Yield the spans inside a value that has the members of a document; the document where there
    are none."""
    has_spans = False
    for piece in inner:
        if piece.what != "document" and (piece.what != "otlp" or _has_groups(piece.value)):
            has_spans = True
            yield piece
    if not has_spans:
        yield Piece(value, "document")


def _piece_or_members(value: Object, levels: int) -> Piece | Iterable[Json]:
    """Return the piece that an object is; where it is none, the values to look for pieces in."""
    if (otlp := _otlp(value)) is not None:
        return Piece(otlp, "otlp")
    for recognises, kind in _KINDS:
        if recognises(value):
            return Piece(value, kind)
    if (reader := log_reader_of(value)) is not None:
        return Piece(value, reader)
    if (printed := go_stdout.log_record(value)) is not None:
        return Piece(printed, "log record")
    if levels and (rows := rows_of(value)) is not None:
        return rows
    # Twenty shapes, of which a recording of ours has none.
    from agentool_otel.reading.sources.stores import any_span, attribute_map, registry, shapes

    container = shapes.recognise(value)
    if container is not None and (container is not attribute_map.CONTAINER or levels == _LEVELS):
        return Piece(value, container)
    if (message := registry.unwrap(value)) is not None:
        return (message,)
    if not levels:
        return ()
    return [
        any_span.named(member, name) if isinstance(member, dict) else member
        for name, member in value.items()
    ]


TELLING = ("schema_version", "type", "object", "span_kind", "spanKind")
"""Members whose values help to identify an object of texts; of all others, only their presence
counts.
"""


def container_of(row: dict[str, str]) -> Container | None:
    """Return the container type of an object of texts; None if it is something else. The answer is
    the same for all objects with the same members and the same values of `TELLING`.
    """
    try:
        inner_pieces = [*pieces(row)]
    except (RecursionError, ValueError):
        return None
    if (
        len(inner_pieces) == 1
        and inner_pieces[0].value is row
        and isinstance(inner_pieces[0].what, Container)
    ):
        return inner_pieces[0].what
    return None


def _otlp(value: Object) -> Object | None:
    """Return an OTLP document: as it is, as Tempo spells it, or a part of one by itself."""
    if not _OTLP.isdisjoint(value):
        return value
    batches = value.get("batches")
    if isinstance(batches, list) and any(map(_holds_scopes, batches)):
        return {"resourceSpans": batches}
    if _holds_scopes(value):
        return {"resourceSpans": [value]}
    if isinstance(value.get("spans"), list) and isinstance(value.get("scope"), dict):
        return {"resourceSpans": [{"scopeSpans": [value], "resource": value.get("resource")}]}
    return None


def _has_groups(value: Object) -> bool:
    """Return whether an OTLP document has spans, log records or metrics, and not only the names."""
    members = (value.get(name) for name in _OTLP)
    return any(isinstance(item, dict) for items in members if isinstance(items, list)
               for item in items)  # fmt: skip


def _holds_scopes(value: Json) -> bool:
    return isinstance(value, dict) and any(isinstance(value.get(name), list) for name in _SCOPES)


def _is_trace(value: Object) -> bool:
    """A ReasoningTrace: a trace id and steps with types, even if some are not as they should be."""
    steps = value.get("steps")
    return (
        "trace_id" in value
        and isinstance(steps, list)
        and (not steps or any(isinstance(step, dict) and "type" in step for step in steps))
    )


_KINDS: tuple[tuple[Callable[[Object], bool], Kind], ...] = (
    (is_trajectory, "trajectory"),
    (_is_trace, "trace"),
    (log_record.recognises, "log record"),
)
"""In order of decision, before logs of agents, tables and containers."""


def scope_name(scope: Json) -> str:
    """Return the name of an instrumentation scope, or an empty one."""
    name = scope.get("name") if scope.__class__ is dict else None
    return name if isinstance(name, str) else ""


def short(value: Json) -> str:
    """Return a short description of a value."""
    if value.__class__ is dict:
        return f"an object with {', '.join(map(repr, list(value)[:5])) or 'nothing in it'}"
    if value.__class__ is list:
        return f"a list of {short(value[0])}" if value else "an empty list"
    return f"{type(value).__name__}"
