"""Log records on standard output, as OTLP/JSON lines, for `OTEL_LOGS_EXPORTER=console`."""

from __future__ import annotations

import sys
from contextlib import suppress

from agentool_otel.ground.untrusted_text import in_json
from agentool_otel.otlp.json_encoder import encode_log
from agentool_otel.otlp.log_record import LogRecord
from agentool_otel.tracing.export.disk.files import renew_after_fork

__all__ = ["PrintedLogs"]


class PrintedLogs:
    """Prints log records; one that cannot be printed is dropped."""

    def __init__(self) -> None:
        self.spooled = self.refused = 0
        self._begin()
        renew_after_fork(self._begin)

    def _begin(self) -> None:
        self.delivered = self.dropped = 0

    def put(self, record: LogRecord) -> None:
        try:
            sys.stdout.write(in_json(encode_log(record).decode()) + "\n")
        except (OSError, ValueError):  # the output is closed, or cannot say a character
            self.dropped += 1
        else:
            self.delivered += 1

    def flush(self, timeout_s: float) -> bool:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        return True

    def close(self, timeout_s: float) -> None:
        self.flush(timeout_s)
