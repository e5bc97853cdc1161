"""The local recording: finished spans appended to OTLP/JSON lines, one file per process.

The lines have the shape of the Collector's file exporter, so every OTLP tool reads them. A batch is
one write of whole lines, so a process that is killed afterwards has lost nothing of it.
"""

from __future__ import annotations

# After a fork the SDK's TracerProvider starts threads in its at-fork hook. Unless this module was
# there before the provider, its lock is still held then and the child hangs (seen with SDK 1.45).
import concurrent.futures.thread  # noqa: F401 # pyright: ignore[reportUnusedImport]
import logging
import os
import platform
import re
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agentool_otel.export._otlp_json import encode_spans

__all__ = ["RecordingExporter"]

_log = logging.getLogger(__name__)


class RecordingExporter(SpanExporter):
    """Appends spans to `traces-<host>-<pid>-<start>.jsonl` in a folder.

    The file, and the folder where needed, appear with the first span, readable by their owner only:
    a recording holds what users said. A forked process continues in a file of its own, and a file
    that was deleted or moved away is replaced by a new one. May be called from several threads.

    Args:
        folder: where to record; by default `AGENTOOL_DIR`, or `.agentool` in the current folder.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None):
        self.folder = Path(folder or os.environ.get("AGENTOOL_DIR") or ".agentool").absolute()
        self.path: Path | None = None
        """The file of this process, None before its first span."""
        self._file: int | None = None
        self._owner = 0  # the process that opened the file
        self._torn = False  # the last write ended inside a line
        self._failed = False
        self._shut_down = False
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            renew = weakref.WeakMethod(self._renew_lock)
            os.register_at_fork(after_in_child=lambda: (method := renew()) and method())

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Append the spans; on return the operating system has them."""
        if self._shut_down:
            return SpanExportResult.FAILURE
        if not spans:
            return SpanExportResult.SUCCESS
        line = encode_spans(spans) + b"\n"
        with self._lock:
            try:
                self._write(line)
            except OSError as error:
                if not self._failed:
                    _log.error("spans cannot be recorded in %s: %s", self.folder, error)
                self._failed = True
                return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return True: nothing is held back."""
        return True

    def shutdown(self) -> None:
        """Close the file. Spans that come later are refused."""
        self._shut_down = True
        with self._lock:
            self._close()

    def _write(self, line: bytes) -> None:
        file = self._open()
        rest = memoryview(b"\n" + line if self._torn else line)
        while rest:
            written = os.write(file, rest)
            self._torn = True
            rest = rest[written:]
        self._torn = False

    def _open(self) -> int:
        """Return the file of this process, a new one after a fork and after it was deleted."""
        if self._file is not None:
            if self._owner == os.getpid() and os.fstat(self._file).st_nlink:
                return self._file
            self._close()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._owner = os.getpid()
        host = re.sub(r"[^\w.-]+", "_", platform.node()) or "host"
        now = time.time_ns()
        start = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now // 1_000_000_000))
        name = f"traces-{host}-{self._owner}-{start}.{now % 1_000_000_000:09}.jsonl"
        self.path = self.folder / name
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._torn = False
        return self._file

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def _renew_lock(self) -> None:
        self._lock = threading.Lock()  # another thread may have held it at the moment of the fork
