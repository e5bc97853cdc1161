"""Instrumentors of this package and of others: their entry points and the packages they patch.

None of them is loaded: `agentool-otel run` and `instrument()` list them at the start of every
program.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from agentool_otel.ground.plugins import plugins
from agentool_otel.ground.untrusted_text import logger

if TYPE_CHECKING:
    from agentool_otel.ground.entry_points import EntryPoint
    from agentool_otel.ground.integrations import Integration

__all__ = ["entry_points", "patched_packages"]

_log = logger("agentool_otel")
_PREFIX = "agentool-"
"""Several tracing packages have an instrumentor called `openai`; ours have this before the name."""
_packages: dict[str, tuple[str, ...]] = {}


def entry_points() -> dict[str, EntryPoint]:
    """Return the entry points of instrumentors by the name of their framework.

    Raises:
        OSError: the list of installed packages cannot be read, as when no descriptor is left.
    """
    points = plugins("opentelemetry_instrumentor", _PREFIX)
    return {name.removeprefix(_PREFIX): point for name, point in points.items()}


def patched_packages(framework: str, point: EntryPoint) -> tuple[str, ...]:
    """Return the packages that an instrumentor patches, as the declaration of its product has them;
    empty without a declaration.

    Args:
        framework: the name of the framework. Another package announces its declaration under it, as
            an entry point of the group `agentool_otel.integrations`.
        point: the entry point of the instrumentor.
    """
    if framework not in _packages:
        _packages[framework] = ()
        try:
            declaration = _declaration(framework, point)
            _packages[framework] = () if declaration is None else declaration.patches
        except Exception:  # the code of another package may be broken
            _log.warning("the declaration of %s cannot be loaded", framework, exc_info=True)
    return _packages[framework]


def _declaration(framework: str, point: EntryPoint) -> Integration | None:
    package = point.value.partition(":")[0].split(".")[:3]
    declaration: Integration
    if package[:2] == ["agentool_otel", "integrations"]:
        declaration = import_module(".".join(package)).INTEGRATION
        return declaration
    announced = plugins("agentool_otel.integrations").get(framework)
    if announced is None:
        return None
    declaration = announced.load()
    return declaration
