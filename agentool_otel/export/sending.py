"""One attempt to send one OTLP request, and what the receiver made of it.

The official exporters repeat attempts by themselves, log each of them in the user's program, and
tell nobody whether a request was too large, came too soon or was accepted in part. What follows
depends on just that, so these send once and say what happened. They read the same
`OTEL_EXPORTER_OTLP_*` variables.

Spec: opentelemetry-proto 1.9, docs/specification.md (failures, throttling, partial success).
"""

from __future__ import annotations

import email.utils
import gzip
import http.client
import os
import ssl
import time
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from opentelemetry.util.re import parse_env_headers

from agentool_otel._version import __version__
from agentool_otel.errors import ConfigurationError

if TYPE_CHECKING:
    from agentool_otel.export.otlp import OtlpTarget

__all__ = ["Answer", "GrpcSender", "HttpSender", "Sender", "Signal", "timeout_s"]

Signal = Literal["traces", "metrics", "logs"]

_TIMEOUT_S = 5.0
_SERVICES = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "metrics": "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
}
_BODY = 1 << 20
_LONGEST_S = 3600.0
"""No receiver is left alone for longer, whatever it asks for: that may be a slip or too much for a
clock, and asking again after an hour is no burden."""


class Answer(NamedTuple):
    """What became of a request."""

    verdict: Literal["accepted", "invalid", "too_large", "later"]
    """`invalid` and `too_large` are about these spans and final for them; `later` is about the
    receiver or the way to it."""
    reason: str = ""
    retry_after_s: float | None = None
    """How long the receiver wants to be left alone."""
    rejected: int = 0
    """Spans of an accepted request that the receiver did not take."""
    unknown: bool = False
    """The receiver has nothing that takes this signal, or is addressed wrongly."""


class Sender(Protocol):
    """Sends requests to one place; one thread at a time."""

    limit: int
    """Bytes a request may have, below what receivers usually take."""

    def send(self, request: bytes, timeout_s: float) -> Answer:
        """Make one attempt. Whatever goes wrong on the way is an answer, not an exception."""
        ...

    def close(self) -> None:
        """End the connection; the next `send` makes a new one."""
        ...


def _setting(name: str, signal: Signal) -> str:
    """Return `OTEL_EXPORTER_OTLP_<signal>_<name>` or `OTEL_EXPORTER_OTLP_<name>`, "" if unset."""
    for middle in (f"{signal.upper()}_", ""):
        if value := os.environ.get(f"OTEL_EXPORTER_OTLP_{middle}{name}", "").strip():
            return value
    return ""


def timeout_s(signal: Signal = "traces") -> float:
    """Return the seconds an attempt may take, as the official exporters read them."""
    value = _setting("TIMEOUT", signal)
    try:
        return float(value) if value else _TIMEOUT_S
    except ValueError as error:
        raise ConfigurationError(
            f"OTEL_EXPORTER_OTLP_TIMEOUT={value} is not a number of seconds"
        ) from error


