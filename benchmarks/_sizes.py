"""Sizes of the measurements: six minutes for all, or one with `--quick`."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FULL", "QUICK", "Size"]


class Size(NamedTuple):
    """Repetitions and size of each measurement."""

    rounds: int
    agent_runs: int
    """Agent runs of ten tool calls per round and case, live and for peers."""
    model_calls: int
    """Calls of a model per round and way to trace."""
    interpreters: int
    """Rounds of fresh interpreters, one per import."""
    queued: int
    """Agent runs whose tool spans are held in memory."""
    endless: int
    """Agent runs of which a tenth is never finished."""
    batches: int
    """Batches of 512 spans exported per round and case."""
    disturbed_s: float
    """Seconds per round and case of an application thread beside an exporter."""
    recordings: tuple[int, ...]
    """Spans of the recordings of agent runs that are rebuilt, ascending."""
    loops: tuple[int, ...]
    """The same for recordings of bare chat loops."""
    rebuild_rounds: int
    shuffled: tuple[int, ...]
    """Spans of the files in which no span stands beside its trace, ascending."""
    evaluated_runs: int
    """Runs of 28 spans that are held against assertions."""
    masked: int
    """Characters of the texts in which credentials are looked for."""
    hostile: int
    """Spans of the traces of hostile shapes."""


FULL = Size(
    rounds=9,
    agent_runs=300,
    model_calls=100,
    interpreters=15,
    queued=500,
    endless=100_000,
    batches=10,
    disturbed_s=3.0,
    recordings=(20_000, 80_000, 200_000),
    loops=(20_000, 80_000),
    rebuild_rounds=3,
    shuffled=(50_000, 200_000, 2_000_000),
    evaluated_runs=20_000,
    masked=1_000_000,
    hostile=20_000,
)

QUICK = Size(
    rounds=5,
    agent_runs=60,
    model_calls=20,
    interpreters=5,
    queued=100,
    endless=20_000,
    batches=2,
    disturbed_s=0.5,
    recordings=(10_000, 40_000),
    loops=(10_000, 20_000),
    rebuild_rounds=1,
    shuffled=(20_000, 50_000),
    evaluated_runs=1_000,
    masked=1_000_000,
    hostile=5_000,
)
