"""The frameworks that have instrumentors, and attaching to them.

An instrumentor is loaded with the first package that it patches, before the code of that package
runs; one whose product declares no packages as soon as it is attached. Few programs use more than
two frameworks, and loading the others would take longer than all the rest of the start.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Container, Mapping
from functools import partial
from typing import TYPE_CHECKING

from agentool_otel.ground import instrumentors as declared
from agentool_otel.ground.entry_points import EntryPoint
from agentool_otel.ground.import_hooks import before_import
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.tracing.capture.threads import carry_into_threads, stop_carrying
from agentool_otel.tracing.spans.settings import guarded

if TYPE_CHECKING:
    from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor

__all__ = ["attach", "framework_names", "instrumentors"]

_log = logger("agentool_otel")

_points: dict[str, EntryPoint] = {}
"""The entry points found last, by framework name."""
_loaded: dict[str, AgentInstrumentor] = {}
_waiting: set[str] = set()
"""Frameworks whose instrumentors are loaded when a package of theirs is imported."""
_busy: set[str] = set()
"""Those that are being loaded."""
_attached: Container[str] = ()
"""Those that the last `attach` named."""


def framework_names() -> Collection[str]:
    """Return the names of the frameworks that have instrumentors.

    Where the list of packages cannot be read, as when no descriptor is left, those known so far.
    """
    global _points
    try:
        _points = declared.entry_points()
    except OSError as error:
        _log.warning("installed packages cannot be listed (%s)", error.strerror or error)
    return _points.keys()


def instrumentors() -> Mapping[str, AgentInstrumentor]:
    """Return our instrumentors by framework name, all of them loaded; those that fail to load are
    logged."""
    for name in tuple(framework_names()):
        if name not in _loaded:
            _load(name)
    return {name: _loaded[name] for name in _points if name in _loaded}


def attach(frameworks: Container[str], threads: bool) -> None:
    """Attach to some frameworks and detach from all others.

    Args:
        frameworks: their names.
        threads: whether threads and pools carry the context.
    """
    global _attached
    _attached = frameworks
    if threads:
        carry_into_threads()
    else:
        stop_carrying()
    for name in tuple(_points or framework_names()):
        if name in _loaded:
            _switch(name, _loaded[name])
        elif _is_due(name):
            _load(name)
        elif name not in _waiting:
            _waiting.add(name)
            for package in declared.patched_packages(name, _points[name]):
                before_import(package, partial(_load, name))


def _is_due(name: str) -> bool:
    """Return whether a framework that is not loaded yet has to be."""
    packages = declared.patched_packages(name, _points[name])
    if not packages:
        return name in _attached
    return any(package in sys.modules for package in packages)


def _load(name: str) -> None:
    """Load the instrumentor of a framework, and attach it if it is one of those to attach to.

    One that is attached already may have been without its framework: it looks again.
    """
    if name in _busy:  # looking for a package imports the namespace that it is in
        return
    _busy.add(name)
    try:
        if name not in _loaded:
            _loaded[name] = _points[name].load()()
        if name in _attached:
            _switch(name, _loaded[name])
    except Exception:  # a plug-in of a third party may break; the others still load
        _log.warning("instrumentor %s could not be loaded", name, exc_info=True)
    finally:
        _busy.discard(name)


def _switch(name: str, instrumentor: AgentInstrumentor) -> None:
    with guarded(f"attaching to {name}"):
        if name in _attached:
            instrumentor.instrument()
        else:
            instrumentor.uninstrument()
