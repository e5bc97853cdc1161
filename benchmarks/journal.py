"""Cost of having an ended span on disk when its `end()` returns."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import TracerProvider

from agentool_otel.content.policy import Policy
from agentool_otel.tracing.capture import agent, tool
from agentool_otel.tracing.export.disk.files import AppendFile
from agentool_otel.tracing.export.masking.spans import Masking
from agentool_otel.tracing.export.pipeline import Pipeline
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from agentool_otel.tracing.spans.settings import settings
from benchmarks._child import in_child
from benchmarks._rounds import Compared, compared
from benchmarks._sink import sink
from benchmarks._sizes import Size
from benchmarks._table import Row
from benchmarks._workload import per_call, search

__all__ = ["rows"]

_MB = 1_000_000
_LARGE: dict[str, Any] = {
    "text": "the quick brown fox " * (_MB // 20),
    "text that is not ASCII": "Zażółć gęślą jaźń " * (_MB // 27),
    "30,000 small values": {f"name {n:05}": f"value {n:08}" for n in range(30_000)},
}
"""Arguments of a megabyte of JSON."""
_CALLS = 10


def rows(size: Size) -> Iterator[Row]:
    with sink() as url:
        measured = in_child(measure, url, size.rounds, size.agent_runs)
    for key, values in measured.items():
        yield Row.of(f"tool call {key}, journal on, against off", "µs", Compared(*values))
    checked = Compared(*in_child(measure_checks, size.rounds, size.agent_runs))
    yield Row.of("tool call recorded, descriptors checked, against unchecked", "µs", checked)
    for key, values in in_child(measure_large, size.rounds).items():
        key = f"calling thread, 1 MB of {key} recorded, journal on, against off"
        yield Row.of(key, "µs", Compared(*values))


def measure(url: str, rounds: int, runs: int) -> dict[str, Compared]:
    """Compare a tool call's cost with the journal and without, recorded and sent."""
    target = OtlpTarget(url, "http/protobuf")
    with tempfile.TemporaryDirectory() as folder:
        behind: dict[str, list[_Behind]] = {"recorded": [], "sent": []}
        for on in (True, False):
            recorded, sent = Pipeline(), Pipeline()
            recorded.record(Path(folder, f"recorded-{on}"), on)
            sent.send(target, Path(folder, "sent") if on else None)
            behind["recorded"].append(_Behind(recorded))
            behind["sent"].append(_Behind(sent))
        costs: dict[str, list[tuple[float, float]]] = {description: [] for description in behind}
        for number in range(rounds + 1):
            for key, pair in behind.items():
                on_off = [each.cost(runs) for each in pair]
                if number:  # the first round only warms up
                    costs[key].append((on_off[0], on_off[1]))
        for pair in behind.values():
            for each in pair:
                each.provider.shutdown()
    return {key: compared(pairs) for key, pairs in costs.items()}


def measure_checks(rounds: int, runs: int) -> Compared:
    """Compare the cost of a recorded tool call with and without the check before each write that
    the descriptor is still our file's.
    """
    checked: Any = AppendFile._descriptor
    costs: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        pipeline = Pipeline()
        pipeline.record(Path(folder))
        behind = _Behind(pipeline)
        for number in range(rounds + 1):
            pair: list[float] = []
            for asks in (checked, lambda file: file._file):
                setattr(AppendFile, "_descriptor", asks)  # noqa: B010 - mypy knows it as a method
                pair.append(behind.cost(runs))
            if number:
                costs.append((pair[0], pair[1]))
        setattr(AppendFile, "_descriptor", checked)  # noqa: B010
        behind.provider.shutdown()
    return compared(costs)


def measure_large(rounds: int) -> dict[str, Compared]:
    """Compare the time that a call with large arguments takes of the calling thread."""
    with tempfile.TemporaryDirectory() as folder:
        pair: list[_Behind] = []
        for on in (True, False):
            pipeline = Pipeline()
            pipeline.record(Path(folder, f"recorded-{on}"), on)
            pair.append(_Behind(pipeline))
        costs: dict[str, list[tuple[float, float]]] = {description: [] for description in _LARGE}
        for number in range(rounds + 1):
            for key, value in _LARGE.items():
                on_off = [each.cost_of_large(value) for each in pair]
                if number:
                    costs[key].append((on_off[0], on_off[1]))
        for each in pair:
            each.provider.shutdown()
    return {key: compared(pairs) for key, pairs in costs.items()}


class _Behind:
    """A provider with a pipeline behind it, as `instrument()` leaves it."""

    def __init__(self, pipeline: Pipeline):
        self.masking = Masking()
        pipeline.stages.append(self.masking)
        self.pipeline = pipeline
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(pipeline)

    def _use(self) -> None:
        settings.configure(provider=self.provider, policy=Policy(capture=True))
        settings.on_described = self.pipeline.opened if self.pipeline.keeps_open else None
        settings.writer = self.pipeline.direct_writer(self.masking)

    def cost(self, runs: int) -> float:
        """Return CPU microseconds per tool call."""
        self._use()
        within = agent(name="bench")
        with_tool, without = (
            per_call(within, call, runs, self.provider.force_flush)
            for call in (tool(search), search)
        )
        return with_tool - without

    def cost_of_large(self, value: Any) -> float:
        """Return CPU microseconds of the calling thread per call with a large argument."""
        self._use()

        @tool
        def take(value: Any) -> None:
            return None

        @agent(name="bench")
        def calls() -> float:
            start = time.thread_time()
            for _ in range(_CALLS):
                take(value)
            return (time.thread_time() - start) / _CALLS * 1e6

        cost = calls()
        self.provider.force_flush()
        return cost
