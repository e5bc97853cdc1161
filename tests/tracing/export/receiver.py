"""OTLP receivers on this machine: they keep their requests, as protobuf."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
from collections.abc import Callable
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

Reply = tuple[int, dict[str, str], bytes]
"""Status, headers and body."""


class HttpReceiver:
    """Takes OTLP/HTTP protobuf; refuses requests above `limit` bytes, as real receivers do.

    Args:
        limit: bytes of a request.
        status: of every reply.
        reply: decides for each request, instead.
        lacks: a path it has nothing at, as Jaeger at `/v1/logs`.
        tls: speaks TLS, as `localhost`.
        keeps: keeps connections open after a reply.
        host: the address to listen at.
        port: any that is free if none is given.
    """

    def __init__(
        self,
        limit: int = 20 << 20,
        status: int = 200,
        reply: Callable[[bytes], Reply] | None = None,
        lacks: str = "",
        tls: ssl.SSLContext | None = None,
        keeps: bool = False,
        host: str = "127.0.0.1",
        port: int = 0,
    ):
        self.bodies: dict[str, list[bytes]] = {}
        self.headers: list[dict[str, str]] = []
        self.refused = 0
        self.paths: list[str] = []
        self._request = threading.local()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1" if keeps else "HTTP/1.0"

            def do_POST(self) -> None:
                receiver.paths.append(self.path)
                receiver._request.path = self.path
                receiver.headers.append({k.lower(): v for k, v in self.headers.items()})
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                usual: Reply = (413 if len(body) > limit else status, {}, b"")
                if self.path == lacks:
                    usual = (404, {}, b"")
                code, headers, answer = usual if reply is None else reply(body)
                if code == 200:
                    path = self.path.partition("?")[0]
                    receiver.bodies.setdefault(path, []).append(body)
                else:
                    receiver.refused += 1
                self.send_response(code)
                for name, value in {**headers, "content-length": str(len(answer))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: Any) -> None:
                return None

        class Server(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

            def handle_error(self, request: Any, client_address: Any) -> None:
                return None  # senders are killed in these tests

        self._server = Server((host, port), Handler)
        named = f"[{host}]" if ":" in host else host
        self.endpoint = f"http://{named}:{self._server.server_port}"
        if tls is not None:
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
            self.endpoint = f"https://localhost:{self._server.server_port}"

    @property
    def path(self) -> str:
        """The path of the request that a reply is decided for. Others may come at the same time."""
        path: str = self._request.path
        return path

    def __enter__(self) -> HttpReceiver:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def names(self) -> list[str]:
        return [name for body in self.bodies.get("/v1/traces", []) for name in names_in(body)]

    def logs(self) -> list[Any]:
        """The log records that arrived."""
        requests = map(ExportLogsServiceRequest.FromString, self.bodies.get("/v1/logs", []))
        groups = [group for request in requests for group in request.resource_logs]
        return [record for group in groups for scope in group.scope_logs
                for record in scope.log_records]  # fmt: skip


class GrpcReceiver:
    """Takes OTLP/gRPC.

    Args:
        tls: server credentials with which it speaks TLS, as `localhost`.
        port: any that is free if none is given.
        limit: bytes of a request.
    """

    def __init__(self, tls: Any = None, port: int = 0, limit: int = 4 << 20) -> None:
        import grpc
        from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc

        service: Any = trace_service_pb2_grpc  # generated without types
        log_service: Any = logs_service_pb2_grpc

        self.requests: list[bytes] = []
        self.log_requests: list[bytes] = []
        self.metadata: list[tuple[str, str]] = []
        receiver = self

        class Servicer(service.TraceServiceServicer):  # type: ignore[misc]  # untyped, generated
            def Export(self, request: Any, context: Any) -> Any:
                receiver.requests.append(request.SerializeToString())
                receiver.metadata += context.invocation_metadata()
                return ExportTraceServiceResponse()

        class LogServicer(log_service.LogsServiceServicer):  # type: ignore[misc]  # the same
            def Export(self, request: Any, context: Any) -> Any:
                receiver.log_requests.append(request.SerializeToString())
                return logs_service_pb2.ExportLogsServiceResponse()

        options = [("grpc.max_receive_message_length", limit)]
        self._server = grpc.server(futures.ThreadPoolExecutor(1), options=options)
        service.add_TraceServiceServicer_to_server(Servicer(), self._server)
        log_service.add_LogsServiceServicer_to_server(LogServicer(), self._server)
        if tls is None:
            port = self._server.add_insecure_port(f"127.0.0.1:{port}")
            self.endpoint = f"grpc://127.0.0.1:{port}"
        else:
            port = self._server.add_secure_port("127.0.0.1:0", tls)
            self.endpoint = f"grpcs://localhost:{port}"

    def __enter__(self) -> GrpcReceiver:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(0)

    def names(self) -> list[str]:
        return [name for body in self.requests for name in names_in(body)]


def spans_in(body: bytes) -> list[Any]:
    """Return the spans of a request."""
    request = ExportTraceServiceRequest.FromString(body)
    groups = [scope for resource in request.resource_spans for scope in resource.scope_spans]
    return [span for scope in groups for span in scope.spans]


def names_in(body: bytes) -> list[str]:
    """Return the names of the spans of a request."""
    return [span.name for span in spans_in(body)]
