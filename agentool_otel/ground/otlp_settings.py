"""The settings of OTLP, each a variable for all signals and one for each of them.

Spec: opentelemetry-specification, protocol/exporter.md, with the units of
opentelemetry-exporter-otlp 1.45.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, get_args

from agentool_otel.ground import environment
from agentool_otel.ground import variable_values as values
from agentool_otel.ground.environment import Signal

__all__ = ["names", "protocol", "value", "value_of_signal", "variable"]


def variable(setting: str, signal: Signal | None = None) -> str:
    """Return the variable of an OTLP setting, for all signals or for one, which comes first.

    Each setting:
        ENDPOINT: Where it is sent. Default: spans are recorded; if an exporter is named,
            `http://localhost:4318`, or 4317 for gRPC.
        PROTOCOL: `http/protobuf` or `grpc`. Default: `http/protobuf`.
        HEADERS: `key=value` pairs, percent-encoded, separated by commas. Default: none.
        COMPRESSION: `gzip`, and `deflate` over HTTP. Default: none.
        TIMEOUT: Seconds, as opentelemetry-exporter-otlp reads it. Default: 5.
        CERTIFICATE, CLIENT_KEY, CLIENT_CERTIFICATE: Files for TLS. Default: none.
        INSECURE: `true` speaks gRPC without TLS. Default: false.
    """
    return (
        f"OTEL_EXPORTER_OTLP_{signal.upper()}_{setting}"
        if signal
        else f"OTEL_EXPORTER_OTLP_{setting}"
    )


def names() -> Iterator[str]:
    """Yield the variables of all settings, those for all signals first."""
    for signal in (None, *get_args(Signal)):
        for setting in _SETTINGS:
            yield variable(setting, signal)


def value(setting: str, signal: Signal, environ: Mapping[str, str] | None = None) -> str:
    """Return an OTLP setting: that of the signal, else the general one, "" if neither is set."""
    return value_of_signal(setting, signal, environ) or _read(setting, signal, None, environ)


def value_of_signal(setting: str, signal: Signal, environ: Mapping[str, str] | None = None) -> str:
    """Return an OTLP setting that is named for a signal alone, "" if it is not."""
    return _read(setting, signal, signal, environ)


def _read(
    setting: str, signal: Signal, named_for: Signal | None, environ: Mapping[str, str] | None
) -> str:
    read = _READERS.get(setting, str)
    name = variable(setting, named_for)
    if setting == "HEADERS":
        return environment.pairs(name, environ)
    if setting == "ENDPOINT" and environment.is_set(name, environ):
        # gRPC resolves names of other shapes, without a scheme.
        read = str if protocol(signal, environ) == "grpc" else read
    return environment.usable(name, values.check_with(read), "", environ)


_SETTINGS = (
    "ENDPOINT", "PROTOCOL", "HEADERS", "COMPRESSION", "TIMEOUT", "CERTIFICATE", "CLIENT_KEY",
    "CLIENT_CERTIFICATE", "INSECURE",
)  # fmt: skip
_READERS = {
    "ENDPOINT": values.url,
    "PROTOCOL": values.word("http/protobuf", "grpc"),
    "COMPRESSION": values.word("none", "gzip", "deflate"),
    "TIMEOUT": values.seconds(),
    "INSECURE": values.word("true", "false"),
}


def protocol(
    signal: Signal, environ: Mapping[str, str] | None = None
) -> Literal["http/protobuf", "grpc"] | None:
    """Return the protocol for a signal, None if no variable names one."""
    if named := value("PROTOCOL", signal, environ):
        return "grpc" if named.lower() == "grpc" else "http/protobuf"
    exporter = environment.value(environment.exporter_variable(signal), environ)
    return "grpc" if exporter == "otlp_proto_grpc" else None
