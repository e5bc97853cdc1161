"""One attempt to send one OTLP request, and its outcome at the receiver.

The official exporters repeat attempts by themselves, log each of them in the user's program, and
do not report whether a request was too large, came too soon or was accepted in part. What follows
depends on just that, so these send once and return what happened. They read the same
`OTEL_EXPORTER_OTLP_*` otlp_variables.

Spec: opentelemetry-proto 1.9, docs/specification.md (failures, throttling, partial success).
"""

from __future__ import annotations

import gzip
import http.client
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import SplitResult

import msgspec
from msgspec.structs import force_setattr

from agentool_otel.errors import ConfigurationError
from agentool_otel.ground import otlp_settings
from agentool_otel.ground.environment import Signal
from agentool_otel.ground.interruptions import let_through
from agentool_otel.ground.ownership import Identity, identity
from agentool_otel.ground.retry_after import retry_after_s
from agentool_otel.ground.untrusted_text import line
from agentool_otel.ground.urls import without_credentials
from agentool_otel.ground.version import __version__
from agentool_otel.otlp.varints import from_bytes
from agentool_otel.tracing.export import otlp_variables
from agentool_otel.tracing.export.send.connection import Route, Tls, basic, connect, split
from agentool_otel.tracing.export.send.deadline import Deadline

if TYPE_CHECKING:
    from agentool_otel.tracing.export.send.otlp import OtlpTarget

__all__ = ["Answer", "GrpcSender", "HttpSender", "Sender"]

_SERVICES = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "metrics": "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
}
_BODY = 64 << 10
"""Most bytes of an answer that are read."""
_WORDS = 200
"""Characters of a reason."""
_LONGEST_S = 3600.0
"""Longest accepted wait of a receiver's `Retry-After`: a longer one may be a mistake or too much
for a clock, and a retry after an hour is no burden.
"""


class Answer(msgspec.Struct, frozen=True):
    """Outcome of a request."""

    verdict: Literal["accepted", "invalid", "too_large", "later"]
    """`invalid` and `too_large` are about these spans and final for them; `later` is about the
    receiver or the way to it."""
    reason: str = ""
    """In the receiver's words, as one line."""
    retry_after_s: float | None = None
    """Seconds until the receiver accepts another request; None if it does not specify any."""
    rejected: int = 0
    """Spans of an accepted request that the receiver did not take."""
    unknown: bool = False
    """The receiver has nothing that takes this signal, or is addressed wrongly."""
    late: bool = False
    """The receiver did not answer in time."""

    def __post_init__(self) -> None:
        force_setattr(self, "reason", line(self.reason, _WORDS))


class Sender(Protocol):
    """Sends requests to one place; one thread at a time."""

    limit: int
    """Bytes a request may have, below what receivers usually take."""

    def send(self, request: bytes, timeout_s: float) -> Answer:
        """Make one attempt, which is over by that time whatever the receiver does.

        Whatever goes wrong on the way is an answer, not an exception.
        """
        ...

    def close(self) -> None:
        """End the connection; the next `send` makes a new one."""
        ...


class HttpSender:
    """OTLP/HTTP with protobuf, over one connection that is kept open."""

    limit = 15_000_000  # receivers usually refuse above 20 MiB

    def __init__(self, target: OtlpTarget, signal: Signal = "traces"):
        endpoint = target.url(signal) or otlp_variables.endpoint(signal)
        url = split(endpoint)
        if url is None or url.scheme not in ("http", "https"):
            shown = without_credentials(endpoint)
            raise ConfigurationError(f"endpoint {shown!r} is not a URL: use http://host:4318")
        self._url = url
        self._headers = {
            "content-type": "application/x-protobuf",
            "user-agent": f"agentool-otel/{__version__}",
            **({} if target.bare else otlp_variables.headers(signal)),
        }
        if self._url.username and "authorization" not in self._headers:
            self._headers["authorization"] = basic(self._url.username, self._url.password)
        self._compression = otlp_variables.compression(signal, "http/protobuf")
        self._tls = Tls(None if target.bare else signal)
        self._bare = target.bare
        self._route: Route | None = None
        self._socket: Identity | None = None
        """Identity of the socket."""

    def send(self, request: bytes, timeout_s: float) -> Answer:
        headers = dict(self._headers)
        if self._compression == "gzip":
            request, headers["content-encoding"] = gzip.compress(request, 1), "gzip"
        elif self._compression == "deflate":
            request, headers["content-encoding"] = zlib.compress(request, 1), "deflate"
        reused = self._is_connected()
        deadline = Deadline(timeout_s)
        try:
            return self._attempt(request, headers, deadline)
        except Exception as error:  # the reply may be anything
            self.close()
            let_through(error)
            # A receiver may close a connection that rests, and that shows only now.
            if not reused or isinstance(error, TimeoutError):
                return _answer_of(error)
        try:
            return self._attempt(request, headers, deadline)
        except Exception as error:
            self.close()
            let_through(error)
            return _answer_of(error)

    def _attempt(self, request: bytes, headers: Mapping[str, str], deadline: Deadline) -> Answer:
        route = self._route = self._route or connect(self._url, self._tls, proxies=not self._bare)
        connection = route.connection
        connection.deadline = deadline
        connection.request("POST", route.path, request, {**headers, **route.headers})
        with connection.getresponse() as response:
            body = response.read(_BODY)
            if response.read(1):
                self.close()
            elif connection.sock is not None:
                self._socket = identity(connection.sock.fileno())
            return _http_answer(response.status, response.reason, response.headers, body)

    def _is_connected(self) -> bool:
        """Return whether there is a connection that can be reused.

        The program may have closed its descriptor, and opened a socket of its own under the number:
        then nothing is sent there, and it is not closed either.
        """
        route = self._route
        if route is None:
            return False
        socket = route.connection.sock
        if socket is not None and identity(socket.fileno()) != self._socket:
            socket.detach()
            route.connection.sock = None
            self._route = None
        return self._route is not None

    def close(self) -> None:
        if self._is_connected() and self._route is not None:
            self._route.connection.close()
        self._route = None


