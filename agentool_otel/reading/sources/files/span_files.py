"""Files of spans, recognised by their content: recordings, exports of any store, printed spans.

Spec: opentelemetry-specification, protocol/file-exporter.md; opentelemetry-collector-contrib,
exporter/fileexporter v0.164. The framings, each also inside gzip or zstd:

    {"resourceSpans": ...}     JSON: a document per line, over many lines, several in a row, a list,
                               between other text; any container of `reading/sources/stores/`
    0a ...                     one protobuf message
    8c 02 0a ...               protobuf messages, the length before each as a varint
    00 00 12 34 0a ...         the same, the length as uint32 big-endian; a message may be JSON, and
                               may be a zstd frame of its own
    TraceId,SpanId,...         CSV or TSV with a header
    PAR1 ..., ARROW1 ...       Parquet or Arrow, with the extra `arrow`
    ff ff ff ff 58 01 ...      an Arrow stream, with the same

Another framing is one more entry in `_reader`, another compression one more in `compression.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import BinaryIO, Literal, NamedTuple, cast, overload

from agentool_otel.errors import AgentoolError, DecodeError, SourceError
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.otlp import varints
from agentool_otel.reading.sources.files import csv_tables
from agentool_otel.reading.sources.files.any_json import EXPECTED, AnyJson
from agentool_otel.reading.sources.files.columnar import Columnar, is_columnar
from agentool_otel.reading.sources.files.compression import HEAD, Feed, TooLarge, unpacked
from agentool_otel.reading.sources.files.damage import readable
from agentool_otel.reading.sources.files.file_slices import Reread, fits_in_memory, is_dense
from agentool_otel.reading.sources.files.otlp_json import JsonReader
from agentool_otel.reading.sources.files.otlp_proto import ProtoReader
from agentool_otel.reading.sources.files.remote_files import RemoteFile
from agentool_otel.reading.sources.files.streams import SpanFile, head, name_of, open_stream
from agentool_otel.reading.sources.files.undecoded import Batches, Decoder, Report, UndecodedSpan
from agentool_otel.reading.sources.log_readers import log_readers
from agentool_otel.reading.sources.offloaded import allow_beside
from agentool_otel.reading.sources.stores.registry import stores

__all__ = ["SpanFiles", "holds_spans", "span_decoder"]

_LARGE = 32 << 20
"""Bytes above which files are read again rather than copied."""
_FEW = 64
"""Most files that are open at once."""
_PROBLEMS = 1000
_BARREN = 100_000
"""Most lines, values or messages in a row of a small compressed file without any span: a megabyte
can unpack to hundreds of millions of them.
"""
_LINE_BYTES = 4
"""Bytes of a larger compressed file that allow one more of them."""
_LIVE = 250_000
"""Most of them in an input that may have no end, such as a pipe or a device."""
_ENDLESS = 64 << 20
"""Most bytes in a row without any span in such an input."""
_NO_SPAN = f"it has no span in {_ENDLESS >> 20} MiB, and may have no end"
_JSON = re.compile(rb'(\xef\xbb\xbf)?\s*([\[{]\s*(["{}\]]|$)|$)')
_MESSAGE = re.compile(rb"\n(\x00|[\x80-\xff]{0,4}[\x00-\x7f][\n\x12\x1a])")
_FRAMED = re.compile(rb"(\x00{4}|[\x00-\x09][\x00-\xff]{3}([\n{]|\x28\xb5\x2f\xfd))")
_DELIMITED = re.compile(rb"[\x80-\xff]{0,4}[\x01-\x7f]" + _MESSAGE.pattern)
_BEGINNING = 2000
"""Bytes in which a file shows whether it holds spans."""
_NAMES_OF_SPANS = re.compile(
    rb'"(?:resource_?(?:Spans|spans|Logs|logs|Metrics|metrics)|spanId|span_id)"|"ATIF'
)
"""Members of OTLP and of span objects, and the format of trajectories."""


class SpanFiles:
    """The spans of one file, several files or a byte stream, here or elsewhere.

    Reading is total: what cannot be read becomes a `Problem` and the rest is delivered. An error is
    raised only where not one of the files holds anything recognisable.
    """

    def __init__(self, files: Sequence[SpanFile], name: str | None = None):
        self.name = name or ", ".join(map(name_of, files))
        self.problems: list[Problem] = []
        self.bytes_read = 0
        self.bytes_total = _size(files)
        self.skipped = 0
        """Documents of metrics and ordinary log lines that were skipped."""
        self.loses: tuple[str, ...] = ()
        """Losses of the containers read so far, one line each."""
        self.document: Callable[[ReasoningTrace], None] | None = None
        self.other: Callable[[Json], None] | None = None
        self.files = files
        self.left_out: tuple[tuple[str, str], ...] = ()
        """Places that are left out before any file is read, each with the reason."""
        self.folders: tuple[Path, ...] = ()
        """The folders of which all recordings are read."""
        allow_beside(file for file in files if isinstance(file, Path))
        self._documents: deque[ReasoningTrace] = deque()
        self._agents: dict[str, str] = {}
        """Names of the agents of trajectories read so far, by the ids that others refer to."""

    def spans(self) -> Iterator[SpanRecord]:
        """Yield the spans of all files in order. Memory holds one document at a time.

        Traces that are in the files as documents go to `document`.

        Raises: as `in_order`.
        """
        for item in self.in_order():
            if isinstance(item, SpanRecord):
                yield item
            else:
                self._pass_on(item)

    def undecoded(self) -> Iterator[SpanRecord | UndecodedSpan]:
        """Yield the same spans for grouping: those of OTLP/JSON are not decoded yet.

        Raises: as `in_order`.
        """
        return chain.from_iterable(self._passed_on())

    def _passed_on(self) -> Batches:
        """Yield batches of undecoded spans, passing on the documents between them."""
        for batch in self._all_batches(undecoded=True):
            while self._documents:
                self._pass_on(self._documents.popleft())
            yield batch

    @overload
    def in_order(
        self, *, undecoded: Literal[False] = False
    ) -> Iterator[SpanRecord | ReasoningTrace]: ...
    @overload
    def in_order(
        self, *, undecoded: bool
    ) -> Iterator[SpanRecord | UndecodedSpan | ReasoningTrace]: ...
    def in_order(
        self, *, undecoded: bool = False
    ) -> Iterator[SpanRecord | UndecodedSpan | ReasoningTrace]:
        """Yield spans, and traces where there are documents of them, in the order of the files.

        With `undecoded`, spans of OTLP/JSON are left as they are, for grouping.

        Raises:
            SourceUnreachable: no file could be opened.
            SourceDenied: no file may be read.
            DecodeError: no file holds anything recognisable.
        """
        for batch in self._all_batches(undecoded):
            while self._documents:
                yield self._documents.popleft()
            yield from batch

    def _all_batches(self, undecoded: bool) -> Batches:
        """Yield the batches of all files; documents in `_documents` come before the batch."""
        self.problems.clear()
        self.bytes_read = self.skipped = 0
        self.loses = ()
        self._documents.clear()
        for place, why in self.left_out:
            self._report(place, "", why)
        refusals: list[AgentoolError] = []
        rereads = undecoded and self._can_be_reread()
        for file in _spans_first(self.files):
            try:
                yield from self._batches(file, undecoded, rereads)
            except AgentoolError as error:
                refusals.append(error)
                self._report(name_of(file), "", str(error))
        if refusals and len(refusals) == len(self.files):
            raise refusals[0]

    def _can_be_reread(self) -> bool:
        """Return whether spans can be read again, instead of being kept until their trace is
        complete.

        Each file stays open for that.
        """
        total = self.bytes_total
        large = total is not None and total >= _LARGE and len(self.files) <= _FEW
        return large and fits_in_memory(total or 0)

    def _batches(self, file: SpanFile, undecoded: bool, rereads: bool) -> Batches:
        label = name_of(file)

        def report(at: str, problem: str) -> None:
            self._report(label, at, problem)

        def report_end(at: str, problem: str) -> None:
            self._report_end(f"{label} {at}", problem)

        values = AnyJson(
            report,
            self._documents.append,
            self._agents,
            self.other,
            file if isinstance(file, Path) else None,
        )
        json, proto = JsonReader(report, values), ProtoReader(report)
        with ExitStack() as opened:
            raw = opened.enter_context(open_stream(file))
            before = self.bytes_read
            again = Reread.of(raw) if rereads and isinstance(file, Path) else None
            packed = Feed(getattr(raw, "read1", raw.read))
            is_whole = isinstance(file, RemoteFile) or is_dense(raw)
            if not is_whole:
                packed.stop_at(_ENDLESS, _NO_SPAN)
            feeds, stream = unpacked(packed)
            start = stream.peek(HEAD)[:HEAD]
            if again is not None and feeds == [packed]:
                json.read_again(again)
            if is_columnar(start):
                columnar = Columnar(values, self._documents.append, report, report_end)
                in_place = feeds == [packed] and isinstance(file, Path) and raw.seekable()
                packed.stop_at(None)  # a copy on the disk has a limit of its own
                batches = columnar.file(raw, packed) if in_place else columnar.stream(stream)
            elif csv_tables.looks_like_table(beginning := stream.peek(HEAD)):
                batches = csv_tables.batches(stream, beginning, values, report)
            else:
                batches = _reader(stream, start, json, proto, undecoded)
            barren = skipped = others = 0
            opened.callback(cast("Generator[object]", batches).close)  # before the file
            for batch in batches:
                self.bytes_read = before + packed.count
                read = values.skipped > skipped or values.others > others
                is_barren = not (batch or self._documents or read)
                barren = barren + 1 if is_barren else 0
                skipped, others = values.skipped, values.others
                if not (is_whole or barren):
                    packed.stop_at(packed.count + _ENDLESS, _NO_SPAN)
                most = max(_BARREN, packed.count // _LINE_BYTES) if is_whole else _LIVE
                if barren >= most and not (is_whole and feeds == [packed]):
                    problem = f"nothing in {most:,} lines or values in a row"
                    self._report_end(label, f"{problem}: the rest is not read")
                    break
                yield batch
            self.bytes_read = before + packed.count
            yield list(values.rest())
        for problem in file.problems if isinstance(file, RemoteFile) else ():
            report("", problem)
        self.skipped += values.skipped + proto.skipped
        self.loses = tuple(dict.fromkeys((*self.loses, *values.loses)))
        errors = [feed.error for feed in feeds if feed.error]
        for error in errors:
            self._report_end(label, f"could not be read to its end: {error}")
        is_empty = not start.strip() and not errors
        if not (is_empty or json.recognised or values.recognised or proto.recognised):
            if any(isinstance(error, TooLarge) for error in errors):
                raise SourceError(f"{label} holds no spans as far as it was read: {errors[0]}")
            description, hint = _diagnose(start, readable(values.seen))
            if isinstance(file, Path) and quote(label) == label:
                hint = hint.replace("FILE", label)
            raise values.refusal or DecodeError(EXPECTED, description, where=label, hint=hint)

    def _pass_on(self, document: ReasoningTrace) -> None:
        if self.document is not None:
            self.document(document)
        else:
            self._report(
                self.name,
                "",
                f"trace {document.trace_id!r} is a ReasoningTrace document, without spans",
            )

    def _report_end(self, label: str, message: str) -> None:
        """Report that the rest of a file is not read, before whatever else is wrong with it."""
        self.problems.insert(0, Problem(label, readable(message)))

    def _report(self, label: str, at: str, message: str) -> None:
        if len(self.problems) < _PROBLEMS:
            self.problems.append(Problem(f"{label} {at}".strip(), readable(message)))
        elif len(self.problems) == _PROBLEMS:
            self.problems.append(Problem(self.name, "there are more problems than are listed here"))


def holds_spans(file: SpanFile) -> bool:
    """Return whether a file, or standard input, begins as spans do and not as a document of this
    package.

    Raises:
        SourceError: it cannot be opened.
        MissingDependencyError: no library for its compression is installed.
    """
    beginning = head(file, _BEGINNING).removeprefix(b"\xef\xbb\xbf")
    text = beginning.lstrip()  # protobuf begins with a line feed
    if text.startswith((b"{", b"[")):
        if _NAMES_OF_SPANS.search(text) is not None:
            return True
        members = [
            *(store.members for store in stores()),
            *(log_reader.members for log_reader in log_readers()),
        ]
        return any(f'"{name}"'.encode() in text for name in chain.from_iterable(members))
    is_text = beginning[:1].isalnum() or text.startswith(b'"')
    if is_columnar(beginning):
        return True
    return csv_tables.looks_like_table(beginning) or bool(text and not is_text)


def _spans_first(files: Sequence[SpanFile]) -> Sequence[SpanFile]:
    """Return files that begin with documents behind the others: of a trace that is in both, the
    spans have more data.
    """
    return files if len(files) < 2 else sorted(files, key=_begins_with_document)


def _begins_with_document(file: SpanFile) -> bool:
    if not isinstance(file, Path):
        return False  # looking into what is elsewhere takes long
    try:
        return not holds_spans(file)
    except AgentoolError:
        return False  # reading it says why


def span_decoder(report: Report) -> Decoder:
    """Return a decoder for spans that another process left undecoded."""
    return JsonReader(report, AnyJson(report, lambda _: None))


def _reader(
    stream: BinaryIO, head: bytes, json: JsonReader, proto: ProtoReader, undecoded: bool
) -> Batches:
    if _JSON.match(head):  # white space before JSON can look like protobuf, not the reverse
        return json.batches(stream, undecoded=undecoded)
    if _MESSAGE.match(head):
        return proto.message(stream)
    if _FRAMED.match(head):
        return proto.framed(stream, json)
    if _DELIMITED.match(head) and _varint_fits(head):
        return proto.delimited(stream)
    return json.batches(stream, undecoded=undecoded)


def _varint_fits(head: bytes) -> bool:
    """Return whether a byte is the length of a message, not a character: the length inside fits."""
    try:
        outer, at = varints.from_bytes(head)
        inner, after = varints.from_bytes(head + b"\0", at + 1)  # a short head may end inside
    except ValueError:
        return False
    return inner + (after - at) <= outer


def _size(files: Sequence[SpanFile]) -> int | None:
    """Return the sum of the sizes, None if one of them is not known."""
    total = 0
    for file in files:
        if isinstance(file, RemoteFile) and file.size is not None:
            total += file.size
        elif isinstance(file, Path) and file.is_file():
            total += file.stat().st_size
        else:
            return None
    return total


class _Seen(NamedTuple):
    """Diagnosis of a file without spans, with a hint for its user."""

    what: str
    hint: str = "agentool-otel help source lists the formats that are read"


_UTF_16 = _Seen("text in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE > FILE.json makes UTF-8 of it")
_KNOWN = {
    b"SQLite format 3": _Seen("a SQLite database", "export spans from the program it belongs to"),
    b"PK\x03\x04": _Seen("a zip archive", "unpack it and name the folder"),
    b"ResourceSpans #": _Seen(
        "output of the Collector's debug exporter for people",
        "send the spans to its file exporter as well",
    ),
    b"\xff\xfe": _UTF_16,
    b"\xfe\xff": _UTF_16,
}
"""Files that are often tried instead, by how they begin."""


def _diagnose(head: bytes, value: str) -> _Seen:
    for mark, description in _KNOWN.items():
        if head.startswith(mark) or (mark.endswith(b"#") and mark in head):
            return description
    if value:
        return _Seen(value)
    if head.lstrip()[:1] in (b"{", b"["):
        return _Seen(
            "JSON that is cut short or damaged", "python -m json.tool FILE names the place"
        )
    try:
        text = head[:24].decode("utf-8", "strict" if len(head) < 24 else "ignore")
    except UnicodeDecodeError:
        text = "\0"
    if all(item.isprintable() or item.isspace() for item in text) and b"\xff" not in head[:24]:
        return _Seen(f"text with {text!r} at its start")
    return _Seen(f"binary data with {head[:8].hex(' ')} at its start")
