"""The name of the service: on the resource of the providers that are our own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from agentool_otel.ground import environment

__all__ = ["NAME", "rename", "resource_of", "service_of"]

NAME = "service.name"


def resource_of(service_name: str | None) -> Any:
    """Return the resource of our own provider. A program without a service name has that of its
    script, and a worker process that of the program that `agentool-otel run` has started.

    Args:
        service_name: named in code; by default that of the environment.
    """
    from opentelemetry.sdk.resources import Resource

    environment.pairs(environment.RESOURCE_ATTRIBUTES)  # the SDK leaves the others out
    if service_name:
        return Resource.create({NAME: service_name})
    resource = Resource.create()
    if str(resource.attributes.get(NAME, "")).startswith("unknown_service"):
        script = _module_below_run() or Path(sys.argv[0] if sys.argv else "").stem
        if script in ("", "-c", "-m", "__main__"):  # text, or a worker that has no script yet
            script = _program_of_run()
        if script:
            return resource.merge(Resource({NAME: script}))
    return resource


def _module_below_run() -> str:
    """Return the module that Python was started for below `agentool-otel run`; empty where there is
    none. `run` names a program so, too."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is None or not environment.value(environment.RUN_OPTIONS):
        return ""
    name: str = spec.name
    return name.removesuffix(".__main__")


def _program_of_run() -> str:
    """Return the name of the program that `agentool-otel run` has started; empty without it."""
    try:
        options = json.loads(environment.value(environment.RUN_OPTIONS) or "{}")
    except ValueError:
        return ""
    name = options.get("program") if isinstance(options, dict) else None
    return name if isinstance(name, str) else ""


def service_of(provider: Any) -> str | None:
    """Return the name of the service that a provider of ours has; None if it has none."""
    resource = getattr(provider, "resource", None)
    name = getattr(resource, "attributes", {}).get(NAME)
    return None if name is None else str(name)


def rename(provider: Any, service_name: str) -> None:
    """Change the service name of new spans or metrics of a provider of ours.

    Where the SDK keeps no list of its tracers, those that libraries hold keep the name that they
    were made with.

    Source: opentelemetry-sdk 1.45, `_update_resource` of both; 1.30, where the resource is held.
    """
    from opentelemetry.sdk.resources import Resource

    change = Resource({NAME: service_name})
    update = getattr(provider, "_update_resource", None)
    if update is not None:
        update(change)
        return
    config = getattr(provider, "_sdk_config", None)
    if config is not None:
        config.resource = config.resource.merge(change)
    elif hasattr(provider, "_resource"):
        provider._resource = provider._resource.merge(change)
