from __future__ import annotations

from typing import Any

from amplifier_module_scripted import Weather


async def mount(coordinator: Any, config: Any = None) -> None:
    await coordinator.mount("tools", Weather(), name="weather")