class GrpcSender:
    """OTLP/gRPC."""

    limit = 3_500_000  # receivers refuse above 4 MiB by default

    def __init__(self, target: OtlpTarget, signal: Signal = "traces"):
        import grpc

        self._grpc: Any = grpc
        endpoint = (
            target.endpoint or otlp_settings.value("ENDPOINT", signal) or "http://localhost:4317"
        )
        parts = split(endpoint) or SplitResult("", "", endpoint, "", "")
        insecure = parts.scheme == "http"
        if parts.scheme not in ("http", "https"):
            insecure = otlp_settings.value("INSECURE", signal).lower() == "true"
        where = (parts.netloc or endpoint).rpartition("@")[2]
        gzipped = otlp_variables.compression(signal, "grpc") == "gzip"
        options: dict[str, Any] = {
            "options": [
                ("grpc.primary_user_agent", f"agentool-otel/{__version__}"),
                ("grpc.enable_http_proxy", int(not target.bare)),
            ],
            "compression": grpc.Compression.Gzip if gzipped else grpc.Compression.NoCompression,
        }
        self._connect: Callable[[], Any]
        if insecure:
            self._connect = partial(self._grpc.insecure_channel, where, **options)
        else:
            credentials = Tls(None if target.bare else signal).grpc_credentials(grpc)
            self._connect = partial(self._grpc.secure_channel, where, credentials, **options)
        self._service = _SERVICES[signal]
        self._metadata = () if target.bare else tuple(otlp_variables.headers(signal).items())
        self._channel: Any = None
        self._call: Any = None

    def send(self, request: bytes, timeout_s: float) -> Answer:
        if self._channel is None:  # made late: a channel has threads, and does not survive a fork
            self._channel = self._connect()
            self._call = self._channel.unary_unary(self._service)
        try:
            body = self._call(request, timeout=timeout_s, metadata=self._metadata)
        except self._grpc.RpcError as error:
            return self._answer(error)
        return _accepted_answer(body)

    def _answer(self, error: Any) -> Answer:
        code, details = error.code(), str(error.details() or "")
        reason = f"{code.name}: {details}".rstrip(": ")
        codes = self._grpc.StatusCode
        if code is codes.RESOURCE_EXHAUSTED and "larger than max" in details:
            return Answer("too_large", reason)
        if code in (codes.INVALID_ARGUMENT, codes.OUT_OF_RANGE, codes.DATA_LOSS):
            return Answer("invalid", reason)
        wait_s = _bounded_wait(_grpc_retry_after(error))
        unknown, late = code is codes.UNIMPLEMENTED, code is codes.DEADLINE_EXCEEDED
        return Answer("later", reason, wait_s, unknown=unknown, late=late)

    def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()


def _http_answer(status: int, phrase: str, headers: http.client.HTTPMessage, body: bytes) -> Answer:
    if 200 <= status < 300:
        return _accepted_answer(body)
    reason = f"HTTP {status} {phrase}".rstrip()
    if status == 413:
        return Answer("too_large", reason)
    if status in (400, 422):
        return Answer("invalid", reason)
    # The rest is about the receiver (429, 5xx) or about how it is addressed (401, 403, 404): the
    # spans are not at fault and are kept until it is mended.
    wait_s = _bounded_wait(retry_after_s(headers.get("retry-after")))
    return Answer("later", reason, wait_s, unknown=status in (404, 405, 501))


def _accepted_answer(body: bytes) -> Answer:
    if not body:
        return Answer("accepted")
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # no stubs
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    # The responses of all signals have the same members under the same tags.
    try:
        partial = ExportTraceServiceResponse.FromString(body).partial_success
    except DecodeError:  # a receiver that answers 200 in its own words
        return Answer("accepted")
    return Answer("accepted", partial.error_message, rejected=partial.rejected_spans)


def _bounded_wait(seconds: float | None) -> float | None:
    return None if seconds is None else min(max(0.0, seconds), _LONGEST_S)


def _grpc_retry_after(error: Any) -> float | None:
    """Return the delay in seconds of an error's RetryInfo, or None.

    Field 1 of a RetryInfo is a Duration, whose field 1 is the seconds.

    Spec: google/rpc/error_details.proto, carried in the trailer `grpc-status-details-bin`.
    """
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        _, marker, remainder = bytes(value).partition(
            b"type.googleapis.com/google.rpc.RetryInfo\x12"
        )
        if marker and len(remainder) > 4 and remainder[1] == 0x0A and remainder[3] == 0x08:
            with suppress(ValueError):
                return float(from_bytes(remainder, 4)[0])
    return None


def _answer_of(error: Exception) -> Answer:
    return Answer("later", _reason_of(error), late=isinstance(error, TimeoutError))


def _reason_of(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, http.client.InvalidURL):  # whose words quote it, with its credentials
        return "the URL has characters that a URL cannot have"
    strerror = getattr(error, "strerror", None)
    return str(strerror or error) or type(error).__name__
