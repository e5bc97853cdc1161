"""The local recording: ended spans and log records appended to OTLP/JSON lines, a file per process.

The lines have the shape of the Collector's file exporter, so every OTLP tool reads them. A line is
one write, so a process that is killed afterwards has lost nothing of it.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agentool_otel.ground.counters import Counter
from agentool_otel.ground.interruptions import ignoring, let_through
from agentool_otel.ground.recording_names import RECORDING_SUFFIX, part_suffix
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.otlp.json_encoder import Line, encode_log, encode_spans, span_line
from agentool_otel.otlp.span_parts import JsonParts
from agentool_otel.tracing.export.disk.files import (
    AppendFile,
    FileReplaced,
    RecordingDir,
    renew_after_fork,
)
from agentool_otel.tracing.export.disk.gate import Gate, OpenFile

if TYPE_CHECKING:
    from agentool_otel.otlp.log_record import LogRecord

__all__ = ["SUFFIX", "RecordedLogs", "RecordingExporter"]

_log = logger(__name__)

SUFFIX = RECORDING_SUFFIX
_WAITING = 8 << 20
"""Bytes held back for a disk that is full or cannot be written; what comes beyond is dropped."""
_PATIENCE_NS = 1_000_000_000


class _Counts(Protocol):
    """Of one signal, how many were recorded, wait for the disk and were lost."""

    appended: int
    spooled: int
    dropped: int


class RecordingExporter(SpanExporter):
    """Appends spans to `traces-<host>-<pid>-<start>.jsonl` in a folder.

    The file, and the folder where needed, appear with the first span, readable by their owner only:
    a recording holds what users said. A forked process continues in a file of its own, and a file
    that was deleted is replaced by a new one. With a limit the recording continues in further files
    (`rotate`). May be called from several threads.

    Args:
        folder: where to record; by default `AGENTOOL_DIR`, or `.agentool` in the current folder.
        gate: the threads that append to the open file at once, if several do.
    """

    parts = JsonParts

    def __init__(
        self,
        folder: str | os.PathLike[str] | RecordingDir | None = None,
        gate: Gate | None = None,
    ):
        self.place = folder if isinstance(folder, RecordingDir) else RecordingDir(folder)
        self.path: Path | None = None
        """The file of this process, None before its first span."""
        self.part = 1
        """The number of that file in the recording."""
        self.open = OpenFile()
        """The file, unless spans wait for the disk: these come first."""
        self.appended = 0
        self.spooled = 0
        """Spans that wait for the disk."""
        self.dropped = 0
        self.refused = 0
        self.gate = Gate() if gate is None else gate
        self._file: AppendFile | None = None
        self._waiting: deque[tuple[bytes, _Counts]] = deque()
        self._waiting_bytes = 0
        self._retry_ns = 0
        self._reported = False
        self._shut_down = False
        renew_after_fork(self._forked)

    @property
    def folder(self) -> Path:
        return self.place.folder

    @property
    def size(self) -> int:
        """Bytes in the present file."""
        return 0 if self._file is None else self._file.size

    def end(self) -> int:
        """Return the bytes in the present file, whatever other threads have written."""
        with ignoring(OSError):
            if self._file is not None:
                self._file.look()
        return self.size

    def put(self, span: ReadableSpan) -> None:
        """Append one span. On return the operating system has it, if it takes anything at all."""
        self._put(span_line(span), span.end_time or 0, self)

    def put_encoded(self, document: Line, now_ns: int) -> None:
        """Append a span as `JsonParts` encodes it, as `put` does."""
        self._put(document, now_ns, self)

    @property
    def delivered(self) -> int:
        """Spans in the recording."""
        return self.appended + self.open.taken.value

    def encoded(self, span: ReadableSpan) -> Line:
        """Return a span as `put` encodes it."""
        return span_line(span)

    def encoded_document(self, document: bytes) -> Line:
        """Return an OTLP/JSON document of one span as `put` encodes the span."""
        return (document, b"\n")

    def put_again(self, document: Line, now_ns: int, start: int) -> bool:
        """Append a span whose `put` was interrupted, unless it is in the file; return whether it
        was not.

        Args:
            document: its encoding.
            now_ns: when it ended.
            start: the size of the file before that `put`, at most.
        """
        with self.gate.lock:
            with ignoring(OSError):
                if self._file is not None and self._file.holds(b"".join(document), start):
                    return False
            self._put(document, now_ns, self)
            return True

    def put_record(self, document: bytes, now_ns: int, counts: _Counts) -> None:
        """Append an OTLP/JSON document of one log record, which is counted apart."""
        self._put((document + b"\n",), now_ns, counts)

    def _put(self, line: Line, now_ns: int, counts: _Counts) -> None:
        with self.gate.lock:
            if self._shut_down:
                counts.dropped += 1
                return
            if not self._waiting:
                try:
                    self._append(*line)
                except OSError as error:
                    let_through(error)
                    self._retry_ns = now_ns + _PATIENCE_NS
                    self._report(error)
                else:
                    counts.appended += 1
                    return
            self._hold_back(b"".join(line), counts)
            if now_ns >= self._retry_ns:
                self._retry_ns = now_ns + _PATIENCE_NS
                self._write_waiting()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Append spans as one line; on return the operating system has them."""
        if self._shut_down:
            return SpanExportResult.FAILURE
        if not spans:
            return SpanExportResult.SUCCESS
        line = encode_spans(spans) + b"\n"
        with self.gate.lock:
            try:
                self._append(line)
            except OSError as error:
                let_through(error)
                self._report(error)
                return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def flush(self, timeout_s: float) -> bool:
        """Write what waits for the disk; False if it still cannot be written."""
        with self.gate.lock:
            return self._write_waiting()

    def close(self, timeout_s: float) -> None:
        """Close the file. Spans that come later are dropped."""
        with self.gate.lock:
            if not self._write_waiting():
                for _, counts in self._waiting:
                    counts.spooled -= 1
                    counts.dropped += 1
                self._waiting.clear()
            if self.dropped and not self._shut_down:
                lost = self.dropped
                _log.error("%s lost: %s could not be written", _were(lost, "span"), self.folder)
            self._shut_down = True
            self._close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self.flush(timeout_millis / 1000)

    def shutdown(self) -> None:
        self.close(0)

    def rotate(self) -> None:
        """Close the file; the next span begins a new one.

        With a journal, call this under its lock and between two spans, and rewrite it then: its
        position is one of the file before.
        """
        with self.gate.lock:
            if self._file is not None:
                self._close()
                self.part += 1

    def unlimit(self) -> None:
        """Let the present file grow without a limit."""
        self.open.limit, self.open.on_limit = sys.maxsize, bool

    def _open(self) -> AppendFile:
        file = self._file = self.place.open(part_suffix(self.part), self.gate)
        file.share()
        self.path = file.path
        self.open.file = None if self._waiting else file
        return file

    def _append(self, *line: bytes) -> None:
        """Write a line, into a new file if somebody has deleted ours."""
        try:
            (self._file or self._open()).append(*line)
        except FileReplaced:
            self._close()
            self._open().append(*line)
        if self._file is not None and self._file.size > self.open.limit:
            self.open.on_limit()

    def _hold_back(self, line: bytes, counts: _Counts) -> None:
        if self._waiting_bytes + len(line) > _WAITING:
            counts.dropped += 1
            return
        self.open.file = None
        self._waiting.append((line, counts))
        self._waiting_bytes += len(line)
        counts.spooled += 1

    def _write_waiting(self) -> bool:
        try:
            while self._waiting:
                line, counts = self._waiting[0]
                self._append(line)
                self._waiting.popleft()
                self._waiting_bytes -= len(line)
                counts.spooled -= 1
                counts.appended += 1
        except OSError as error:
            let_through(error)
            self._report(error)
            return False
        self.open.file = self._file
        return True

    def _report(self, error: OSError) -> None:
        if not self._reported:
            self._reported = True
            _log.error(
                "spans cannot be recorded in %s: %s; the next %d MB wait in memory for room",
                self.folder,
                error.strerror or error,
                _WAITING >> 20,
            )

    def _close(self) -> None:
        file, self._file = self._file, None
        self.open.file = None
        if file is not None:
            with self.gate.alone() as alone:
                if alone:  # else a thread hangs in a write to it
                    file.close()

    def _forked(self) -> None:
        """Begin a file of its own in a child; what waits is written by the parent."""
        self.gate.renew()
        self._waiting.clear()
        self._waiting_bytes = self.appended = self.spooled = self.dropped = 0
        self.open.taken = Counter()
        self.path = None
        self.part = 1
        self._close()


class RecordedLogs:
    """The log records in a recording: they share its file, and are counted apart."""

    def __init__(self, recording: RecordingExporter):
        self._recording = recording
        self._begin()
        renew_after_fork(self._begin)

    def _begin(self) -> None:
        self.appended = self.spooled = self.dropped = self.refused = 0

    @property
    def delivered(self) -> int:
        """Log records in the recording."""
        return self.appended

    def put(self, record: LogRecord) -> None:
        """Append one record. On return the operating system has it, as it has an ended span."""
        self._recording.put_record(encode_log(record), record.observed_ns, self)

    def flush(self, timeout_s: float) -> bool:
        return self._recording.flush(timeout_s)

    def close(self, timeout_s: float) -> None:
        """Log what was lost; the file is closed by whoever records spans into it."""
        if self.dropped:
            where = self._recording.folder
            _log.error("%s lost: %s could not be written", _were(self.dropped, "log record"), where)


def _were(count: int, noun: str) -> str:
    return f"1 {noun} was" if count == 1 else f"{count} {noun}s were"
