"""The SDKs that are compared: how each is set up and how it marks a tool, one file per SDK.

These files run in the SDK's own environment, so they import nothing of it before they are asked
to. They are imported by name: what is not installed has no types to check against.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast

from benchmarks._network import close_network

__all__ = ["ENDPOINT", "NAMES", "Adapter", "Sdk", "adapter", "prepared"]

NAMES = (
    "agentool",
    "openinference",
    "traceloop",
    "openlit",
    "langfuse",
    "logfire",
    "mlflow",
    "langsmith",
    "agentops",
    "util_genai",
)

ENDPOINT = "GUEST_ENDPOINT"
"""Environment variable: where spans are to be sent."""


@dataclass(frozen=True, slots=True)
class Sdk:
    """An SDK that is set up in this process."""

    tool: Callable[[Any], Any]
    """Decorate a tool, as the SDK's documentation has it."""
    flush: Callable[[], object]


class Adapter(Protocol):
    """Functions that a module of this package provides."""

    DISTRIBUTION: str
    REQUIREMENTS: tuple[str, ...]
    """Further requirements for pip, besides the distribution."""
    DECORATES: bool
    """Whether the SDK has a decorator; else `tool` is what a user would write by hand."""
    RECOVER: tuple[str, ...]
    """Arguments to python of the command that ships what a dead process left, if there is one."""

    def prepare(self, endpoint: str) -> Sdk:
        """Set the SDK up, its ordinary way, to send to an endpoint on this machine."""
        ...


def adapter(name: str) -> Adapter:
    return cast(Adapter, importlib.import_module(f"{__name__}.{name}"))


_prepared: dict[str, Sdk] = {}


def prepared(name: str) -> Sdk:
    """Return an SDK, set up on first use, with the network beyond this machine closed."""
    if name not in _prepared:
        close_network()
        _prepared[name] = adapter(name).prepare(os.environ[ENDPOINT])
    return _prepared[name]
