"""The variables of OpenTelemetry that say how and where to send, read and checked.

Spec: opentelemetry-specification, protocol/exporter.md and
configuration/sdk-environment-variables.md; units and header values as opentelemetry-exporter-otlp
1.45 reads them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from opentelemetry.util.re import parse_env_headers

from agentool_otel.errors import ConfigurationError
from agentool_otel.ground import environment
from agentool_otel.ground.environment import Signal
from agentool_otel.ground.urls import with_path
from agentool_otel.semconv import agentool

__all__ = [
    "batch_size",
    "compression",
    "delay_s",
    "endpoint",
    "exporter",
    "headers",
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
"""The name of `sdk.AgentoolSpanExporter`: where we decide by ourselves, it asks for what we do."""
_COMPRESSIONS = {"http/protobuf": ("none", "gzip", "deflate"), "grpc": ("none", "gzip")}


def vocabulary_beside(environ: Mapping[str, str]) -> str | None:
    """Return the vocabulary that `AGENTOOL_ALSO` names, whose names are sent beside ours, if any.

    Raises:
        ConfigurationError: there is none of that name.
    """
    return vocabulary_named(environment.value(environment.ALSO, environ), environment.ALSO)


def vocabulary_named(name: str, where: str) -> str | None:
    """Return the vocabulary of a name, None for `none` or the empty text.

    Args:
        name: as it was written.
        where: the variable or option it was written in.

    Raises:
        ConfigurationError: there is none of that name.
    """
    if name in agentool.VOCABULARIES:
        return name
    if name in ("", _NONE):
        return None
    known = ", ".join(agentool.VOCABULARIES)
    raise ConfigurationError(f"{where}={name} is not supported: use {known}, or {_NONE}")


def exporter(environ: Mapping[str, str], signal: Signal) -> Exporter:
    """Return what `OTEL_<signal>_EXPORTER` asks for, "" if it is unset.

    Raises:
        ConfigurationError: it is nothing we have, or several.
    """
    name = environment.exporter_variable(signal)
    value = environment.value(name, environ)
    if value == _OURS and signal == "traces":
        return ""
    if value in _EXPORTERS:
        return _EXPORTERS[value]
    raise ConfigurationError(
        f"{name}={value} is not supported: use otlp, console or none, or leave it out"
    )


def endpoint(signal: Signal) -> str:
    """Return the URL that OTLP/HTTP of a signal goes to: a general endpoint gets a path."""
    if full := environment.otlp_of_signal("ENDPOINT", signal):
        return full
    base = environment.otlp("ENDPOINT", signal) or "http://localhost:4318"
    return with_path(base, f"/v1/{signal}")


def headers(signal: Signal) -> Mapping[str, str]:
    """Return the headers to send along, names in lower case."""
    return parse_env_headers(environment.otlp("HEADERS", signal), liberal=True)


def compression(signal: Signal, protocol: Literal["http/protobuf", "grpc"]) -> str:
    """Return `none`, `gzip` or `deflate`.

    Raises:
        ConfigurationError: the protocol has no such compression.
    """
    name = environment.otlp("COMPRESSION", signal).lower() or "none"
    known = _COMPRESSIONS[protocol]
    if name not in known:
        raise ConfigurationError(
            f"{environment.otlp_variable('COMPRESSION')}={name} is not supported with {protocol}: "
            f"use {', '.join(known[:-1])} or {known[-1]}"
        )
    return name


def timeout_s(signal: Signal = "traces") -> float:
    """Return the seconds an attempt may take.

    Raises:
        ConfigurationError: that is no such number.
    """
    value = environment.otlp("TIMEOUT", signal)
    limits = [_seconds(environment.otlp_variable("TIMEOUT"), value)] if value else [_TIMEOUT_S]
    if signal == "traces" and (millis := environment.value(environment.EXPORT_TIMEOUT)):
        limits.append(_seconds(environment.EXPORT_TIMEOUT, millis, per_s=1000))
    return min(limits)


def delay_s() -> float:
    """Return the seconds that ended spans wait for others to be sent with.

    Raises:
        ConfigurationError: `OTEL_BSP_SCHEDULE_DELAY` is no such number, in milliseconds.
    """
    value = environment.value(environment.DELAY)
    return _seconds(environment.DELAY, value, per_s=1000) if value else _DELAY_S


def batch_size() -> int | None:
    """Return how many spans a request may have, None where it is unset.

    Raises:
        ConfigurationError: `OTEL_BSP_MAX_EXPORT_BATCH_SIZE` is no such number.
    """
    value = environment.value(environment.BATCH_SIZE)
    if not value:
        return None
    if not value.isdecimal() or not int(value):
        raise ConfigurationError(
            f"{environment.BATCH_SIZE}={value} is not a number of spans: use 512, or unset it"
        )
    return int(value)


def _seconds(name: str, value: str, per_s: int = 1) -> float:
    try:
        seconds = float(value) / per_s
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        unit = "milliseconds" if per_s > 1 else "seconds"
        raise ConfigurationError(f"{name}={value} is not a number of {unit} above 0")
    return seconds
