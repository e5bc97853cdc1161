"""The journal: which spans of this process are open, in a file that survives it.

`<name>.open` beside the recording or the spool of the process. Its first line says what it belongs
to, and its own inode, which a copy does not have; every further line is an open span as it was
before the user's code ran in it, an OTLP/JSON document. A span is open if it stands here and not
among the ended ones, so an end costs the journal nothing; before ended spans are forgotten
elsewhere, and when the file has grown, it is written anew. The position in the first line is one of
the file of the recording with the number `part`. A line without a span has the position in a spool
up to which everything has been sent: the last one of each signal counts. Whoever recovers the file
appends such lines for each part that has arrived, and lines with the ids of open spans that were
closed and sent.

The file is locked as long as its process lives. Whoever can lock it may recover what is in it.
"""

from __future__ import annotations

import logging
import os
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from threading import get_ident
from typing import TYPE_CHECKING, Any

import orjson

from agentool_otel.ground import environment
from agentool_otel.ground.environment import Signal
from agentool_otel.ground.interruptions import ignoring, let_through
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.otlp.json_encoder import Line, started_line
from agentool_otel.tracing.export.disk.files import (
    AppendFile,
    FileReplaced,
    RecordingDir,
    renew_after_fork,
)
from agentool_otel.tracing.export.disk.frames import SentMark
from agentool_otel.tracing.export.disk.gate import Gate
from agentool_otel.tracing.export.disk.names import JOURNAL

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

    _Ref = weakref.ref[ReadableSpan]
else:
    _Ref = weakref.ref

__all__ = [
    "SUFFIX",
    "UNDERSTOOD",
    "WITHOUT_SPANS",
    "Journal",
    "ended_in",
    "ended_line",
    "sent_line",
    "sent_marks",
]

_log = logger(__name__)

SUFFIX = JOURNAL
_PATIENCE_NS = 1_000_000_000
"""Time before a folder that could not be written is tried again."""
_GROWN = 4 << 20
"""Bytes after which the file is written anew; some 6,000 spans."""
_SENT = b'{"resourceSpans":[],"sent":'
"""The beginning of a line that notes what has been sent: to readers, a document without spans."""
_SENT_PART = b'{"resourceSpans":[],"sent_part":'
"""The same where it is not all from the beginning of the spool."""
_ENDED = b'{"resourceSpans":[],"ended":'
WITHOUT_SPANS = b'{"resourceSpans":[],'
"""The beginning of all such lines."""
_ALL = "all"
_MARK = ("end", "size", "checksum")
_VERSION = 1
"""Version of the format of journals."""
_VERSION_OF_PARTS = 2
"""Version for a recording in several files. It has `part_from` for `from`: versions that know one
file only, and no number of a version, find no position and leave the journal alone."""
_SPOOL_VERSION = 1
"""Version of the format of the spools beside them."""
UNDERSTOOD = {"journal": (_VERSION, _VERSION_OF_PARTS), "spool": (_SPOOL_VERSION,)}
"""Versions of each format that are read here, by its name in the first line."""


def sent_line(signal: Signal, mark: SentMark) -> bytes:
    """Return the line that notes spans, or log records, that have been sent."""
    sent = {"signal": signal, **mark._asdict()}
    if not mark.start:  # as the versions that know no other marks
        del sent["start"]
        return orjson.dumps({"resourceSpans": [], "sent": sent}) + b"\n"
    return orjson.dumps({"resourceSpans": [], "sent_part": sent}) + b"\n"


def sent_marks(lines: Iterable[bytes], signal: Signal) -> Iterator[SentMark]:
    """Yield the marks of a signal in the lines of a journal; a damaged line is left out."""
    for line in lines:
        if line.startswith((_SENT, _SENT_PART)):
            with suppress(ValueError, TypeError, KeyError):
                document = orjson.loads(line)
                sent = document.get("sent") or document["sent_part"]
                if sent["signal"] == signal:
                    end, size, checksum = (int(sent[field]) for field in _MARK)
                    yield SentMark(end, size, checksum, int(sent.get("start", 0)))


def ended_line(span_ids: Iterable[str] | None) -> bytes:
    """Return the line that notes spans which are no longer open; None for all in the lines
    before."""
    ids = _ALL if span_ids is None else list(span_ids)
    return orjson.dumps({"resourceSpans": [], "ended": ids}) + b"\n"


