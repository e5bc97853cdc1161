"""Real sessions of Amplifier's kernel, with modules of our own and the hook of this package."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["LOOPS", "Span", "call", "kernel", "plan", "run", "session", "spans_named"]

MODULES = Path(__file__).parent / "modules"
LOOPS = ("streaming", "basic")
"""The two dialects of payloads."""

if str(MODULES) not in sys.path:
    sys.path.insert(0, str(MODULES))

Plan = dict[str, Any]
Span = Any


def kernel(module: str = "") -> Any:
    """Return Amplifier's kernel, or a module of it."""
    return import_module(f"amplifier_core{module}")


def call(call_id: str, tool: str = "weather", **arguments: Any) -> dict[str, Any]:
    """Return a tool call as a model requests it."""
    return {"id": call_id, "name": tool, "arguments": arguments}


def plan(
    *script: Any,
    loop: str = "streaming",
    hooks: Sequence[Mapping[str, Any]] = ({"module": "hooks-agentool-otel"},),
    tools: Sequence[Mapping[str, Any]] = (),
    provider: Mapping[str, Any] | None = None,
    **options: Any,
) -> Plan:
    """Return a mount plan.

    Args:
        script: what the model answers, in order.
        loop: whose events the orchestrator sends.
        hooks: hooks to mount, ours by default.
        tools: tools to mount beside the weather.
        provider: further configuration of the provider.
        options: further configuration of the orchestrator.
    """
    requests = {"script": list(script), **(provider or {})}
    return {
        "session": {
            "orchestrator": {
                "module": "scripted-orchestrator",
                "config": {"events": loop, **options},
            },
            "context": "scripted-context",
        },
        "providers": [{"module": "scripted-provider", "config": requests}],
        "tools": [{"module": "scripted-weather"}, *tools],
        "hooks": list(hooks),
    }


def run(
    mounted: Plan,
    *prompts: str,
    before: Callable[[Any], Awaitable[None]] | None = None,
    session_id: str | None = None,
) -> list[str]:
    """Run a session and return its answers.

    Args:
        mounted: its mount plan.
        prompts: its input, one turn each.
        before: called with the session once it is initialised.
        session_id: its id, a random one by default.
    """

    async def main() -> list[str]:
        async with session(mounted, session_id) as item:
            if before is not None:
                await before(item)
            return [await item.execute(prompt) for prompt in prompts]

    return asyncio.run(main())


def session(mounted: Plan, session_id: str | None = None) -> Any:
    """Return a session of the real kernel."""
    return kernel().AmplifierSession(mounted, session_id=session_id)


def spans_named(spans: Any, name: str) -> list[Span]:
    """Return the spans of a name, in the order in which they began."""
    finished = [item for item in spans.finished() if item.name == name]
    return sorted(finished, key=lambda item: item.start_time)
