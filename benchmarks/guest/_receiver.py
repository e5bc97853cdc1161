"""Takes the spans of any SDK on the loopback interface: OTLP/HTTP, and LangSmith's own batches."""

from __future__ import annotations

import gzip
import json
import threading
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Receiver", "Seen"]


@dataclass(slots=True)
class Seen:
    """A span as it arrived, in terms that every SDK has."""

    name: str
    span_id: str
    parent_id: str | None = None
    trace_id: str = ""
    duration_s: float = 0.0
    ended: bool = True
    status: str = "UNSET"
    """`UNSET`, `OK` or `ERROR`."""
    texts: list[str] = field(default_factory=list[str])
    """Every value of its attributes and events, as text."""

    def holds(self, text: str) -> bool:
        return any(text in each for each in self.texts)

    @property
    def size(self) -> int:
        """Characters of the longest value."""
        return max(map(len, self.texts), default=0)


_LANGSMITH = {
    "version": "0.10.0",
    "batch_ingest_config": {
        "use_multipart_endpoint": False,  # its plain form is the one read here
        "size_limit": 100,
        "size_limit_bytes": 20 << 20,
        "scale_up_nthreads_limit": 16,
        "scale_up_qsize_trigger": 1000,
        "scale_down_nempty_trigger": 4,
    },
}
"""Capabilities of a LangSmith server; the figures are the defaults of its client."""


class Receiver:
    """Accepts everything while it is open; `spans` is complete once it is closed."""

    def __init__(self) -> None:
        self._otlp: list[bytes] = []
        self._runs: list[dict[str, Any]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                packed: dict[str, Callable[[bytes], bytes]] = {
                    "gzip": gzip.decompress,
                    "deflate": zlib.decompress,
                }
                packing = self.headers.get("content-encoding", "")
                receiver._take(self.path, packed[packing](body) if packing in packed else body)
                self._answer(b"{}" if self.path.endswith("batch") else b"")

            def do_GET(self) -> None:
                self._answer(json.dumps(_LANGSMITH).encode())

            def _answer(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                return None

        class Server(ThreadingHTTPServer):
            daemon_threads = False  # so that closing waits for what is being sent

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Ignore senders that are killed while they send, which some cases are about."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Receiver:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Read the requests that are still on their way, and stop."""
        self._server.shutdown()
        self._server.server_close()

    def spans(self) -> list[Seen]:
        """Return the arrived spans; a span that arrived twice, once."""
        spans = {span.span_id: span for body in self._otlp for span in _otlp(body)}
        return [*spans.values(), *_runs(self._runs)]

    def _take(self, path: str, body: bytes) -> None:
        if path.endswith("/traces"):
            self._otlp.append(body)
        elif path.endswith("/runs/batch"):
            batch = json.loads(body)
            self._runs += [*batch.get("post", []), *batch.get("patch", [])]


def _otlp(body: bytes) -> Iterable[Seen]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest.FromString(body)
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                attributes = [*span.attributes, *(a for e in span.events for a in e.attributes)]
                yield Seen(
                    name=span.name,
                    span_id=span.span_id.hex(),
                    parent_id=span.parent_span_id.hex() or None,
                    trace_id=span.trace_id.hex(),
                    duration_s=(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
                    status=("UNSET", "OK", "ERROR")[span.status.code],
                    texts=[_text(attribute.value) for attribute in attributes],
                )


def _text(value: Any) -> str:
    return value.string_value if value.HasField("string_value") else str(value)


def _runs(changes: Iterable[dict[str, Any]]) -> list[Seen]:
    runs: dict[str, dict[str, Any]] = {}
    for change in changes:
        values = {name: value for name, value in change.items() if value is not None}
        runs.setdefault(change["id"], {}).update(values)
    return [
        Seen(
            name=run.get("name", ""),
            span_id=identity,
            parent_id=run.get("parent_run_id"),
            trace_id=run.get("trace_id", ""),
            duration_s=_seconds(run["start_time"], run["end_time"]) if "end_time" in run else 0.0,
            ended="end_time" in run,
            status="ERROR" if run.get("error") else "UNSET",
            texts=[json.dumps(run.get(part), ensure_ascii=False) for part in ("inputs", "outputs")],
        )
        for identity, run in runs.items()
    ]


def _seconds(start: str, end: str) -> float:
    first, last = (
        datetime.fromisoformat(text.replace("Z", "+00:00")).replace(tzinfo=timezone.utc)
        for text in (start, end)
    )
    return (last - first).total_seconds()
