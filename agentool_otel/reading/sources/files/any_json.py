"""Any parsed JSON value to spans: OTLP in other spellings, log records, containers, documents.

Everything is read piece by piece, so that a bad span costs only itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

from agentool_otel.errors import AgentoolError, DecodeError
from agentool_otel.ground import environment
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.atif import agents_of, embedded_in, from_atif
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.otlp.json_decoder import plain_resource, span_record
from agentool_otel.otlp.trace_response import partial_in_json
from agentool_otel.reading.sources.files.damage import is_damaged, mend, mended
from agentool_otel.reading.sources.files.damaged_fields import (
    has_damaged_names,
    with_numbers_as_text,
    without_damaged,
)
from agentool_otel.reading.sources.files.envelopes import RunMembers, is_header, run_members
from agentool_otel.reading.sources.files.find_spans import (
    Foreign,
    Piece,
    pieces,
    scope_name,
    short,
)
from agentool_otel.reading.sources.files.otlp_names import normal
from agentool_otel.reading.sources.files.undecoded import Report
from agentool_otel.reading.sources.log_readers import LogReader, PairedLogReader
from agentool_otel.reading.sources.stores import log_record, span_object
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container

__all__ = ["EXPECTED", "AnyJson"]

EXPECTED = "spans or trace documents"
"""Readable content, for the error about anything else; `agentool-otel help source` has the list."""


class AnyJson:
    """Reads the JSON values of one file, and notes their kinds."""

    def __init__(
        self,
        report: Report,
        document: Callable[[ReasoningTrace], None],
        agents: dict[str, str] | None = None,
        other: Callable[[Json], None] | None = None,
        file: Path | None = None,
    ):
        """
        Args:
            report: takes what could not be read.
            document: takes traces that the file holds as documents, not as spans.
            agents: the agents of trajectories in other files, by the ids that refer to them;
                those of this file are added.
            other: takes documents of the spec that are no traces; without it they are nothing that
                is read here.
            file: the file, if it is on this machine.
        """
        self.others = 0
        """Number of documents that `other` accepted."""
        self.recognised = False
        """Whether anything so far was recognised."""
        self.seen = ""
        """A description of the first value that was not recognised."""
        self.refusal: DecodeError | None = None
        """Why the first malformed document could not be read."""
        self.skipped = 0
        """Documents of metrics and ordinary log lines that were skipped."""
        self.loses: dict[str, None] = {}
        """The losses of the containers so far, one line each, in order."""
        self._report = report
        self._document = document
        self._other = other
        self._file = file
        self._resource: Attributes = {}
        self._header: RunMembers | None = None
        """Members of the first value of the file, if it is the header of the others."""
        self._trace_id = ""
        """Trace id for spans without one, made of the first of them."""
        self._agents = {} if agents is None else agents
        self._log_readers: dict[type[LogReader], LogReader] = {}

    def spans(
        self, value: Json, where: str, parts: Iterable[Piece] | None = None
    ) -> Iterator[SpanRecord]:
        """Yield the spans of a value, reporting pieces that are broken.

        Args:
            value: the JSON value.
            where: its place in the file.
            parts: its pieces, where they are known already.

        Raises:
            Foreign: nothing in it is recognised.
        """
        is_empty = value == []
        named = has_documents = False
        of_run: list[SpanRecord] = []
        run: RunMembers | None = None
        own_trace: str | None = None
        if (partial := partial_in_json(value)) is not None:
            self._report(where, partial)
        try:
            for piece in pieces(value) if parts is None else parts:
                if piece.what == "document" and self._other is None:
                    continue
                is_empty = True
                if piece.what == "document" and self._other is not None:
                    self._other(self._whole(piece.value, where))
                    self.others += 1
                    self.recognised = has_documents = True
                    continue
                if piece.what == "trajectory" and not named:
                    named = True
                    trajectories = (
                        item.value for item in pieces(value) if item.what == "trajectory"
                    )
                    self._agents.update(agents_of(trajectories))
                if piece.what in ("trace", "trajectory"):
                    has_documents = True
                    self._read_document(piece, where)
                    continue
                self.recognised = True
                if piece.run is not run:
                    if run is not None:
                        run.add_to(of_run)
                    yield from of_run
                    of_run, run = [], piece.run
                    own_trace = run.trace_id if run is not None else None
                for span in self._piece(piece, where):
                    if run is not None and not span.trace_id:
                        own_trace = own_trace or _made_id(span)
                        span.trace_id, span.made_ids = own_trace, run.trace_id is None
                    mended_span = self._mended(span)
                    if run is None:
                        yield mended_span
                    else:
                        of_run.append(mended_span)
        except RecursionError:
            yield from of_run
            raise Foreign("nested too deeply to be read") from None
        except ValueError as error:
            self._report(where, f"left out: {error}")
        except AgentoolError:
            raise
        except Exception as error:  # a store meets values that its author did not expect
            if environment.strict():
                raise
            self._report(where, f"left out: {type(error).__name__}: {error}")
        if run is not None:
            run.add_to(of_run)
        yield from of_run
        if has_documents and self._other is not None:
            self._report_unknown(value, where)
        if not is_empty:
            is_first = not (self.recognised or self.seen)
            self.seen = self.seen or short(value)
            if is_first and is_header(value):
                self._header = run_members(value)
                return
            raise Foreign(f"no spans: {short(value)}")
        self.recognised = self.recognised or value == []

    def _report_unknown(self, value: Json, where: str) -> None:
        """Report the members of a list of documents that are nothing that is read here."""
        for number, item in enumerate(value if isinstance(value, list) else ()):
            if next(pieces(item), None) is None:
                self._report(where, f"left out: $[{number}], {short(item)}, is no known document")

    def rest(self) -> Iterator[SpanRecord]:
        """Yield the spans that were still open at the end of the file."""
        for reader in self._log_readers.values():
            yield from map(self._mended, reader.rest())

    def _mended(self, span: SpanRecord) -> SpanRecord:
        """Return a span without marks of damage, one object for as many resources as possible."""
        mend(span)
        if not span.trace_id:
            self._trace_id = self._trace_id or _made_id(span)
            span.trace_id = self._trace_id
        if v.HashedId in (span.trace_id.__class__, span.span_id.__class__):
            span.trace_id, span.span_id = str(span.trace_id), str(span.span_id)
            span.hashed_ids = True
        for link in span.links:
            link.trace_id, link.span_id = str(link.trace_id), str(link.span_id)
        if self._header is not None:
            self._header.add_to_root(span)
        if span.resource is not self._resource:
            if span.resource == self._resource:
                span.resource = self._resource
            self._resource = span.resource
        return span

    def _piece(self, piece: Piece, where: str) -> Iterator[SpanRecord]:
        value, kind, _ = piece
        if kind == "otlp":
            yield from self._otlp(normal(value), where)
        elif kind == "log record":
            resource = span_object.resource(value.get("resource"))
            yield from self._logs([value], scope_name(value.get("scope")), resource, where)
        elif isinstance(kind, type):
            reader = self._log_readers.get(kind)
            if reader is None:
                reader = self._log_readers[kind] = kind()
                if self._file is not None and hasattr(reader, "read_beside"):
                    cast("PairedLogReader", reader).read_beside(self._file)
            yield from reader.spans(value)
        elif isinstance(kind, Container):
            self.loses.update(dict.fromkeys(kind.loses))
            yield from kind.spans(value, lambda message: self._report(where, message))

    def _read_document(self, piece: Piece, where: str) -> None:
        """Pass on the trace of a document, and those of the trajectories inside it. A malformed one
        does not affect the others."""
        waiting = [piece.value]
        try:
            while waiting:
                document = waiting.pop(0)
                mended_document = self._whole(document, where)
                if piece.what == "trace":
                    trace = decode(ReasoningTrace, mended_document)
                else:
                    trace = from_atif(mended_document, agents=self._agents)
                    waiting += embedded_in(document)
                self._document(trace)
                self.recognised = True
        except DecodeError as error:
            self.refusal = self.refusal or error.within(where)
            trace_id = piece.value.get("trace_id")
            which = f"trace {trace_id!r}: " if isinstance(trace_id, str) else ""
            self._report(where, f"{which}{error}")

    def _whole(self, document: Json, where: str) -> Json:
        """Return a document without marks of damage, since it has no place to note them."""
        mended_document, damaged = mended(document)
        if damaged:
            self._report(where, "bytes of it that are no UTF-8 were replaced by U+FFFD")
        return mended_document

    def _otlp(self, document: Json, where: str) -> Iterator[SpanRecord]:
        if not document.keys() & {"resourceSpans", "resourceLogs"}:
            self.skipped += 1
        for group in self._objects(document.get("resourceSpans"), "resourceSpans", where):
            resource = self.resource(group.get("resource"), where)
            scoped = group.get("scopeSpans", group.get("instrumentationLibrarySpans"))
            for part in self._objects(scoped, "scopeSpans", where):
                scope = scope_name(part.get("scope", part.get("instrumentationLibrary")))
                yield from self._otlp_spans(part.get("spans"), scope, resource, where)
        for group in self._objects(document.get("resourceLogs"), "resourceLogs", where):
            resource = self.resource(group.get("resource"), where)
            for part in self._objects(group.get("scopeLogs"), "scopeLogs", where):
                records = part.get("logRecords")
                yield from self._logs(records, scope_name(part.get("scope")), resource, where)

    def otlp_spans(
        self, spans: Json, scope: str, resource: Attributes, where: str
    ) -> Iterator[SpanRecord]:
        """Yield the records of OTLP spans with normal keys, under one scope and resource."""
        return map(self._mended, self._otlp_spans(spans, scope, resource, where))

    def _otlp_spans(
        self, spans: Json, scope: str, resource: Attributes, where: str
    ) -> Iterator[SpanRecord]:
        for span in self._objects(spans, "spans", where):
            try:
                yield _record(span, scope, resource)
            except (ValueError, RecursionError) as error:
                try:
                    other = span_object.record(span)
                except (ValueError, RecursionError):
                    self._report(where, f"span {span.get('name')!r} left out: {error}")
                    continue
                self._report_lost(span, f"span {span.get('name')!r}", where)
                other.scope, other.resource = scope, resource
                yield other

    def resource(self, resource: Json, where: str) -> Attributes:
        """Return the attributes of an OTLP resource, or none with a report."""
        if resource is None:
            return {}
        try:
            return _resource(resource)
        except (ValueError, RecursionError) as error:
            attributes = span_object.resource(resource)
            inner = resource.get("attributes") if isinstance(resource, dict) else resource
            if not attributes and inner:
                self._report(where, f"resource attributes left out: {error}")
            elif isinstance(resource, dict):
                self._report_lost(resource, "resource", where)
            return attributes

    def _report_lost(self, item: dict[str, Any], name: str, where: str) -> None:
        """Report the attributes that could not be read of a span, a record or a resource."""
        members = (item.get("events"), item.get("links"))
        parts = [part for parts in members if isinstance(parts, list) for part in parts]
        if lost := sum(1 for part in parts if not isinstance(part, dict)):
            self._report(where, f"{name}: {lost} of its events and links left out: no objects")
        parts = [item, *(part for part in parts if isinstance(part, dict))]
        if lost := sum(v.unreadable(part.get("attributes")) for part in parts):
            what = "1 attribute" if lost == 1 else f"{lost:,} attributes"
            self._report(where, f"{name}: {what} left out: no object with a key and a value")

    def _logs(
        self, records: Json, scope: str, resource: Attributes, where: str
    ) -> Iterator[SpanRecord]:
        for item in self._objects(records, "logRecords", where):
            span = log_record.record(item, scope, resource)
            if span is None:
                self.skipped += 1
                continue
            if v.unreadable(item.get("attributes")):
                self._report_lost(item, f"log record {span.name!r}", where)
            yield span

    def _objects(self, value: Json, name: str, where: str) -> Iterator[dict[str, Any]]:
        items: list[Json] = value if value.__class__ is list else [] if value is None else [value]
        for item in items:
            if item.__class__ is dict:
                yield item
            else:
                self._report(where, f"expected an object in {name}, got {short(item)}")


def _made_id(span: SpanRecord) -> str:
    """Return the id of a trace that has none, made of its first span."""
    return v.hashed(repr(span).encode(), 16)


def _resource(resource: Json) -> Attributes:
    try:
        return plain_resource(resource)
    except ValueError:
        return plain_resource(with_numbers_as_text(resource))


def _record(span: dict[str, Any], scope: str, resource: Attributes) -> SpanRecord:
    """Return the record of a span of OTLP/JSON with normal keys, without damaged values.

    Raises:
        ValueError: a field, an id or a number of it is invalid.
    """
    if not has_damaged_names(span):
        try:
            return span_record(span, scope, resource)
        except ValueError:
            if not is_damaged(span):
                raise
    mended_span, lost = without_damaged(span)
    record = span_record(mended_span, scope, resource)
    record.damaged = lost
    return record
