"""OTLP: where it goes, and in which requests."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agentool_otel.errors import ConfigurationError
from agentool_otel.ground import environment, otlp_settings
from agentool_otel.ground.environment import Signal
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.ground.urls import with_path, without_credentials, without_path
from agentool_otel.otlp.protobuf_encoder import encode_span, merged
from agentool_otel.tracing.export.otlp_variables import exporter, timeout_s, vocabulary_beside
from agentool_otel.tracing.export.send.attempt import Answer, GrpcSender, HttpSender, Sender
from agentool_otel.tracing.export.send.connection import split
from agentool_otel.tracing.spans.settings import guarded

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricExporter

__all__ = [
    "Destination",
    "OtlpExporter",
    "OtlpTarget",
    "Senders",
    "attempts",
    "batches",
    "metric_exporter",
    "sender_of",
    "target_beside",
    "target_from_environment",
]

_log = logger(__name__)

Protocol = Literal["http/protobuf", "grpc"]

_METRICS_S = 2.0
_REFUSALS = 32


class Destination(NamedTuple):
    """A target as it is noted in a journal, for whoever sends there later."""

    address: str
    """The endpoint, without credentials; or where nothing is sent, what is done instead."""
    protocol: str = ""
    signal: str = "traces"
    exact: bool = False

    @property
    def endpoint(self) -> str:
        """The same as `--endpoint` takes it."""
        if self.protocol == "grpc" and self.address.startswith("http"):
            return f"grpc{self.address.removeprefix('http')}"
        return self.address


class OtlpTarget:
    """Endpoint as given, and the OTLP protocol to use.

    Args:
        endpoint: None leaves it to the `OTEL_EXPORTER_OTLP_*` variables.
        protocol: the one used there.
        signal: what goes there in the first place.
        exact: the endpoint is the URL of that signal as it stands. Nothing is known of a place for
            others.
        bare: nobody but a file has named it. The headers, certificates and proxies of the
            environment belong to other endpoints, and none of them goes there.
        also: the vocabulary whose names are written beside ours on the spans that go there.
    """

    def __init__(
        self,
        endpoint: str | None,
        protocol: Protocol,
        signal: Signal = "traces",
        exact: bool = False,
        bare: bool = False,
        also: str | None = None,
    ):
        self.bare = bare
        self.also = also
        self.endpoint = endpoint
        self.protocol: Protocol = protocol
        self.exact = exact
        self._signal: Signal = signal

    def __str__(self) -> str:
        """The endpoint, without credentials that may stand in it."""
        endpoint = self.endpoint or otlp_settings.value("ENDPOINT", self._signal)
        if not endpoint:
            return "http://localhost:4317" if self.protocol == "grpc" else "http://localhost:4318"
        return without_credentials(endpoint)

    @classmethod
    def at(cls, endpoint: str, environ: Mapping[str, str]) -> OtlpTarget:
        """Return the target of an explicit endpoint; `grpc://` or port 4317 means gRPC.

        Raises:
            ConfigurationError: if it is not a URL.
        """
        also = vocabulary_beside(environ)
        parts = split(endpoint)
        if parts is None or parts.scheme not in ("http", "https", "grpc", "grpcs"):
            raise ConfigurationError(
                f"endpoint {without_credentials(endpoint)!r} is not a URL: use http://host:4318, "
                "or grpc://host:4317"
            )
        if parts.scheme in ("grpc", "grpcs"):
            scheme = "https" if parts.scheme == "grpcs" else "http"
            return cls(f"{scheme}://{parts.netloc}", "grpc", also=also)
        protocol = otlp_settings.protocol("traces", environ)
        if protocol is None:
            protocol = "grpc" if parts.port == 4317 else "http/protobuf"
        endpoint = with_path(endpoint, "")
        exact = protocol != "grpc" and parts.path.rstrip("/").endswith("/v1/traces")
        return cls(endpoint, protocol, exact=exact, also=also)

    @classmethod
    def noted(cls, where: Destination) -> OtlpTarget:
        """Return the target that a journal has noted, to be addressed without any credentials."""
        protocol: Protocol = "grpc" if where.protocol == "grpc" else "http/protobuf"
        signal: Signal = "logs" if where.signal == "logs" else "traces"
        return cls(where.address, protocol, signal, where.exact, bare=True)

    @property
    def destination(self) -> Destination:
        """Return the destination that a journal records."""
        return Destination(str(self), self.protocol, self._signal, self.exact)

    def as_variables(self) -> dict[str, str]:
        """Return the environment variables that mean this target; none if they gave it."""
        also = {environment.ALSO: self.also} if self.also else {}
        if self.endpoint is None:
            return also
        signal: Signal | None = "traces" if self.exact else None
        return {
            **also,
            otlp_settings.variable("ENDPOINT", signal): self.endpoint,
            otlp_settings.variable("PROTOCOL", signal): self.protocol,
        }

    def url(self, signal: Signal) -> str | None:
        """Return the URL for a signal.

        Spec: OTLP exporter; a base endpoint gets `/v1/<signal>`, a full one is used as it is.
        """
        if self.endpoint is None or self.protocol == "grpc":
            return self.endpoint
        if self.exact and signal == self._signal:
            return self.endpoint
        return with_path(without_path(self.endpoint, f"/v1/{self._signal}"), f"/v1/{signal}")


def target_from_environment(
    environ: Mapping[str, str], signal: Signal = "traces"
) -> OtlpTarget | None:
    """Return the target in `OTEL_EXPORTER_OTLP_*` or `OTEL_<signal>_EXPORTER`, if any."""
    named = exporter(environ, signal)
    wanted = otlp_settings.value("ENDPOINT", signal, environ) or named == "otlp"
    if not wanted or named in ("none", "console"):
        return None
    protocol = otlp_settings.protocol(signal, environ) or "http/protobuf"
    also = vocabulary_beside(environ)
    exact = bool(otlp_settings.value_of_signal("ENDPOINT", signal, environ))
    return OtlpTarget(None, protocol, signal, exact=exact, also=also)


def target_beside(
    spans: OtlpTarget | None, environ: Mapping[str, str], signal: Signal, explicit: bool
) -> OtlpTarget | None:
    """Return where another signal is sent beside spans; None if no endpoint is named for it.

    The specification would send it to localhost then. Whoever has named an endpoint for traces
    alone has no receiver there, and would read of refused connections.

    Args:
        spans: where spans are sent.
        environ: the environment.
        signal: the other signal.
        explicit: the target of the spans was named in code, and takes the place of the
            environment's.
    """
    if explicit and spans is not None and not spans.exact:
        return spans
    target = target_from_environment(environ, signal)
    if target is None or spans is None or target.exact or spans.exact:
        return target
    same = (str(target), target.protocol) == (str(spans), spans.protocol)
    return spans if same else target


def sender_of(target: OtlpTarget, signal: Signal = "traces") -> Sender:
    """Make the sender of a signal to a target."""
    if target.protocol == "grpc":
        return GrpcSender(target, signal)
    return HttpSender(target, signal)


class Senders(dict[Signal, Sender]):
    """The senders to a target, one for each signal, made on first use."""

    def __init__(self, target: OtlpTarget):
        super().__init__()
        self._target = target

    def __missing__(self, signal: Signal) -> Sender:
        self[signal] = sender = sender_of(self._target, signal)
        return sender

    def close(self) -> None:
        for sender in self.values():
            sender.close()


def attempts(
    sender: Sender,
    spans: Sequence[bytes],
    timeout_s: float,
    also: str | None = None,
    deadline: float | None = None,
) -> Iterator[tuple[Sequence[bytes], Answer]]:
    """Send spans and yield, in order, the outcome of each part.

    What is refused for what it holds or for its size is halved until the span at fault is alone.
    Once the answer is `later` it stands for all the rest.

    Args:
        sender: where to.
        spans: requests of one span each, made by `encode_span`.
        timeout_s: of each attempt.
        also: the vocabulary whose names are sent beside ours. What is yielded is without them.
        deadline: by the monotonic clock, when all attempts are over.
    """
    sent = _add_vocabulary(spans, sender.limit) if also else spans
    parts = [range(len(spans))]
    accepted, refusals = False, 0
    while parts:
        part = parts.pop()
        requests = sent[part.start : part.stop]
        if len(part) > 1 and also and sum(map(len, requests)) > sender.limit:
            parts += _halves(part)
            continue
        if deadline is not None:
            timeout_s = min(timeout_s, max(0.0, deadline - time.monotonic()))
        answer = sender.send(merged(requests) if len(part) > 1 else requests[0], timeout_s)
        if answer.verdict in ("invalid", "too_large"):
            refusals += 1
            # A receiver that refuses everything is not offered every single span.
            if len(part) > 1 and (accepted or refusals < _REFUSALS):
                parts += _halves(part)
                continue
        accepted = accepted or answer.verdict == "accepted"
        yield spans[part.start : part.stop], answer
        if answer.verdict == "later":
            for cause in reversed(parts):
                yield spans[cause.start : cause.stop], answer
            return


def _add_vocabulary(spans: Sequence[bytes], most: int) -> Sequence[bytes]:
    """Return requests with names in addition to ours, where nothing goes wrong with that."""
    with guarded("adding another vocabulary's names"):
        from agentool_otel.tracing.export.second_vocabulary import (
            add_vocabulary,  # few ask for it
        )

        return [add_vocabulary(span, most) for span in spans]
    return spans


def _halves(part: range) -> list[range]:
    """Return the halves of a part, the one that is next last."""
    middle = part.start + len(part) // 2
    return [range(middle, part.stop), range(part.start, middle)]


def batches(spans: Iterable[bytes], limit: int) -> Iterator[list[bytes]]:
    """Group encoded spans into requests of at most `limit` bytes; a larger span is alone."""
    batch: list[bytes] = []
    size = 0
    for span in spans:
        if batch and size + len(span) > limit:
            yield batch
            batch, size = [], 0
        batch.append(span)
        size += len(span)
    if batch:
        yield batch


class OtlpExporter(SpanExporter):
    """Sends spans at once, and keeps none: for commands, and for other pipelines."""

    def __init__(self, target: OtlpTarget):
        self._sender = sender_of(target)
        self._also = target.also
        self._where = str(target)
        self._timeout_s = timeout_s()
        self._reported = False
        self.failed = 0
        """Spans that were refused or could not be sent."""
        self.reason: str | None = None
        """Why, of the last of them."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        failed = 0
        for batch in batches(map(encode_span, spans), self._sender.limit):
            for part, answer in attempts(self._sender, batch, self._timeout_s, self._also):
                lost = answer.rejected if answer.verdict == "accepted" else len(part)
                if lost:
                    failed += lost
                    self._report(answer.reason)
        self.failed += failed
        return SpanExportResult.FAILURE if failed else SpanExportResult.SUCCESS

    def _report(self, reason: str) -> None:
        self.reason = reason
        if not self._reported:
            self._reported = True
            _log.error("spans could not be delivered to %s: %s", self._where, reason)

    def shutdown(self) -> None:
        self._sender.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True