def ended_in(line: bytes) -> Sequence[str] | None:
    """Return the ids of spans that a line notes as ended, None if it notes all spans before it."""
    if line.startswith(_ENDED):
        with suppress(ValueError, TypeError, KeyError):
            ids = orjson.loads(line)["ended"]
            return None if ids == _ALL else [str(span_id) for span_id in ids]
    return ()


class _Started(_Ref):
    """An open span. Held weakly: the journal is no reason for a dropped span to stay in memory."""

    __slots__ = ("line", "span_id")
    line: Line
    span_id: int


class Journal:
    """The open spans of this process.

    Args:
        place: where the file is.
        destination: where ended spans go, noted in the first line: a recovery by another program
            sends them nowhere else.
        protocol: the OTLP protocol used there, if any.
        signal: what else than spans goes there, if it is not what goes beside them.
        exact: that is the URL of the signal as it stands.
        also: the vocabulary whose names are sent beside ours, by whoever sends.
        ended_up_to: returns how many bytes of ended spans there are now. Spans that stand in the
            journal have ended after that, if at all.
        part: returns the number of the file of the recording in which that is.
        gate: the threads that append to the journal, or to where ended spans go.
    """

    def __init__(
        self,
        place: RecordingDir,
        destination: str,
        protocol: str = "",
        signal: str = "traces",
        exact: bool = False,
        also: str | None = None,
        ended_up_to: Callable[[], int] = lambda: 0,
        part: Callable[[], int] = lambda: 1,
        gate: Gate | None = None,
    ):
        self.gate = Gate() if gate is None else gate
        self._place = place
        self._destination = destination
        self._protocol = protocol
        self._signal = signal
        self._exact = exact
        self._also = also
        self._ended_up_to = ended_up_to
        self._part = part
        self._file: AppendFile | None = None
        self._limit = _GROWN
        self._first = 0
        """Bytes of the first line."""
        self._open: dict[int, _Started] = {}
        self.ended: Callable[[int, None], object] = self._open.pop
        """Forgets a span, by its id, that is kept elsewhere by now. Called inside the gate."""
        self._sent: dict[Signal, bytes] = {}
        """The line of each signal that notes what has been sent of it."""
        self.dropped_spans: deque[_Started] = deque()
        """Spans that were dropped without an end; those that have ended among them."""
        # A callback of a weak reference may come at any moment, so it only takes a note.
        self._note: Callable[[Any], None] = self.dropped_spans.append
        self.of_parent: frozenset[int] = frozenset()
        """The spans that were open when this process was forked: the parent reports them."""
        self._failed = False
        self._retry_ns = 0
        renew_after_fork(self._forked)

    def started(self, span: ReadableSpan, shown: ReadableSpan) -> None:
        """Note a span that has started, and holds what is known of it.

        Args:
            span: the living span.
            shown: the span without what must not leave.
        """
        context = span.get_span_context()
        assert context is not None  # the SDK types it as optional; a span that runs has one
        self.note(span, context.span_id, started_line(shown, keep=not self._protocol))

    def note(self, span: ReadableSpan, span_id: int, line: Line) -> None:
        """Note a span that has started.

        Args:
            span: the living span.
            span_id: its id.
            line: its document.
        """
        started = _Started(span, self._note)
        started.span_id = span_id
        started.line = line
        # Whoever replaces the file takes the open spans with it. So a span is among them first.
        self._open[span_id] = started
        gate, thread = self.gate, get_ident()
        inside = gate.inside
        if thread not in inside:
            inside[thread] = True
            try:
                file = self._file
                may_append = file is not None and not gate.is_closed and file.size <= self._limit
                if file is not None and may_append and file.append_beside(*line):
                    return
            except OSError as error:
                let_through(error)  # others: once more below, where that is dealt with
            finally:
                inside.pop(thread, None)
        with gate.lock:
            if self._file is None and (span.start_time or 0) < self._retry_ns:
                return
            try:
                self._append(*line)
            except OSError as error:
                let_through(error)
                self._retry_ns = (span.start_time or 0) + _PATIENCE_NS
                self._report(error)

    def sent(self, signal: Signal, mark: SentMark) -> None:
        """Note up to where a spool has been sent. Without the note that is sent again after a kill.

        To be called without the lock of that spool.
        """
        line = sent_line(signal, mark)
        with self.gate.lock:
            self._sent[signal] = line
            if self._file is not None:
                with ignoring(OSError):  # no room
                    self._append(line)

    def holds(self, span_id: int) -> bool:
        """True for a span of this process that has started and is open."""
        return span_id in self._open

    def dropped(self) -> Iterator[tuple[int, bytes]]:
        """Yield ids and documents of the spans that were dropped without an end.

        Each has to have ended before the next one is asked for; one that has not comes again.
        """
        while self.dropped_spans:
            started = self.dropped_spans[0]
            if self._open.get(started.span_id) is started:
                yield started.span_id, b"".join(started.line)
            self.dropped_spans.popleft()

    def open_spans(self) -> list[ReadableSpan]:
        """Return the spans that are open and still in memory."""
        return [span for started in list(self._open.values()) if (span := started()) is not None]

    @property
    def size(self) -> int:
        """Bytes that writing the file anew takes."""
        return sum(sum(map(len, started.line)) for started in list(self._open.values()))

    def rewrite(self) -> bool:
        """Leave only what is open in the file; False if that is not possible now."""
        with self.gate.alone() as alone:
            if self._file is None:
                return True
            if not alone:
                return False
            try:
                self._file = self._file.replace(self._contents)
            except OSError as error:
                let_through(error)
                self._report(error)
                return False
            self._limit = self._file.size + _GROWN
            return True

    def forget_ended(self) -> None:
        """Leave no ended span in the file; where there is no room for a new one, no span at all."""
        with self.gate.alone():
            if not self.rewrite() and self._file is not None:
                with ignoring(OSError):
                    self._file.truncate(self._first)

    def close(self, keep: bool = False) -> None:
        """Remove the file; `keep` leaves its first line, for whoever sends what is spooled."""
        with self.gate.alone() as alone:
            self._open.clear()
            if keep:
                self.rewrite()
            file, self._file = self._file, None
            if file is not None:
                if not keep:
                    file.unlink()
                if alone:
                    file.close()

    def begin(self, now_ns: int) -> None:
        """Make the file, if there is none: it shows others that this process lives."""
        if self._file is None and now_ns >= self._retry_ns:
            try:
                self._make()
            except OSError as error:
                let_through(error)
                self._retry_ns = now_ns + _PATIENCE_NS
                self._report(error)

    def look(self, now_ns: int) -> None:
        """Write the file again if somebody has deleted it, and lock it again if it was closed."""
        if self._file is not None:
            try:
                self._file.look()
                if self.gate.is_crowded:
                    self._file.keep_lock()
            except OSError as error:
                let_through(error)
                self._forget()
                self.begin(now_ns)

    def _append(self, *line: bytes) -> None:
        try:
            if self._file is None:
                self._make()  # the line is among what is open
            else:
                self._file.append(*line)
        except FileReplaced:
            self._forget()
            self._make()
        if self._file is not None and self._file.size > self._limit:
            self._limit = self._file.size + _GROWN
            self.rewrite()

    def _make(self) -> None:
        self._file = self._place.put(SUFFIX, self._contents, self.gate)

    def _forget(self) -> None:
        file, self._file = self._file, None
        with self.gate.alone() as alone:
            if file is not None and alone:
                file.close()

    def _contents(self, inode: int) -> bytes:
        part = self._part()
        first = {
            "journal": _VERSION if part == 1 else _VERSION_OF_PARTS,
            "spool": _SPOOL_VERSION,
            "inode": inode,
            "destination": self._destination,
            "protocol": self._protocol,
            "signal": self._signal,
            "exact": self._exact,
            **({"also": self._also} if self._also else {}),
            **(
                {"from": self._ended_up_to()}
                if part == 1
                else {"part": part, "part_from": self._ended_up_to()}
            ),
            "pid": os.getpid(),
        }
        line = orjson.dumps(first) + b"\n"
        self._first = len(line)
        lines = [line, *self._sent.values()]
        for started in list(self._open.values()):
            lines += started.line
        return b"".join(lines)

    def _report(self, error: OSError) -> None:
        if not self._failed:
            self._failed = True
            # A recording in the same folder says the same for itself.
            _log.log(
                logging.WARNING if self._protocol else logging.DEBUG,
                "there is no journal in %s (%s): spans that are open when this process is killed "
                "are lost; hint: set %s to a folder with room that can be written, or %s=off",
                self._place.folder,
                error.strerror or error,
                environment.FOLDER,
                environment.JOURNAL,
            )

    def _forked(self) -> None:
        """Start empty in a child: what is open belongs to the parent, and its file too."""
        self.gate.renew()
        self.of_parent = self.of_parent | frozenset(self._open)
        self._open.clear()
        self._sent = {}
        self.dropped_spans.clear()
        self._forget()
