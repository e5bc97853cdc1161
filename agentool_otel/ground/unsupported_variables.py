"""Variables that nothing in this package honours, or that are misspelt: refused by name.

An SDK that the application sets up itself, or that `opentelemetry-instrument` sets up, may honour
them. So they are refused only where the tracer provider is ours.

Spec: opentelemetry-specification, configuration/sdk-environment-variables.md; those with `PYTHON`
in their name, opentelemetry-sdk 1.45, sdk/environment_variables.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from agentool_otel.ground import environment, otlp_settings
from agentool_otel.ground.near_variables import is_of_prefix, meant, words_of

__all__ = ["UNSUPPORTED", "is_read", "refuse_misspelt", "refuse_unsupported"]

_FILE = (
    "is not read by agentool_otel; hint: opentelemetry-instrument reads it where "
    "opentelemetry-configuration is installed, and the tracer provider that it sets is joined"
)
_LOG_BATCHES = (
    "is not used: log records are sent in batches as spans are; hint: "
    f"{environment.DELAY}, {environment.BATCH_SIZE}"
)
_LOG_LIMITS = "is not used: log records keep their attributes"
_NO_EXPORTER = "is not used: there is no such exporter here; hint: send OTLP to a Collector"
_CREDENTIALS = (
    "is not used for spans and log records; hint: OTEL_EXPORTER_OTLP_HEADERS, "
    "OTEL_EXPORTER_OTLP_CERTIFICATE"
)
_OF_AUTOMATIC_SETUP = "is read by opentelemetry-instrument alone"

UNSUPPORTED: Final[Mapping[str, str]] = {
    "OTEL_CONFIG_FILE": _FILE,
    "OTEL_EXPERIMENTAL_CONFIG_FILE": _FILE,
    "OTEL_ENTITIES": f"is not used; hint: {environment.RESOURCE_ATTRIBUTES}",
    "OTEL_LOG_LEVEL": "is not used; hint: logging.getLogger('agentool_otel').setLevel(...)",
    "OTEL_BLRP_SCHEDULE_DELAY": _LOG_BATCHES,
    "OTEL_BLRP_EXPORT_TIMEOUT": _LOG_BATCHES,
    "OTEL_BLRP_MAX_QUEUE_SIZE": _LOG_BATCHES,
    "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE": _LOG_BATCHES,
    "OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT": _LOG_LIMITS,
    "OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT": _LOG_LIMITS,
    "OTEL_EXPORTER_ZIPKIN_ENDPOINT": _NO_EXPORTER,
    "OTEL_EXPORTER_ZIPKIN_TIMEOUT": _NO_EXPORTER,
    "OTEL_EXPORTER_PROMETHEUS_HOST": _NO_EXPORTER,
    "OTEL_EXPORTER_PROMETHEUS_PORT": _NO_EXPORTER,
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER": _CREDENTIALS,
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_TRACES_CREDENTIAL_PROVIDER": _CREDENTIALS,
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_LOGS_CREDENTIAL_PROVIDER": _CREDENTIALS,
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_CREDENTIAL_PROVIDER": _CREDENTIALS,
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_TRACES_CREDENTIAL_PROVIDER": _CREDENTIALS,
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_LOGS_CREDENTIAL_PROVIDER": _CREDENTIALS,
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_RETRYABLE_ERROR_CODES": "is not used for spans and log records",
    "OTEL_PYTHON_TRACER_CONFIGURATOR": _OF_AUTOMATIC_SETUP,
    "OTEL_PYTHON_METER_CONFIGURATOR": _OF_AUTOMATIC_SETUP,
    "OTEL_PYTHON_LOGGER_CONFIGURATOR": _OF_AUTOMATIC_SETUP,
    "OTEL_PYTHON_ID_GENERATOR": _OF_AUTOMATIC_SETUP,
    "OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED": _OF_AUTOMATIC_SETUP,
}
"""Why the value of each is not used, as the end of a sentence that begins with the variable."""


def refuse_unsupported(environ: Mapping[str, str] | None = None) -> None:
    """Refuse by name each of these variables that is set."""
    for name, why in UNSUPPORTED.items():
        if environment.is_set(name, environ):
            environment.refuse(name, why, environ)


def refuse_misspelt(
    environ: Mapping[str, str] | None = None, *, of_opentelemetry: bool = True
) -> None:
    """Refuse by name each variable that nothing reads and that means one which something reads.

    Args:
        environ: the variables; those of the process by default.
        of_opentelemetry: whether to look at the variables of OpenTelemetry as well.
    """
    for name in _unread(environ):
        # Other programs may have variables that begin as ours do.
        if variable := meant(words_of(name, _OWN_WORDS), _CANDIDATES):
            environment.refuse(name, f"is not read by anything; is {variable} meant?", environ)
    if not of_opentelemetry:
        return
    for name in environment.of_opentelemetry(environ).keys() - _KNOWN:
        variable = meant(words_of(name, ()), _OF_OPENTELEMETRY.items(), exact=True)
        if variable and not environment.is_set(variable, environ):
            environment.refuse(name, f"is not read here; is {variable} meant?", environ)


def _unread(environ: Mapping[str, str] | None) -> list[str]:
    """Return the names that are set, that begin as ours do or nearly so, and that nothing reads."""
    names = os.environ if environ is None else environ
    return [
        name
        for name in names
        if name.startswith("AGENT") and is_of_prefix(name, _PREFIXES) and not is_read(name)
    ]


def is_read(name: str) -> bool:
    """Return whether something here may read a variable of this package."""
    return name in _OURS or name.endswith(("_TOKEN", "_TENANT"))  # of servers, which plug-ins add


_PREFIXES = ("AGENTOOL", "AGENTOTEL", "AGENTOOLOTEL")
"""First words of the names that are meant for this package."""
_OWN_WORDS = frozenset({"OTEL"})
"""Words behind `AGENTOOL` that say nothing of what a variable does."""
_OURS = frozenset(
    environment.of_this_package(
        {var: "" for var in vars(environment).values() if isinstance(var, str)}
    )
)
"""Variables that something here reads."""
_OF_OPENTELEMETRY: Final[Mapping[str, list[str]]] = {
    name: words_of(name, ())
    for name in dict.fromkeys((*environment.names_of_opentelemetry(), *otlp_settings.names()))
    if name not in UNSUPPORTED
}
"""Variables of OpenTelemetry that something here reads, each with its words."""
_KNOWN = _OF_OPENTELEMETRY.keys() | UNSUPPORTED.keys()
_CANDIDATES = (
    *((name, words_of(name, left_out)) for name in sorted(_OURS) for left_out in ((), _OWN_WORDS)),
    *_OF_OPENTELEMETRY.items(),
)
