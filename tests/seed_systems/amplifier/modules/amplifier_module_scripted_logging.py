"""A hook that writes the log that hooks-logging writes: some members beside `data`, which holds
the others.

Source: microsoft/amplifier-module-hooks-logging, schema `amplifier.log` 1.0.0.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from amplifier_core import HookResult
from amplifier_core.events import ALL_EVENTS

_BESIDE = ("status", "duration_ms", "error", "request_id", "session_id")
_ANNOUNCED = ("delegate:agent_spawned", "delegate:agent_completed")


async def mount(coordinator: Any, config: dict[str, Any]) -> None:
    path = Path(config["path"])

    async def write(event: str, data: dict[str, Any]) -> HookResult:
        line = {
            "ts": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            "lvl": "INFO",
            "schema": {"name": "amplifier.log", "ver": "1.0.0"},
            "event": event,
            **{name: data[name] for name in _BESIDE if name in data},
            "data": {name: value for name, value in data.items() if name not in _BESIDE},
        }
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, default=str) + "\n")
        return HookResult(action="continue")

    for event in (*ALL_EVENTS, *_ANNOUNCED):
        coordinator.hooks.register(event, write, 100, f"log {event}")
