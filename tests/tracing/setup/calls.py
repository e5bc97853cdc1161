"""Carries out sequences of calls, each in a fork of a process that has none behind it.

Reads one JSON object a line: `environ`, and `steps`, which are the arguments of `instrument()`, or
the name of something else that is done. Answers with what is in force after the last of them.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from importlib import import_module
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

import agentool_otel
from agentool_otel.tracing.capture import threads
from agentool_otel.tracing.spans.settings import settings

for module in (
    "openai",
    *(
        f"agentool_otel.tracing.export.{name}"
        for name in ("masking.spans", "send.outbox", "pipeline")
    ),
):
    import_module(module)  # slow to import: once, and not in every fork

REDACT = {"upper": lambda name, text: text.upper(), "nothing": lambda name, text: None}


def instrument(named: dict[str, Any]) -> None:
    if "redact" in named:
        named = {**named, "redact": REDACT[named["redact"]]}
    agentool_otel.instrument(**named)


def step(description: Any) -> None:
    if isinstance(description, dict):
        instrument(description)
    elif description == "uninstrument":
        agentool_otel.uninstrument()
    elif description == "provider":
        trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))


def in_force() -> dict[str, Any]:
    status = agentool_otel.status()
    policy = settings.policy
    resource = getattr(settings.provider, "resource", None)
    return {
        **{name: status[name] for name in ("enabled", "destination", "joined_provider", "content")},
        "logs": status["logs"]["destination"],
        "metrics": status["metrics"]["destination"],
        "attached": {
            name: [
                patch["target"] for patch in instrumentor["patches"] if patch["state"] == "attached"
            ]
            for name, instrumentor in status["instrumentors"].items()
            if instrumentor["enabled"]
        },
        "redact": next((name for name, value in REDACT.items() if value is policy.redact), None),
        "places": [policy.on_spans, policy.in_events],
        "store": type(policy.store).__name__,
        "service": None if resource is None else resource.attributes["service.name"],
        "threads": threads._carrying,
        "handed_down": settings.handed_down,
        "journal": settings.on_described is not None,
    }


def answer(requests: dict[str, Any]) -> Any:
    try:
        os.environ.update(requests["environ"])
        settings.reset()
        for description in requests["steps"]:
            step(description)
        return in_force()
    except Exception:
        return traceback.format_exc()


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os.write(1, json.dumps(answer(json.loads(line))).encode() + b"\n")
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
