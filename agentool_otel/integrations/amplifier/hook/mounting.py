"""The hook module that Amplifier mounts: `hooks: [{module: hooks-agentool-otel}]` in a mount plan.

Amplifier finds it by the entry point `amplifier.modules`, and both functions in one module.

Source: amplifier-core 2.0.2, `loader.py` and `_session_init.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from agentool_otel.errors import ConfigurationError
from agentool_otel.integrations.amplifier.hook.session_hook import SessionHook
from agentool_otel.tracing.setup.runtime import instrument

__all__ = ["mount", "on_session_ready"]

_OPTIONS = ("endpoint", "service_name", "content", "include", "exclude", "also", "record")
"""Options of `agentool_otel.instrument` that a mount plan may hold."""

_hooks: dict[int, SessionHook] = {}
"""By identity of the coordinator, until its session is cleaned up."""


async def mount(
    coordinator: Any, config: Mapping[str, Any] | None = None
) -> Callable[[], Awaitable[None]]:
    """Record a session: its turns, model calls, tool calls and children.

    Args:
        coordinator: the session's coordinator.
        config: options of `agentool_otel.instrument`, all of which may be missing. What is named
            holds for the process, as if the program had called it.

    Returns:
        A function that takes everything back.

    Raises:
        ConfigurationError: an option is not known, or not valid. Amplifier logs it and goes on.
    """
    options = dict(config or {})
    unknown = sorted(options.keys() - set(_OPTIONS))
    if unknown:
        raise ConfigurationError(
            f"hooks-agentool-otel has no option {unknown[0]!r}. It has {', '.join(_OPTIONS)}."
        )
    instrument(**options)
    hook = SessionHook(coordinator)
    try:
        hook.register()
    except BaseException:
        hook.remove()
        raise
    _hooks[id(coordinator)] = hook

    async def cleanup() -> None:
        if _hooks.get(id(coordinator)) is hook:
            del _hooks[id(coordinator)]
        hook.remove()

    return cleanup


async def on_session_ready(coordinator: Any) -> None:
    """Inspect the modules that are mounted and the events they announced."""
    hook = _hooks.get(id(coordinator))
    if hook is not None:
        await hook.ready()
