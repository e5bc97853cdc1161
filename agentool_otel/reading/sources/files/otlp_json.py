"""OTLP/JSON bytes to spans.

Spec: opentelemetry-proto 1.9, docs/specification.md#json-protobuf-encoding.
Documents as exporters write them go through typed structs and cost little more than parsing. Any
other JSON is handed to `AnyJson`: other spellings of OTLP, and JSON that is not OTLP at all. Text
that is not JSON is searched for complete spans.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Sequence
from sys import intern
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from agentool_otel.ground import json_codec
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.invalid_utf8 import MARKING
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.otlp.json_decoder import Attributed, Named, Span, plain, record, trace_id_of
from agentool_otel.reading.sources.files.bounded_cache import Interned
from agentool_otel.reading.sources.files.damage import encoded
from agentool_otel.reading.sources.files.file_slices import Reread
from agentool_otel.reading.sources.files.find_spans import Foreign
from agentool_otel.reading.sources.files.large_json import LargeJson
from agentool_otel.reading.sources.files.line_block import LineBlock, line_numbers
from agentool_otel.reading.sources.files.line_templates import LineTemplates
from agentool_otel.reading.sources.files.node_inspect import inspected, looks_inspected
from agentool_otel.reading.sources.files.otlp_names import normal
from agentool_otel.reading.sources.files.pushback import Pushback
from agentool_otel.reading.sources.files.salvage import Salvage
from agentool_otel.reading.sources.files.span_offsets import LARGE_LINE, locate
from agentool_otel.reading.sources.files.trace_ids import HEAD, TraceIds
from agentool_otel.reading.sources.files.undecoded import Batches, Report, UndecodedSpan

if TYPE_CHECKING:
    from agentool_otel.reading.sources.files.any_json import AnyJson

__all__ = ["JsonReader"]


class _ScopeSpans(Struct, gc=False):
    spans: list[Span]
    scope: Named | None = None


class _ResourceSpans(Struct, gc=False, rename="camel"):
    scope_spans: list[_ScopeSpans]
    resource: Attributed | None = None


class _Document(Struct, gc=False, rename="camel"):
    resource_spans: list[_ResourceSpans] | UnsetType = UNSET
    resource_logs: Raw | UnsetType = UNSET


class _ShallowScopeSpans(Struct, gc=False):
    spans: list[Raw]
    scope: Named | None = None


class _ShallowResourceSpans(Struct, gc=False, rename="camel"):
    scope_spans: list[_ShallowScopeSpans]
    resource: Raw = Raw(b"{}")


class _ShallowDocument(Struct, gc=False, rename="camel"):
    resource_spans: list[_ShallowResourceSpans]
    resource_logs: Raw | UnsetType = UNSET


class _Started(Struct, gc=False, rename="camel"):
    start_time_unix_nano: int | str = 0


_decode = msgspec.json.Decoder(_Document).decode
_decode_shallow = msgspec.json.Decoder(_ShallowDocument).decode
_decode_span = msgspec.json.Decoder(Span).decode
_decode_attributed = msgspec.json.Decoder(Attributed | None).decode
_decode_started = msgspec.json.Decoder(_Started).decode
_CHANGED = "the file has changed since it was read first"
_raw_decode = json.JSONDecoder().raw_decode
_LARGE_BLOCK = 8 << 20
"""Bytes of a document of many lines above which it is read piece by piece, in bounded memory; of
one line it is `LARGE_LINE`, since that takes a shorter way and less memory."""
_FAR = 1 << 16
"""Characters: an error after many is expensive, because the lines before it are counted."""
_BRACKETS = " \t\r\n\f\v,[]"
_BETWEEN_DOCUMENTS = re.compile(r"[\s,\[\]]*")
_PREFIX = re.compile(r'[^\n{\["]*')
"""Text before a document on its line: the time of a log."""
_RESUME = re.compile(r'\n(?=[{\[])|(?<=\n)(?=[^\s{\["][^\n{\["]*\{)')
"""A line that begins as a document, or as a log; indented ones are inside a document."""


_Read = Callable[[bytes, int, int, int], Sequence[SpanRecord | UndecodedSpan]]
"""Reads one document; see `JsonReader._decoded`."""


class JsonReader:
    """Reads the OTLP/JSON documents of one file: one per line, pretty-printed, in a row or
    in a list."""

    recognised = False
    """Whether any document so far took the fast path for OTLP."""

    def __init__(self, report: Report, values: AnyJson):
        self.report = report
        self.read: Callable[[int, int], bytes] = _nothing
        self._again = False
        self._open = 0
        """Lists that begin on lines of their own and have not ended."""
        self._values = values
        self._resources = Interned[Attributes]()
        self._ids = TraceIds()
        self._frames = LineTemplates()

    def read_again(self, file: Reread) -> None:
        """Leave the data of undecoded spans in their file."""
        self.read = file.read
        self._again = True

    def batches(self, stream: BinaryIO, *, undecoded: bool = False) -> Batches:
        """Yield the spans of each document; a line is a document where it can be one.

        With `undecoded`, those of documents as exporters write them are not decoded yet.
        """
        read = self._undecoded if undecoded else self._decoded
        block = LineBlock()
        ahead = Pushback(stream)
        number = following = 0
        for number, line in enumerate(ahead.lines(LARGE_LINE), 1):
            size = len(line)
            at = following
            following += size
            if size == LARGE_LINE or at - block.at > _LARGE_BLOCK:
                where = f"line {number - len(block)} and on"
                block.append(line)
                block.at = following
                yield from self._large(block.take(), ahead, where)
                continue
            spans = None
            if not block or line.startswith(b"{"):
                spans = self._of_line(read, line, number, at, block)
            if spans is None:
                block.append(line)
                if line.startswith((b"}", b"]")):
                    spans = self._of_block(read, block, number, following - block.at)
            if spans is not None:
                block.at = following
                yield spans
        yield self._left_over(block, number)
        if self._open:
            brackets = "1 '['" if self._open == 1 else f"{self._open:,} '['"
            self.report("", f"{brackets} without an end: a list is cut short or damaged")

    def _of_line(
        self, read: _Read, line: bytes, number: int, at: int, block: LineBlock
    ) -> Sequence[SpanRecord | UndecodedSpan] | None:
        """Return the spans of a line, after those of the block that it ends; None if the line is
        part of a block.
        """
        try:
            spans = read(line, number, number, at)
        except Foreign as error:
            if block:
                return None
            self.report(f"line {number}", str(error))
            return ()
        except ValueError:
            if block or line.lstrip(b"\xef\xbb\xbf \t,").startswith((b"{", b"[")):
                return None
            return self._pieces(line, f"line {number}")
        return [*self._left_over(block, number - 1), *spans] if block else spans

    def _of_block(
        self, read: _Read, block: LineBlock, last: int, size: int
    ) -> Sequence[SpanRecord | UndecodedSpan] | None:
        """Return the spans of a block whose last line may end it; None if it goes on."""
        # Each try is twice as long as the one before, so all tries together stay linear.
        if size < 2 * block.tried:
            return None
        spans: Sequence[SpanRecord | UndecodedSpan] = ()
        try:
            spans = read(b"".join(block), last - len(block) + 1, last, block.at)
        except Foreign as error:
            self.report(block.where(last), str(error))
        except ValueError:
            block.tried = size
            if looks_inspected(b"".join(block[:2]).decode("utf-8", "replace"), 0):
                return self._left_over(block, last)
            return None
        block.take()
        return spans

    def _left_over(self, block: LineBlock, last: int) -> list[SpanRecord]:
        """Return the readable spans in lines of a block that are no document together."""
        where = block.where(last)
        return self._pieces(block.take(), where)

    def _large(self, begun: bytes, stream: Pushback, where: str) -> Batches:
        """Yield the spans of a document that is too large to be held in memory."""
        large = LargeJson(begun, stream)
        for value in large.values():
            try:
                yield list(self._values.spans(value, where))
            except Foreign as error:
                self.report(where, str(error))
                yield ()
        self._again = False  # where the rest lies is not known: it was read in windows
        if (data := large.rest) is not None:
            salvage = Salvage(self._values, where)
            salvage.take_context(large.around)
            yield from self._salvaged(data, stream, salvage, where)
            self.recognised = self.recognised or salvage.count > 0
            self.report(where, f"cut short or damaged: {_saved_text(salvage.count)}")

    def _salvaged(
        self, remaining_data: bytes, stream: Pushback, salvage: Salvage, where: str
    ) -> Batches:
        """Yield the readable spans in the rest of a damaged document, and in those behind it that
        were taken from the stream with it.
        """
        decoder = codecs.getincrementaldecoder("utf-8")(MARKING)
        text = decoder.decode(remaining_data)
        while True:
            if resume := _RESUME.search(text, 1):
                next_one = resume.end()
                last_one = max(next_one, text.rfind("\n{") + 1, text.rfind("\n[") + 1)
                yield list(salvage.spans(text[:next_one]))
                yield self._pieces(text[next_one:last_one], where)
                pending, _ = decoder.getstate()
                stream.push(encoded(text[last_one:]) + pending)
                return
            data = stream.read(_LARGE_BLOCK)
            yield list(salvage.spans(text, more=bool(data)))
            if not data:
                return
            begun = salvage.rest if len(salvage.rest) < LARGE_LINE else ""
            text = begun + decoder.decode(data)

    def _undecoded(
        self, data: bytes, first: int, last: int, at: int
    ) -> Sequence[SpanRecord | UndecodedSpan]:
        """The same as `_decoded`, with spans that are decoded later where that is possible."""
        again = self._again
        if framed := self._frames.find(data):
            self.recognised = True
            begin, trace_id, span, scope, resource = framed
            size = len(span)
            at, span = (at + begin, b"") if again else (-1, span)
            return (UndecodedSpan(trace_id, span, scope, resource, first, self, at, size),)
        id_of = self._ids.of
        try:
            spans: list[UndecodedSpan] = []
            document = _decode_shallow(data)
            if document.resource_logs is not UNSET:
                return self._decoded(data, first, last, at)
            end = 0
            for group in document.resource_spans:
                resource = self._resource(bytes(group.resource))
                for scoped in group.scope_spans:
                    scope = intern(scoped.scope.name) if scoped.scope else ""
                    starts, end = locate(scoped.spans, data, end)
                    for raw, start in zip(scoped.spans, starts, strict=True):
                        trace_id = id_of(data[start : start + HEAD], raw)
                        # Otherwise a copy: a view would hold on to the whole line.
                        place, span = (at + start, b"") if again else (-1, bytes(raw))
                        size = len(raw)
                        spans.append(
                            UndecodedSpan(trace_id, span, scope, resource, first, self, place, size)
                        )
        except (ValueError, RecursionError):
            return self._decoded(data, first, last, at)
        if len(spans) == 1:
            self._frames.learn(data, end - spans[0].length, end, spans[0])
        self.recognised = True
        return spans

    def _lenient(self, line: bytes, where: str) -> list[SpanRecord]:
        """Return the spans of a line that is spelled otherwise, or damaged."""
        try:
            return self._document(line, where)
        except Foreign as error:
            self.report(where, str(error))
        except ValueError:
            return self._pieces(line, where)
        return []

    def _resource(self, encoded: bytes) -> Attributes:
        """Return the attributes of a resource, which is the same for most of a file."""
        attributes = self._resources.known.get(encoded)
        if attributes is None:
            attributed = _decode_attributed(encoded)
            attributes = plain(attributed.attributes) if attributed is not None else {}
            self._resources.put(encoded, attributes)
        return attributes

    def decode(self, span: UndecodedSpan) -> SpanRecord | None:
        data = span.data or self.read(span.at, span.length)
        try:
            decoded = _decode_span(data)
            if decoded.trace_id == span.trace_id or trace_id_of(decoded.trace_id) == span.trace_id:
                return record(decoded, span.scope, span.resource, span.trace_id)
        except (ValueError, RecursionError):
            pass
        where = f"line {span.line}"
        try:
            loose = normal(_value(data))
        except (ValueError, RecursionError) as error:
            self.report(where, f"a span left out: {error if span.data else _CHANGED}")
            return None
        repaired = next(self._values.otlp_spans([loose], span.scope, span.resource, where), None)
        if repaired is not None and repaired.trace_id != span.trace_id:
            self.report(where, f"a span left out: {_CHANGED}")
            return None
        return repaired

    def start_of(self, span: UndecodedSpan) -> int:
        try:
            return int(_decode_started(span.json()).start_time_unix_nano)
        except ValueError:
            decoded = self.decode(span)
            return (decoded.start_ns or 0) if decoded is not None else 0

    def _decoded(self, data: bytes, first: int, last: int, at: int) -> list[SpanRecord]:
        """Return the spans of one document.

        Args:
            data: the document.
            first: the line of the file that it begins on.
            last: the line that it ends on.
            at: how many bytes of the file are before it.

        Raises: as `_document`.
        """
        return self._document(data, line_numbers(first, last))

    def _document(self, data: bytes, where: str) -> list[SpanRecord]:
        """Return the spans of one document.

        Raises:
            ValueError: `data` is not one JSON document.
            Foreign: it is, but nothing in it is recognised.
        """
        try:
            document = _decode(data)
            if document.resource_logs is UNSET and document.resource_spans is not UNSET:
                spans = [
                    record(span, scope, resource)
                    for group in document.resource_spans
                    for resource in (plain(group.resource.attributes) if group.resource else {},)
                    for scoped in group.scope_spans
                    for scope in (intern(scoped.scope.name) if scoped.scope else "",)
                    for span in scoped.spans
                ]
                self.recognised = True
                return spans
        except (ValueError, RecursionError):
            pass
        if data.isspace():
            return []
        return list(self._values.spans(_value(data), where))

    def _pieces(self, data: bytes | str, where: str) -> list[SpanRecord]:
        """Return the readable spans in text that is several documents, or a damaged one."""
        text = data.decode("utf-8-sig", MARKING) if isinstance(data, bytes) else data
        passed = 0
        spans: list[SpanRecord] = []
        if not text.strip(_BRACKETS):
            self._open += text.count("[")
        at = self._next_document(text, 0)
        while at < len(text):
            try:
                if text[at] != "{":  # a number would be JSON: the year of a log line
                    raise ValueError("no document")
                document, end = self._object(text, at, where)
            except (ValueError, RecursionError) as error:
                resume = _resume(text, at)
                if not (_PREFIX.fullmatch(text, at, resume) and resume < len(text)):
                    spans += self._damaged(text[at:resume], where, passed + at, error)
                at = resume
                if at > _FAR:
                    text, passed, at = text[at:], passed + at, 0
                continue
            try:
                spans += self._values.spans(document, where)
            except Foreign as error:
                self.report(where, str(error))
            at = self._next_document(text, end)
        return spans

    def _next_document(self, text: str, at: int) -> int:
        """Return where the next document of a text begins."""
        end = _next(_BETWEEN_DOCUMENTS, text, at)
        self._open = max(0, self._open - text.count("]", at, end))
        return end

    def _object(self, text: str, at: int, where: str) -> tuple[Json, int]:
        """Return the object at a place, in JSON or as JavaScript prints it, and where it ends."""
        if not looks_inspected(text, at):
            document, end = _raw_decode(text, at)
            return document, end
        printed = inspected(text, at)
        if printed.left_out:
            self.report(
                where,
                f"{printed.left_out} values were not printed, only marks such as [Object]; hint: "
                "export with OTLP, or print JSON.stringify(span) instead of the span",
            )
        return printed.value, printed.end

    def _damaged(
        self, text: str, where: str, at: int, error: ValueError | RecursionError
    ) -> list[SpanRecord]:
        """Return the spans of text that is not JSON, and report the rest."""
        if isinstance(error, RecursionError):
            self.report(where, f"nested too deeply to be read, after character {at}")
            return []
        if "{" not in text:
            self.report(where, f"not JSON: {text[:40].strip()!r}")
            return []
        saved = list(Salvage(self._values, where).spans(text))
        self.recognised = self.recognised or bool(saved) or '"resourceSpans"' in text
        self.report(where, f"cut short or damaged after character {at}: {_saved_text(len(saved))}")
        return saved


def _value(data: bytes) -> Json:
    """Return the value of JSON; bytes that are not UTF-8 are marked, for `AnyJson` to mend, as it
    does with lone surrogates.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        return json_codec.loads_exactly(data)
    except UnicodeDecodeError:
        return json_codec.loads_exactly(data.decode("utf-8-sig", MARKING))


def _nothing(at: int, length: int) -> bytes:
    return b""


def _saved_text(count: int) -> str:
    return (
        f"{count} spans of it could be read, the others are lost unless the line can be completed "
        "from another copy"
    )


def _resume(text: str, at: int) -> int:
    """Return where reading goes on after damage: at a line that begins as a document, or at the
    first brace of this or a later line that begins as a log."""
    if brace := _PREFIX.match(text, at):
        end = brace.end()
        if end > at and text[end : end + 1] == "{":
            return end
    line_start = _RESUME.search(text, at + 1)
    return line_start.end() if line_start else len(text)


def _next(between: re.Pattern[str], text: str, at: int) -> int:
    gap = between.match(text, at)
    return gap.end() if gap else at
