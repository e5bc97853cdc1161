"""Options of `instrument()` and `uninstrument()` of an instrumentor, declared once.

Source: opentelemetry-instrumentation 0.66: `BaseInstrumentor.instrument` takes
`skip_dep_check` and `raise_exception_on_conflict`, and `auto_instrumentation/_load.py` passes the
first to every instrumentor. The providers are what its instrumentors take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from agentool_otel.errors import ConfigurationError

__all__ = ["InstrumentorOptions", "parse_options"]


@dataclass(frozen=True, kw_only=True)
class InstrumentorOptions:
    """Options that every instrumentor has. A subclass adds those of one framework."""

    tracer_provider: Any = None
    """The provider of all spans of this package from here on, by default the one in force."""
    meter_provider: Any = None
    """The provider of all metrics of this package from here on, by default the global one."""
    logger_provider: Any = None
    """Accepted and not used: log records go to the global logger provider."""
    skip_dep_check: bool = False
    """Accepted and not used: a version that a patch does not fit is left alone and reported."""
    raise_exception_on_conflict: bool = False
    """Accepted and not used, as the last."""


def parse_options(
    options: type[InstrumentorOptions], instrumentor: str, named: Mapping[str, Any]
) -> InstrumentorOptions:
    """Return the options of a call.

    Args:
        options: the class that declares them.
        instrumentor: whose they are.
        named: the keyword arguments of the call.

    Raises:
        ConfigurationError: one is not known.
    """
    option_names = [field.name for field in fields(options)]
    unknown = sorted(named.keys() - set(option_names))
    if unknown:
        names = ", ".join(map(repr, unknown))
        noun = "option" if len(unknown) == 1 else "options"
        raise ConfigurationError(
            f"unknown {noun} {names} of {instrumentor}: known are {', '.join(option_names)}"
        )
    return options(**named)
