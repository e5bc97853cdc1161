from __future__ import annotations

from typing import Any

from amplifier_module_scripted import Orchestrator


async def mount(coordinator: Any, config: Any = None) -> None:
    await coordinator.mount("orchestrator", Orchestrator(config or {}))
