"""OpenTelemetry's variables for the destination and form of telemetry, read and checked.

Spec: opentelemetry-specification, protocol/exporter.md and
configuration/sdk-environment-variables.md; units and header values as opentelemetry-exporter-otlp
1.45 reads them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Literal

from opentelemetry.util.re import parse_env_headers

from agentool_otel.errors import ConfigurationError
from agentool_otel.ground import environment, otlp_settings
from agentool_otel.ground import variable_values as values
from agentool_otel.ground.environment import Signal
from agentool_otel.ground.urls import with_path
from agentool_otel.semconv import agentool

__all__ = [
    "batch_size",
    "check",
    "compression",
    "delay_s",
    "endpoint",
    "export_timeout_s",
    "exporter",
    "headers",
    "named_alone",
    "queue_size",
    "timeout_s",
    "vocabulary_beside",
    "vocabulary_named",
]

Exporter = Literal["", "otlp", "console", "none"]

_NONE = "none"
_TIMEOUT_S = 5.0
_DELAY_S = 1.0
_EXPORTERS: dict[str, Exporter] = {
    "": "",
    "otlp": "otlp",
    "otlp_proto_http": "otlp",
    "otlp_proto_grpc": "otlp",
    "console": "console",
    "none": "none",
}
_OURS = "agentool"
"""The name of `sdk.AgentoolSpanExporter`: in our own configuration it means the default."""
_COMPRESSIONS = {"http/protobuf": ("none", "gzip", "deflate"), "grpc": ("none", "gzip")}


def check(signals: Iterable[Signal]) -> None:
    """Read the later variables of some signals, so that invalid ones are known from the start."""
    for signal in signals:
        for setting in ("ENDPOINT", "HEADERS", "INSECURE"):
            otlp_settings.value(setting, signal)
        exporter(os.environ, signal)
        compression(signal, otlp_settings.protocol(signal) or "http/protobuf")
        timeout_s(signal)
        if signal == "traces":
            for read in (delay_s, batch_size, export_timeout_s):
                read()
            queue_size(1)
    vocabulary_beside(os.environ)
    for switch in (environment.QUIET, environment.RECORD, environment.JOURNAL):
        environment.usable(switch, values.switch, None)


def vocabulary_beside(environ: Mapping[str, str]) -> str | None:
    """Return the vocabulary whose names are sent beside ours by `AGENTOOL_ALSO`, if any."""
    return environment.usable(environment.ALSO, _vocabulary, None, environ)


def vocabulary_named(name: str, where: str) -> str | None:
    """Return the vocabulary of a name, None for `none` or the empty text.

    Args:
        name: as it was written.
        where: the option it was written in.

    Raises:
        ConfigurationError: there is none of that name.
    """
    try:
        return _vocabulary(name)
    except ValueError as error:
        raise ConfigurationError(f"{where}={name} {error}") from None


def _vocabulary(name: str) -> str | None:
    if name in agentool.VOCABULARIES:
        return name
    if name in ("", _NONE):
        return None
    names = ", ".join(agentool.VOCABULARIES)
    raise ValueError(f"is not supported: use {names}, or {_NONE}")


def exporter(environ: Mapping[str, str], signal: Signal) -> Exporter:
    """Return the exporter in `OTEL_<signal>_EXPORTER`, "" if there is none, or several."""
    name = environment.exporter_variable(signal)
    if signal == "traces" and environment.value(name, environ) == _OURS:
        return ""
    return environment.usable(name, _exporter, None, environ) or ""


def _exporter(text: str) -> Exporter:
    if text not in _EXPORTERS:
        raise ValueError("is not supported: use otlp, console or none, or leave it out")
    return _EXPORTERS[text]


def named_alone(environ: Mapping[str, str], signal: Signal) -> bool:
    """Return whether a signal's own variables set its destination, independently of other
    signals.
    """
    own_endpoint = otlp_settings.value_of_signal("ENDPOINT", signal, environ)
    return bool(own_endpoint) or exporter(environ, signal) in ("otlp", "console")


def endpoint(signal: Signal) -> str:
    """Return the URL that OTLP/HTTP of a signal goes to: a general endpoint gets a path."""
    if full := otlp_settings.value_of_signal("ENDPOINT", signal):
        return full
    base = otlp_settings.value("ENDPOINT", signal) or "http://localhost:4318"
    return with_path(base, f"/v1/{signal}")


def headers(signal: Signal) -> Mapping[str, str]:
    """Return the headers to send along, names in lower case."""
    return parse_env_headers(otlp_settings.value("HEADERS", signal), liberal=True)


def compression(signal: Signal, protocol: Literal["http/protobuf", "grpc"]) -> str:
    """Return `none`, `gzip` or `deflate`: one that the protocol has."""
    named = otlp_settings.value("COMPRESSION", signal).lower() or "none"
    if named in _COMPRESSIONS[protocol]:
        return named
    value = otlp_settings.value_of_signal("COMPRESSION", signal)
    name = otlp_settings.variable("COMPRESSION", signal if value else None)
    names = " or ".join(_COMPRESSIONS[protocol])
    environment.refuse(name, f"is not supported with {protocol}: use {names}; it counts as unset")
    return "none"


def timeout_s(signal: Signal = "traces") -> float:
    """Return the seconds an attempt may take."""
    limit = float(otlp_settings.value("TIMEOUT", signal) or _TIMEOUT_S)
    if signal != "traces":
        return limit
    return min(limit, export_timeout_s(limit))


def export_timeout_s(default: float = 30.0) -> float:
    """Return the time limit of one export request, in seconds."""
    return environment.usable(environment.EXPORT_TIMEOUT, values.seconds(1000), default)


def delay_s(default: float = _DELAY_S) -> float:
    """Return the seconds that ended spans are collected before they are sent as a batch."""
    return environment.usable(environment.DELAY, values.seconds(1000), default)


def batch_size() -> int | None:
    """Return the maximum number of spans per request; None if it is not set."""
    return environment.usable(environment.BATCH_SIZE, values.positive("spans"), None)


def queue_size(default: int) -> int:
    """Return the maximum number of spans in the queue in memory."""
    return environment.usable(environment.QUEUE_SIZE, values.positive("spans"), default)
