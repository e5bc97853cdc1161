"""The frameworks that have instrumentors, and attaching to them."""

from __future__ import annotations

from collections.abc import Container

from agentool_otel.capture.threads import carry_into_threads, stop_carrying
from agentool_otel.emit.session import guarded
from agentool_otel.ground.plugins import plugins
from agentool_otel.ground.words import logger
from agentool_otel.instrumentation.kit.instrumentor import AgentInstrumentor

__all__ = ["attach", "instrumentors"]

_log = logger("agentool_otel")

_known: dict[str, AgentInstrumentor] = {}


def instrumentors() -> dict[str, AgentInstrumentor]:
    """Return our instrumentors by framework name; those that fail to load are logged.

    Where the list of packages cannot be read, as when no descriptor is left, those known so far.
    """
    loaded: dict[str, AgentInstrumentor] = {}
    try:
        # Several tracing packages have one called "openai"; those are none of our business.
        points = plugins("opentelemetry_instrumentor", "agentool-")
    except OSError as error:
        _log.warning("installed packages cannot be listed (%s)", error.strerror or error)
        return dict(_known)
    for name, point in points.items():
        try:
            loaded[name.removeprefix("agentool-")] = point.load()()
        except Exception:  # a plug-in of a third party may break; the others still load
            _log.warning("instrumentor %s could not be loaded", name, exc_info=True)
    _known.update(loaded)
    return loaded


def attach(frameworks: Container[str], threads: bool) -> None:
    """Attach to some frameworks and detach from all others.

    Args:
        frameworks: their names.
        threads: whether threads and pools carry the context.
    """
    if threads:
        carry_into_threads()
    else:
        stop_carrying()
    for name, instrumentor in instrumentors().items():
        with guarded(f"attaching to {name}"):
            if name in frameworks:
                instrumentor.instrument()
            else:
                instrumentor.uninstrument()
