"""An OTLP/HTTP receiver that keeps spans and log records apart, as OTLP/JSON."""

from __future__ import annotations

import base64
import gzip
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from typing import Any

from google.protobuf import json_format  # type: ignore[import-untyped] # no stubs
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.coding_agents.agent import Json

__all__ = ["Receiver"]


class Receiver:
    """The server; it runs from its construction until `stop`."""

    def __init__(self) -> None:
        self.spans: list[Json] = []
        """Exports of spans, in the order of their arrival."""
        self.logs: list[Json] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: Any) -> None:
                """Stay silent."""

            def do_POST(self) -> None:
                body = _body(self)
                is_json = "json" in (self.headers.get("content-type") or "")
                if self.path.endswith("traces"):
                    receiver.spans.append(_decoded(body, is_json, ExportTraceServiceRequest()))
                elif self.path.endswith("logs"):
                    receiver.logs.append(_decoded(body, is_json, ExportLogsServiceRequest()))
                answer = b"{}" if is_json else b""
                self.send_response(200)
                self.send_header("content-type", self.headers.get("content-type") or "")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        self._server = _Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):  # a client that is killed is no news
            super().handle_error(request, client_address)


def _body(handler: BaseHTTPRequestHandler) -> bytes:
    headers = handler.headers
    if headers.get("transfer-encoding") == "chunked":
        body = b"".join(_chunks(handler.rfile))
    else:
        body = handler.rfile.read(int(headers.get("content-length") or 0))
    return gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body


def _chunks(file: BufferedIOBase) -> Iterator[bytes]:
    while size := int(file.readline().partition(b";")[0], 16):
        yield file.read(size)
        file.readline()
    file.readline()


def _decoded(body: bytes, is_json: bool, message: Any) -> Json:
    if is_json:
        document: Json = json.loads(body)
        return document
    message.ParseFromString(body)
    result: Json = _with_hex_ids(json_format.MessageToDict(message, use_integers_for_enums=True))
    return result


_IDS = ("traceId", "spanId", "parentSpanId")


def _with_hex_ids(value: Any) -> Any:
    """Return protobuf's JSON as OTLP/JSON, whose ids are hex."""
    if isinstance(value, list):
        return [_with_hex_ids(item) for item in value]
    if isinstance(value, dict):
        return {
            key: base64.b64decode(item).hex() if key in _IDS else _with_hex_ids(item)
            for key, item in value.items()
        }
    return value
