"""Other instrumentors of the same frameworks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["Switch", "switch_of", "tracers"]

_PROCESSOR = "openinference.instrumentation.pydantic_ai"

Switch = Callable[[Any], object]
"""Switches a tracer on, on a tracer provider."""


def tracers(framework: str) -> dict[str, Switch]:
    """Return the tracers of a framework that are installed, by name.

    pydantic-ai has spans of its own, which OpenInference's package rewrites.
    """
    driver = import_module(f"tests.situations.drivers.{framework}")
    classes: dict[str, str] = getattr(driver, "TRACERS", {})
    instrumentings = {
        name: _instrumenting(place)
        for name, place in classes.items()
        if _is_installed(place.partition(":")[0])
    }
    if framework == "pydantic_ai" and _is_installed("pydantic_ai"):
        instrumentings["native"] = _pydantic_ai
        if _is_installed(_PROCESSOR):
            instrumentings["openinference"] = _pydantic_ai_rewritten
    return instrumentings


def switch_of(framework: str, tracer: str) -> Switch:
    """Return the switch of a tracer that is installed."""
    return tracers(framework)[tracer]


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _instrumenting(place: str) -> Switch:
    module, _, name = place.partition(":")
    return lambda provider: getattr(import_module(module), name)().instrument(
        tracer_provider=provider
    )


def _pydantic_ai(provider: Any) -> None:
    module: Any = import_module("pydantic_ai")
    module.Agent.instrument_all(module.InstrumentationSettings(tracer_provider=provider))


def _pydantic_ai_rewritten(provider: Any) -> None:
    provider.add_span_processor(import_module(_PROCESSOR).OpenInferenceSpanProcessor())
    _pydantic_ai(provider)
