"""Libraries that an extra of this package brings, imported where they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from agentool_otel.errors import MissingDependencyError

__all__ = ["library"]


def library(module: str, purpose: str, extra: str, distribution: str | None = None) -> Any:
    """Return a module.

    Args:
        module: its name.
        purpose: what needs it, at the beginning of a sentence.
        extra: the extra of this package that brings it.
        distribution: what it is called where it is installed from, if not as the module.

    Raises:
        MissingDependencyError: it is not installed; the message has the command that installs it.
    """
    try:
        return import_module(module)
    except ImportError:
        from agentool_otel.ground.installing import install_command

        name = distribution or module
        raise MissingDependencyError(
            f"{purpose} needs {name}, which is not installed; hint: {install_command(extra, name)}"
        ) from None
