"""A framework played with another tracer on, ours on, or both; the outcome as JSON on stdout.

python -m tests.situations.beside langchain openinference "theirs ours"

The third argument names who is switched on, in this order; `theirs` has a provider of its own, and
`shared` is theirs on our provider. Each has a process of its own: few of them can be undone.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from agentool_otel.testing.loopback_model import LoopbackModel
from tests.situations.readable import readable
from tests.situations.situations import asked, driver_of, possible, turns
from tests.situations.tracers import Switch, switch_of

__all__ = ["PLAYED", "Played"]

PLAYED = ("plain", "asynchronous", "stream", "parallel_tools", "tool_error", "two_agents")
"""Without `model_error` and `cancelled`, where what is left open ends whenever it is collected."""

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
Played = dict[str, Any]
"""`outcome`, `error`, `theirs` (a line per span), `recorded` (as in `expected/`), `counted`."""


class _Beside:
    def __init__(self, framework: str, switch: Switch):
        self.driver: Any = driver_of(framework)
        self.switch = switch
        self.theirs: Any = None
        self.folder = os.environ["AGENTOOL_DIR"] = tempfile.mkdtemp()

    def switch_on(self, owner: str) -> None:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        if owner == "ours":
            import agentool_otel

            agentool_otel.instrument()
        elif owner == "shared":
            self.switch(trace.get_tracer_provider())
        else:
            self.theirs = InMemorySpanExporter()
            provider = TracerProvider(shutdown_on_exit=False)
            self.switch(provider)
            # Behind the processors of theirs that rewrite spans.
            provider.add_span_processor(SimpleSpanProcessor(self.theirs))

    def play(self, situation: str) -> Played:
        asked.clear()
        if self.theirs is not None:
            self.theirs.clear()
        before = len(self._recorded())
        with LoopbackModel(*turns(self.driver, situation)) as model:
            model.requests = asked
            try:
                outcome, error = possible(self.driver)[situation](model.base_url), None
            except Exception as raised:
                outcome, error = None, f"{type(raised).__name__}: {raised}"
        # A service's name would name runs that have none. A log record of a span of theirs, which
        # is elsewhere, has no name.
        recorded = [replace(item, resource={}) for item in self._recorded()[before:] if item.name]
        return {
            "outcome": outcome,
            "error": error,
            "theirs": self._lines(),
            "recorded": readable(recorded) if recorded else None,
            "counted": _counted(recorded),
        }

    def _recorded(self) -> list[Any]:
        import agentool_otel
        from agentool_otel.reading.sources.opening import open_source

        agentool_otel.flush()
        return list(open_source(self.folder).spans()) if os.listdir(self.folder) else []

    def _lines(self) -> list[str]:
        spans: Sequence[Any] = () if self.theirs is None else self.theirs.get_finished_spans()
        return sorted(
            f"{_ID.sub('', s.name)} {s.status.status_code.name} {sorted(s.attributes or ())}"
            for s in spans
        )


def _counted(spans: list[Any]) -> Any:
    """Return the counts of a rebuild of everything: steps, calls and tokens."""
    from agentool_otel.loading import rebuild

    traces = [item.trace.to_dict() for item in rebuild(spans)]
    steps = [step for trace in traces for step in trace["steps"]]
    return {
        "runs": len(traces),
        "steps": sorted(step["type"] for step in steps),
        "tokens": sum(trace.get("metrics", {}).get("total_tokens") or 0 for trace in traces),
    }


def main(framework: str, tracer: str, order: str) -> int:
    extra = _Beside(framework, switch_of(framework, tracer))
    for part in order.split():
        extra.switch_on(part)
    names = [item for item in PLAYED if item in possible(extra.driver)]
    print(json.dumps({name: extra.play(name) for name in names}))
    sys.stdout.flush()
    os._exit(0)  # without waiting for what some of them leave behind


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
