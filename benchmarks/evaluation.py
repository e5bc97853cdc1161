"""Time and memory of verdicts, compared with the rebuild that they need.

Twenty assertions that look at everything a run has: calls, arguments, order, results, output,
status, totals. Each figure comes from a process of its own.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from agentool_otel.dialects.kit.dialect import dialects
from agentool_otel.evaluation import evaluate
from agentool_otel.loading import rebuild
from agentool_otel.reading.sources.files.undecoded import undecoded_spans
from agentool_otel.reading.sources.opening import open_source
from benchmarks._child import in_child, peak_mb
from benchmarks._rounds import compared
from benchmarks._sizes import Size
from benchmarks._table import Row, Target
from benchmarks.data import write_recording
from benchmarks.rebuild import Reading, rebuilt

__all__ = ["ASSERTIONS", "rows"]

_SPANS_OF_A_RUN = 28
_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
ASSERTIONS: list[dict[str, Any]] = [
    {"type": "status"},
    {"type": "no_tool_error"},
    {"type": "no_loop"},
    {"type": "contains_tool_call", "tool_name": "search_weather"},
    {"type": "contains_tool_call", "tool_name": "search_weather", "tool_args": {"limit": 5}},
    {"type": "no_tool_call", "tool_name": "delete_file"},
    {"type": "tool_call_count", "min_calls": 1, "max_calls": 40},
    {"type": "tool_call_count", "tool_name": "search_weather", "max_calls": 40},
    {"type": "tool_sequence", "tools": ["search_weather", "search_weather"]},
    {"type": "tool_sequence", "tools": ["search_weather"], "mode": "superset"},
    {"type": "args_match", "tool_name": "search_weather", "arg_patterns": {"query": "."}},
    {"type": "args_match", "tool_name": "search_weather", "arg_schemas": {"limit": _SCHEMA}},
    {"type": "output_contains", "text": "weather"},
    {"type": "output_contains", "text": ["a", "b"], "ignore_case": True},
    {"type": "output_matches", "pattern": r"\d+"},
    {"type": "output_equals", "value": "42"},
    {"type": "response_format", "schema": _SCHEMA},
    {"type": "latency", "max_ms": 60_000},
    {"type": "context_efficiency", "max_tokens": 100_000},
    {"type": "max_cost_usd", "max_usd": 1.0},
]


def rows(size: Size) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "recording.jsonl")
        runs: int = in_child(write, str(path), size.evaluated_runs)
        taken: list[tuple[Reading, Reading]] = []
        for _ in range(size.rebuild_rounds):
            ours = Reading(*in_child(evaluated, str(path), runs))
            taken.append((ours, Reading(*in_child(rebuilt, str(path), runs))))
        yield Row.of(
            f"{runs:,} runs held against {len(ASSERTIONS)} assertions, against their rebuild alone",
            "runs/s",
            compared([(ours.per_s, second.per_s) for ours, second in taken]),
            Target("≥ 1/1.5", 1 / 1.5, sense="at least"),
        )
        yield Row(
            what=f"peak memory of evaluating {runs:,} runs",
            unit="MB",
            ours=median(ours.peak_mb for ours, _ in taken),
            reference=median(second.peak_mb for _, second in taken),
            target=Target("< 200 MB", 200, on="ours"),
        )


def write(path: str, runs: int) -> int:
    """Write a recording and return how many runs it holds."""
    return write_recording(Path(path), runs * _SPANS_OF_A_RUN) // _SPANS_OF_A_RUN


def evaluated(path: str, runs: int) -> Reading:
    """Hold the runs of a recording against the assertions, results written beside it."""
    dialects()
    with Path(path).with_suffix(".results").open("wb") as out:
        start = time.process_time()
        source = open_source(path)
        for result in evaluate(ASSERTIONS, rebuild(undecoded_spans(source))):
            out.write(result.to_json().encode() + b"\n")
    return Reading(runs / (time.process_time() - start), peak_mb())
