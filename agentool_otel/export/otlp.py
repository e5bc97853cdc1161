"""OTLP over HTTP and gRPC with the official exporters, in batches a receiver accepts."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agentool_otel.errors import ConfigurationError

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricExporter

__all__ = [
    "OtlpTarget",
    "SplittingExporter",
    "metric_exporter",
    "span_exporter",
    "target_from_environment",
]

_log = logging.getLogger(__name__)

Protocol = Literal["http/protobuf", "grpc"]

_LIMITS = {"http/protobuf": 15_000_000, "grpc": 3_500_000}
"""Bytes per request, below the receivers' usual 20 MiB (HTTP) and 4 MiB (gRPC): a request above
those is refused whole, and the official exporters drop it."""

_TIMEOUT_S = 5.0


class OtlpTarget:
    """Where OTLP goes: the endpoint as given and the protocol to speak."""

    def __init__(self, endpoint: str | None, protocol: Protocol):
        self.endpoint = endpoint
        """None leaves it to the exporter, which reads the `OTEL_EXPORTER_OTLP_*` variables."""
        self.protocol: Protocol = protocol

    def __str__(self) -> str:
        if self.endpoint is not None:
            return self.endpoint
        for name in ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"):
            if value := os.environ.get(name):
                return value
        return "http://localhost:4317" if self.protocol == "grpc" else "http://localhost:4318"

    @classmethod
    def at(cls, endpoint: str, environ: Mapping[str, str]) -> OtlpTarget:
        """Return the target of an explicit endpoint; `grpc://` or port 4317 means gRPC.

        Raises:
            ConfigurationError: if it is not a URL.
        """
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https", "grpc", "grpcs") or not parts.netloc:
            raise ConfigurationError(
                f"endpoint {endpoint!r} is not a URL: use http://host:4318, or grpc://host:4317"
            )
        if parts.scheme in ("grpc", "grpcs"):
            scheme = "https" if parts.scheme == "grpcs" else "http"
            return cls(f"{scheme}://{parts.netloc}", "grpc")
        asked = _protocol(environ)
        if asked is None:
            asked = "grpc" if parts.port == 4317 else "http/protobuf"
        return cls(endpoint, asked)

    def url(self, signal: str) -> str | None:
        """Return the URL for a signal (`traces`, `metrics`).

        Spec: OTLP exporter; a base endpoint gets `/v1/<signal>`, a full one is used as it is.
        """
        if self.endpoint is None or self.protocol == "grpc":
            return self.endpoint
        base = self.endpoint.rstrip("/")
        if base.endswith("/v1/traces"):
            base = base.removesuffix("/v1/traces")
        return f"{base}/v1/{signal}"


def target_from_environment(environ: Mapping[str, str]) -> OtlpTarget | None:
    """Return the target that `OTEL_EXPORTER_OTLP_*` or `OTEL_TRACES_EXPORTER` ask for, if any."""
    named = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    asked = any(environ.get(name) for name in named)
    if not asked and "otlp" not in environ.get("OTEL_TRACES_EXPORTER", ""):
        return None
    return OtlpTarget(None, _protocol(environ) or "http/protobuf")


def _protocol(environ: Mapping[str, str]) -> Protocol | None:
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        value = environ.get(name, "").strip()
        if value in ("grpc", "http/protobuf"):
            return "grpc" if value == "grpc" else "http/protobuf"
        if value:
            raise ConfigurationError(f"{name}={value} is not supported: use http/protobuf or grpc")
    return None


def span_exporter(target: OtlpTarget) -> SplittingExporter:
    """Make the exporter of a target."""
    options: dict[str, Any] = {}
    if not any(os.environ.get(f"OTEL_EXPORTER_OTLP_{s}TIMEOUT") for s in ("", "TRACES_")):
        options["timeout"] = _TIMEOUT_S
    if target.endpoint is not None:
        options["endpoint"] = target.url("traces")
    exporter: SpanExporter
    if target.protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc

        if target.endpoint is not None and target.endpoint.startswith("http://"):
            options["insecure"] = True
        exporter = Grpc(**options)
    else:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as Http

        exporter = Http(**options)
    return SplittingExporter(exporter, _LIMITS[target.protocol], str(target))


def metric_exporter(target: OtlpTarget) -> MetricExporter:
    """Make the metric exporter of a target."""
    options: dict[str, Any] = {}
    if target.endpoint is not None:
        options["endpoint"] = target.url("metrics")
    if target.protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import (
            OTLPMetricExporter as Grpc,
        )

        if target.endpoint is not None and target.endpoint.startswith("http://"):
            options["insecure"] = True
        return Grpc(**options)
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as Http

    return Http(**options)


class SplittingExporter(SpanExporter):
    """Splits batches by bytes before they are sent, so that no request is refused for its size."""

    def __init__(self, exporter: SpanExporter, limit: int, where: str):
        self._exporter = exporter
        self._limit = limit
        self._where = where
        self._told = False
        self.failed = 0
        """Spans that were refused or could not be sent."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = SpanExportResult.SUCCESS
        for batch in self._batches(spans):
            if self._sent(batch):
                continue
            self.failed += len(batch)
            result = SpanExportResult.FAILURE
            if not self._told:
                self._told = True
                _log.error(
                    "spans could not be delivered to %s: is a collector listening there? "
                    "Without an endpoint they are recorded in .agentool/ instead",
                    self._where,
                )
        return result

    def _sent(self, batch: list[ReadableSpan]) -> bool:
        try:
            return self._exporter.export(batch) is SpanExportResult.SUCCESS
        except Exception:  # exporters before 1.31 raise what their HTTP library does
            _log.debug("details", exc_info=True)
            return False

    def _batches(self, spans: Sequence[ReadableSpan]) -> list[list[ReadableSpan]]:
        batches: list[list[ReadableSpan]] = []
        size = self._limit
        for span in spans:
            weight = _weight(span)
            if size + weight > self._limit:
                batches.append([])
                size = 0
            batches[-1].append(span)
            size += weight
        return batches

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def _weight(span: ReadableSpan) -> int:
    """An upper estimate of a span's encoded size, in bytes."""
    weight = 200 + _weight_of(span.attributes)
    for event in span.events:
        weight += 50 + _weight_of(event.attributes)
    return weight


def _weight_of(attributes: Mapping[str, Any] | None) -> int:
    weight = 0
    for key, value in (attributes or {}).items():
        weight += len(key) + 12
        if isinstance(value, str):
            weight += len(value) if value.isascii() else 3 * len(value)
        elif isinstance(value, (list, tuple)):
            weight += sum(len(v) + 4 if isinstance(v, (str, bytes)) else 12 for v in value)
        elif isinstance(value, (bytes, Mapping)):
            weight += len(str(value))
    return weight
