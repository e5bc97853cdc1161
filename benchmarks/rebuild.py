"""Speed of rebuilding traces on one core, and its memory, against `orjson.loads` of the same lines:
the least that reading them can take. Each figure comes from a process of its own.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import orjson

from agentool_otel.dialects.kit.dialect import dialects
from agentool_otel.loading import rebuild
from agentool_otel.reading.sources.files.undecoded import undecoded_spans
from agentool_otel.reading.sources.opening import open_source
from benchmarks._child import in_child, peak_mb
from benchmarks._rounds import compared
from benchmarks._sizes import Size
from benchmarks._table import Row, Target
from benchmarks.data import write_recording

__all__ = ["rows"]

_FLAT = 1.25
"""Growth of the peak from the smallest file to the largest that still counts as none."""


class Reading(NamedTuple):
    """One reading of a recording."""

    per_s: float
    """Spans or runs per second of CPU time."""
    peak_mb: float


def rows(size: Size) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "recording.jsonl")
        yield from _rows_of(path, size.recordings, "agent runs", size.rebuild_rounds)
        yield from _rows_of(path, size.loops, "bare chat loops", size.rebuild_rounds)


def _rows_of(path: Path, sizes: tuple[int, ...], description: str, rounds: int) -> Iterator[Row]:
    peaks: list[float] = []
    for size in sizes:
        spans: int = in_child(write, str(path), size, description == "agent runs")
        taken: list[tuple[Reading, Reading]] = []
        for _ in range(rounds):
            ours = Reading(*in_child(rebuilt, str(path), spans))
            taken.append((ours, Reading(*in_child(parsed, str(path), spans))))
        yield Row.of(
            f"rebuild {spans:,} spans of {description}, against orjson.loads",
            "spans/s",
            compared([(ours.per_s, second.per_s) for ours, second in taken]),
            # The design's figure is for agent runs; a bare loop is parsed twice, see README.md.
            Target("≥ 0.25×", 0.25, sense="at least") if description == "agent runs" else None,
        )
        peaks.append(median(ours.peak_mb for ours, _ in taken))
        yield Row(
            what=f"peak memory of rebuilding {spans:,} spans of {description}",
            unit="MB",
            ours=peaks[-1],
            reference=median(second.peak_mb for _, second in taken),
            target=Target("< 200 MB", 200, on="ours"),
        )
    yield Row(
        what=f"the same, {description}: largest file against smallest",
        unit="MB",
        ours=peaks[-1],
        reference=peaks[0],
        ratio=peaks[-1] / peaks[0],
        # Of bare loops it is flat only above the budget of grouping, 64 MB, see README.md.
        target=Target(f"flat (≤ {_FLAT}×)", _FLAT) if description == "agent runs" else None,
    )


def write(path: str, spans: int, agents: bool) -> int:
    """Write a recording and return how many spans it holds."""
    return write_recording(Path(path), spans, agents=agents)


def rebuilt(path: str, number: int) -> Reading:
    """Rebuild a recording of so many spans, or runs, into a file of traces beside it, once
    everything is imported."""
    dialects()
    with Path(path).with_suffix(".traces").open("wb") as out:
        start = time.process_time()
        source = open_source(path)
        for one in rebuild(undecoded_spans(source)):
            out.write(one.to_bytes() + b"\n")
    return Reading(number / (time.process_time() - start), peak_mb())


def parsed(path: str, spans: int) -> Reading:
    """Parse the same lines and drop the result."""
    start = time.process_time()
    with Path(path).open("rb") as file:
        for line in file:
            orjson.loads(line)
    return Reading(spans / (time.process_time() - start), peak_mb())
