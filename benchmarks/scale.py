"""Files in which no span stands beside its trace, up to two million spans: rate and memory as the
file grows, with one process and with several. Takes some seven minutes and 9 GB of disk."""

from __future__ import annotations

import mmap
import os
import random
import re
import tempfile
import time
from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from agentool_otel.reading.parallel import rebuild_in_processes
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.files.undecoded import undecoded_spans
from agentool_otel.reading.sources.grouping.by_trace import group_by_trace
from agentool_otel.reading.sources.opening import open_source
from benchmarks._child import in_child, peak_mb
from benchmarks._sizes import Size
from benchmarks._table import Row, Target
from benchmarks.data import BATCH, write_recording
from benchmarks.rebuild import parsed, rebuilt

__all__ = ["rows"]

_PATIENCE_S = 3600
_JOBS = 2
_SEED = 50_000
"""So many spans are made up; more of them are the same under other trace ids."""
_BEGIN, _SPAN, _END = b'{"resourceSpans":[', b'{"traceId":"', b"]}]}]}\n"
_TRACE_ID = re.compile(rb'(?<="traceId":")[0-9a-f]{4}')


class Shared(NamedTuple):
    """A rebuild in several processes."""

    spans_per_s: float
    """By the clock."""
    peak_mb: float
    """Of the process that reads."""


def rows(size: Size) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "shuffled.jsonl")
        for request in size.shuffled:
            yield from _measured(path, request, BATCH)
        yield from _measured(path, size.shuffled[-2], 1)


def _measured(path: Path, number: int, batch: int) -> Iterator[Row]:
    """Yield the rows of a file with so many spans; a target for the rate only where lines are what
    exporters write."""
    spans: int = in_child(write, str(path), number, batch, patience_s=_PATIENCE_S)
    a_line = "" if batch > 1 else "a line each, "
    text = f"{spans:,} spans in any order, {a_line}{path.stat().st_size / 1e6:,.0f} MB"
    rate, peak = in_child(rebuilt, str(path), spans, patience_s=_PATIENCE_S)
    second, other_peak = in_child(parsed, str(path), spans, patience_s=_PATIENCE_S)
    yield Row(
        what=f"rebuild {text}",
        unit="spans/s",
        ours=rate,
        reference=second,
        ratio=rate / second,
        target=Target("≥ 0.25×", 0.25, sense="at least") if batch > 1 else None,
    )
    yield Row(
        what="its peak memory",
        unit="MB",
        ours=peak,
        reference=other_peak,
        target=Target("< 200 MB", 200, on="ours"),
    )
    shared = Shared(*in_child(shared_out, str(path), spans, patience_s=_PATIENCE_S))
    yield Row(
        what=f"the same by the clock, --jobs {_JOBS} against 1",
        unit="spans/s",
        ours=shared.spans_per_s,
        reference=in_child(by_the_clock, str(path), spans, patience_s=_PATIENCE_S),
    )
    yield Row(
        what="peak memory of the process that reads",
        unit="MB",
        ours=shared.peak_mb,
        target=Target("< 200 MB", 200, on="ours"),
    )


def write(path: str, spans: int, batch: int) -> int:
    """Write at least `spans` spans of agent runs, shuffled, in lines of `batch`; return how many.
    They are on the disk then: what is measured next does not pay for it."""
    seed = Path(path).with_suffix(".seed")
    written = write_recording(seed, min(spans, _SEED), batch=1)
    copies = -(-spans // written)
    starts, at = array("q"), 0
    with seed.open("rb") as file:
        for line in file:
            starts.append(at)
            at += len(line)
    order = array("q", range(written * copies))
    random.Random(0).shuffle(order)
    with (
        seed.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as lines,
        Path(path).open("wb") as out,
    ):

        def shuffled() -> Iterator[bytes]:
            for number in order:
                copy, place = divmod(number, written)
                lines.seek(starts[place])
                yield _TRACE_ID.sub(b"%04x" % copy, lines.readline())

        taken = shuffled()
        while value := list(islice(taken, batch)):
            out.write(_joined(value))
        out.flush()
        os.fsync(out.fileno())
    return written * copies


def _joined(lines: list[bytes]) -> bytes:
    """Return one line with the spans of lines of one each, those of a resource together."""
    groups: dict[bytes, list[bytes]] = {}
    for line in lines:
        at = line.index(_SPAN)
        groups.setdefault(line[len(_BEGIN) : at], []).append(line[at : -len(_END)])
    return (
        _BEGIN
        + b",".join(head + b",".join(spans) + _END[:-3] for head, spans in groups.items())
        + _END[-3:]
    )


def shared_out(path: str, spans: int) -> Shared:
    """Rebuild a file in several processes."""
    start = time.perf_counter()
    with Path(path).with_suffix(".traces").open("wb") as out:
        source = open_source(path)
        groups = group_by_trace(undecoded_spans(source))
        for line in rebuild_in_processes(groups, _JOBS, Rebuilt.to_bytes):
            out.write(line + b"\n")
    return Shared(spans / (time.perf_counter() - start), peak_mb())


def by_the_clock(path: str, spans: int) -> float:
    """Rebuild a file in this process, and return the spans per second of the clock."""
    start = time.perf_counter()
    rebuilt(path, spans)
    return spans / (time.perf_counter() - start)