class HttpSender:
    """OTLP/HTTP with protobuf, over one connection that is kept open."""

    limit = 15_000_000  # receivers usually refuse above 20 MiB

    def __init__(self, target: OtlpTarget, signal: Signal = "traces"):
        url = target.url(signal) or _endpoint_from_environment(signal)
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(f"endpoint {url!r} is not a URL: use http://host:4318")
        self._signal: Signal = signal
        self._secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port or (443 if self._secure else 80)
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._headers = {
            "content-type": "application/x-protobuf",
            "user-agent": f"agentool-otel/{__version__}",
            **parse_env_headers(_setting("HEADERS", signal), liberal=True),
        }
        if parts.username and "authorization" not in self._headers:
            self._headers["authorization"] = _basic(parts.username, parts.password)
        self._compression = _setting("COMPRESSION", signal).lower()
        self._connection: http.client.HTTPConnection | None = None

    def send(self, request: bytes, timeout_s: float) -> Answer:
        headers = dict(self._headers)
        if self._compression == "gzip":
            request, headers["content-encoding"] = gzip.compress(request, 1), "gzip"
        elif self._compression == "deflate":
            request, headers["content-encoding"] = zlib.compress(request, 1), "deflate"
        reused = self._connection is not None
        try:
            return self._attempt(request, headers, timeout_s)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            # A receiver may close a connection that rests, and that shows only now.
            if not reused or isinstance(error, TimeoutError):
                return Answer("later", _words(error))
        try:
            return self._attempt(request, headers, timeout_s)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            return Answer("later", _words(error))

    def _attempt(self, request: bytes, headers: Mapping[str, str], timeout_s: float) -> Answer:
        connection = self._connection or self._connect(timeout_s)
        self._connection = connection
        connection.timeout = timeout_s
        if connection.sock is not None:
            connection.sock.settimeout(timeout_s)
        connection.request("POST", self._path, request, dict(headers))
        with connection.getresponse() as response:
            body = response.read(_BODY)
            if response.read(1):
                self.close()
            return _http_answer(response.status, response.reason, response.headers, body)

    def _connect(self, timeout_s: float) -> http.client.HTTPConnection:
        scheme = "https" if self._secure else "http"
        proxy = None if proxy_bypass(self._host) else getproxies().get(scheme)
        host, port, via = self._host, self._port, None
        if proxy:
            via = urlsplit(proxy if "//" in proxy else f"//{proxy}")
            host, port = via.hostname or host, via.port or 80
        connection: http.client.HTTPConnection
        if self._secure:
            connection = http.client.HTTPSConnection(
                host, port, timeout=timeout_s, context=_tls_context(self._signal)
            )
        else:
            connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
        if via is not None:
            tunnel: dict[str, str] = {}
            if via.username:
                tunnel["proxy-authorization"] = _basic(via.username, via.password)
            connection.set_tunnel(self._host, self._port, tunnel)
        return connection

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class GrpcSender:
    """OTLP/gRPC."""

    limit = 3_500_000  # receivers refuse above 4 MiB unless told otherwise

    def __init__(self, target: OtlpTarget, signal: Signal = "traces"):
        import grpc

        self._grpc: Any = grpc
        endpoint = target.endpoint or _setting("ENDPOINT", signal) or "http://localhost:4317"
        parts = urlsplit(endpoint)
        insecure = parts.scheme == "http"
        if parts.scheme not in ("http", "https"):
            insecure = _setting("INSECURE", signal).lower() == "true"
        where = parts.netloc or endpoint
        gzipped = _setting("COMPRESSION", signal).lower() == "gzip"
        options: dict[str, Any] = {
            "options": [("grpc.primary_user_agent", f"agentool-otel/{__version__}")],
            "compression": grpc.Compression.Gzip if gzipped else grpc.Compression.NoCompression,
        }
        self._connect: Callable[[], Any]
        if insecure:
            self._connect = partial(self._grpc.insecure_channel, where, **options)
        else:
            credentials = _grpc_credentials(grpc, signal)
            self._connect = partial(self._grpc.secure_channel, where, credentials, **options)
        self._service = _SERVICES[signal]
        self._metadata = tuple(parse_env_headers(_setting("HEADERS", signal), liberal=True).items())
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
        return _accepted(body)

    def _answer(self, error: Any) -> Answer:
        code, details = error.code(), str(error.details() or "")
        reason = f"{code.name}: {details}".rstrip(": ")
        codes = self._grpc.StatusCode
        if code is codes.RESOURCE_EXHAUSTED and "larger than max" in details:
            return Answer("too_large", reason)
        if code in (codes.INVALID_ARGUMENT, codes.OUT_OF_RANGE, codes.DATA_LOSS):
            return Answer("invalid", reason)
        unknown = code is codes.UNIMPLEMENTED
        return Answer("later", reason, _bounded(_grpc_retry_after(error)), unknown=unknown)

    def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()


def _http_answer(status: int, phrase: str, headers: http.client.HTTPMessage, body: bytes) -> Answer:
    if 200 <= status < 300:
        return _accepted(body)
    reason = f"HTTP {status} {phrase}".rstrip()
    if status == 413:
        return Answer("too_large", reason)
    if status in (400, 422):
        return Answer("invalid", reason)
    # The rest is about the receiver (429, 5xx) or about how it is addressed (401, 403, 404): the
    # spans are not at fault and are kept until it is mended.
    wait_s = _bounded(_retry_after(headers.get("retry-after")))
    return Answer("later", reason, wait_s, unknown=status in (404, 405, 501))


def _accepted(body: bytes) -> Answer:
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


def _bounded(seconds: float | None) -> float | None:
    return None if seconds is None else min(max(0.0, seconds), _LONGEST_S)


def _retry_after(value: str | None) -> float | None:
    """Return the seconds of a Retry-After header, which may be a date."""
    if not value:
        return None
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return email.utils.parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None


def _grpc_retry_after(error: Any) -> float | None:
    """Return the seconds of a RetryInfo: field 1 of it is a Duration, field 1 of that seconds.

    Spec: google/rpc/error_details.proto, carried in the trailer `grpc-status-details-bin`.
    """
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        _, found, rest = bytes(value).partition(b"type.googleapis.com/google.rpc.RetryInfo\x12")
        if found and len(rest) > 4 and rest[1] == 0x0A and rest[3] == 0x08:
            seconds = shift = 0
            for byte in rest[4:9]:
                seconds |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    return float(seconds)
    return None


def _endpoint_from_environment(signal: Signal) -> str:
    if full := os.environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT"):
        return full
    base = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or "http://localhost:4318"
    return f"{base.rstrip('/')}/v1/{signal}"


def _tls_context(signal: Signal) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=_setting("CERTIFICATE", signal) or None)
    if certificate := _setting("CLIENT_CERTIFICATE", signal):
        context.load_cert_chain(certificate, _setting("CLIENT_KEY", signal) or None)
    return context


def _grpc_credentials(grpc: Any, signal: Signal) -> Any:
    def read(name: str) -> bytes | None:
        path = _setting(name, signal)
        if not path:
            return None
        with open(path, "rb") as file:
            return file.read()

    return grpc.ssl_channel_credentials(
        read("CERTIFICATE"), read("CLIENT_KEY"), read("CLIENT_CERTIFICATE")
    )


def _basic(user: str, password: str | None) -> str:
    import base64

    pair = f"{unquote(user)}:{unquote(password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    strerror = getattr(error, "strerror", None)
    return str(strerror or error) or type(error).__name__
