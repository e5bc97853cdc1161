from __future__ import annotations

from typing import Any

from amplifier_module_scripted import Delegate


async def mount(coordinator: Any, config: Any = None) -> None:
    await coordinator.mount("tools", Delegate(coordinator, config), name="delegate")