def metric_exporter(target: OtlpTarget) -> MetricExporter:
    """Make the metric exporter of a target.

    It encodes and aggregates as the official one, and sends once: a metric that does not arrive is
    replaced by its next value, so nothing waits for it.
    """
    # Not the official exporter itself, which would load `requests`.
    from opentelemetry.exporter.otlp.proto.common._internal.metrics_encoder import (
        OTLPMetricExporterMixin,
    )
    from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
    from opentelemetry.sdk.metrics.export import MetricExporter, MetricExportResult, MetricsData

    sender = sender_of(target, "metrics")
    wait_s = min(timeout_s("metrics"), _METRICS_S)

    class Exporter(OTLPMetricExporterMixin, MetricExporter):
        reported = False

        def __init__(self) -> None:
            self._common_configuration()  # temporality and aggregation

        def export(
            self, metrics_data: MetricsData, timeout_millis: float | None = None, **kwargs: Any
        ) -> MetricExportResult:
            request = encode_metrics(metrics_data).SerializeToString()
            answer = sender.send(request, wait_s)
            if answer.verdict == "accepted":
                return MetricExportResult.SUCCESS
            if not self.reported:
                self.reported = True
                _log.info("metrics could not be delivered to %s: %s", target, answer.reason)
            return MetricExportResult.FAILURE

        def force_flush(self, timeout_millis: float = 10_000) -> bool:
            return True

        def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
            sender.close()

    return Exporter()
