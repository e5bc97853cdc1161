"""The variables that the SDK reads by itself for a tracer provider, checked before it does.

It stops the program at some values that it cannot use, and names no variable at others.
Source: opentelemetry-sdk 1.30 to 1.45, `SpanLimits` in trace/__init__.py and
`_get_from_env_or_default` in trace/sampling.py.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from agentool_otel.errors import MissingDependencyError
from agentool_otel.ground import environment
from agentool_otel.ground import variable_values as values

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanLimits
    from opentelemetry.sdk.trace.sampling import Sampler

__all__ = ["import_sdk", "limits", "sampler"]

_MODULE = "opentelemetry.sdk.trace"
_DEFAULT = 128
_SAMPLERS = values.word(
    "always_on",
    "always_off",
    "parentbased_always_on",
    "parentbased_always_off",
    "traceidratio",
    "parentbased_traceidratio",
)


def import_sdk() -> None:
    """Import the SDK even where it would refuse to be imported: it reads one limit by then.

    Raises:
        MissingDependencyError: it is not installed.
    """
    if _MODULE in sys.modules:
        return
    name = environment.ATTRIBUTE_COUNT_LIMIT
    text = None if _instead(name, _DEFAULT) is None else os.environ.pop(name)
    try:
        import_module(_MODULE)
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"recording needs opentelemetry-sdk, which is not installed ({error}); "
            "hint: pip install opentelemetry-sdk opentelemetry-exporter-otlp"
        ) from error
    finally:
        if text is not None:
            os.environ[name] = text


def limits() -> SpanLimits:
    """Return the limits of spans: those of the environment, but for values that are refused."""
    from opentelemetry.sdk.trace import SpanLimits

    anything, event, link, links = environment.COUNT_LIMITS
    lengths = environment.VALUE_LENGTH_LIMITS
    general = environment.usable(anything, values.count, _DEFAULT)
    length = environment.usable(lengths[0], values.count, SpanLimits.UNSET)
    return SpanLimits(
        max_attributes=_instead(anything, general),
        max_span_attributes=_instead(environment.ATTRIBUTE_COUNT_LIMIT, general),
        max_event_attributes=_instead(event, general),
        max_link_attributes=_instead(link, general),
        max_events=_instead(environment.EVENT_LIMIT, _DEFAULT),
        max_links=_instead(links, _DEFAULT),
        max_attribute_length=_instead(lengths[0], length),
        max_span_attribute_length=_instead(lengths[1], length),
    )


def _instead(name: str, default: int) -> int | None:
    """Return the default where the value of a variable is refused, None if the SDK reads it."""
    refused = environment.usable(name, values.count, None) is None and environment.is_set(name)
    return default if refused else None


def sampler() -> Sampler | None:
    """Return the sampler to use where the value of a variable is refused, None if none is."""
    from opentelemetry.sdk.trace.sampling import (
        DEFAULT_ON,
        ParentBasedTraceIdRatio,
        TraceIdRatioBased,
    )

    if not environment.is_set(environment.SAMPLER):
        return None
    name = environment.usable(environment.SAMPLER, _SAMPLERS, None)
    if name is None:
        return DEFAULT_ON
    if not name.endswith("traceidratio") or not environment.is_set(environment.SAMPLER_ARGUMENT):
        return None
    if environment.usable(environment.SAMPLER_ARGUMENT, values.share, None) is not None:
        return None
    return ParentBasedTraceIdRatio(1.0) if name.startswith("parent") else TraceIdRatioBased(1.0)
