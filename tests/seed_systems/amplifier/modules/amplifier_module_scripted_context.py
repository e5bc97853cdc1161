from __future__ import annotations

from typing import Any

from amplifier_module_scripted import Context


async def mount(coordinator: Any, config: Any = None) -> None:
    await coordinator.mount("context", Context())
