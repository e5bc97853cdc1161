"""A hook that announces an event of its own, and sends it when a turn is about to end."""

from __future__ import annotations

from typing import Any

from amplifier_core import HookResult


async def mount(coordinator: Any, config: Any = None) -> None:
    async def water(event: str, data: dict[str, Any]) -> HookResult:
        messages = {"litres": 3, "thoughts": "green"}
        await coordinator.hooks.emit("garden:watered", messages)
        return HookResult(action="continue")

    coordinator.register_contributor(
        "observability.events", "scripted-announcing", lambda: ["garden:watered"]
    )
    coordinator.hooks.register("execution:end", water, 0, "water")
