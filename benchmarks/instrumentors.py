"""Cost of a model call and tool calls of a framework under our instrumentor, and under others of
the same framework, where they are installed.

    python -m benchmarks instrumentors      in an environment that holds a framework and the others

Each case is a process of its own, which waits while the others take their turn: few of the others
can be undone. The model is in the parent, so that only the program's own CPU time counts. A figure
is what a run costs more than without any tracer.

alone    everything to one provider of the user's, whose exporter drops
default  ours as `instrument()` leaves it, recorded in files with the journal; theirs with the SDK's
         batch processor and the official OTLP/HTTP exporter, to a receiver
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.metadata import version
from statistics import quantiles
from typing import Any

from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.testing.turns import Request, ToolCall, Turn
from benchmarks._child import ROOT, environment
from benchmarks._frameworks import FRAMEWORKS, TOOL_CALLS, WORK
from benchmarks._rounds import Compared
from benchmarks._sink import sink
from benchmarks._sizes import Size
from benchmarks._table import Row, Target
from tests.situations.situations import driver_of
from tests.situations.tracers import tracers

__all__ = ["rows"]

_AT_MOST_THEIRS = Target("≤ 1×", 1.0)
_WORDS = {"model call": "a run of one model call", "tools": f"a run of {TOOL_CALLS} tool calls"}


def rows(size: Size) -> Iterator[Row]:
    for framework in FRAMEWORKS:
        driver: Any = driver_of(framework)
        others = _others(framework) if driver else []
        if not others:
            yield Row(what=framework, note="not installed, or nothing beside it")
            continue
        versions = " ".join(
            f"{distribution} {version(distribution)}" for distribution in driver.DISTRIBUTIONS
        )
        for work in WORK[framework]:
            for place in ("alone", "default"):
                rounds = _measured(framework, work, place, others, size)
                for second in others:
                    text = f"{versions}: {_WORDS[work]}, against {second}, {place}"
                    yield Row.of(text, "µs", _compared(rounds, second), _AT_MOST_THEIRS)


def _others(framework: str) -> list[str]:
    if framework == "mcp":
        return ["native"]  # OpenInference's package passes the context on, and writes no spans
    return sorted(tracers(framework))


def _compared(rounds: list[dict[str, float]], second: str) -> Compared:
    """Return the additional cost of ours and another tracer over none.

    What else the machine does only ever adds to a cost, and a run costs twenty times what is looked
    for. So a case costs what its best quarter of rounds did; the spread is that of four parts.
    """
    ours, theirs = _more(rounds, "ours"), _more(rounds, second)
    parts = [(_more(rounds[n::4], "ours"), _more(rounds[n::4], second)) for n in range(4)]
    ratios = sorted(one / another for one, another in parts)
    return Compared(ours, theirs, ours / theirs, ratios[1], ratios[2])


def _more(rounds: list[dict[str, float]], name: str) -> float:
    cost, bare = (quantiles(each[item] for each in rounds)[0] for item in (name, "none"))
    return cost - bare


def _measured(
    framework: str, work: str, place: str, others: list[str], size: Size
) -> list[dict[str, float]]:
    """Return CPU microseconds per run of each case, round by round."""
    runs = 10  # so few that whatever disturbs a turn does not disturb the next
    with ExitStack() as stack:
        model = stack.enter_context(LoopbackModel())
        model.rule(_tools if work == "tools" else _text)
        receiver = stack.enter_context(sink())
        cases = {
            name: stack.enter_context(_Case(framework, work, place, name, model, receiver))
            for name in ("none", "ours", *others)
        }
        return [
            {name: value.play(runs) for name, value in cases.items()}
            for _ in range(4 * size.rounds)
        ]


def _text(request: Request) -> Turn:
    return Turn(text="A standard for telemetry.", input_tokens=40, output_tokens=6)


def _tools(request: Request) -> Turn | None:
    if request.after_tool or not request.tools:
        return _text(request)
    calls = (ToolCall("search_web", {"query": f"telemetry {n}"}) for n in range(TOOL_CALLS))
    return Turn(tool_calls=tuple(calls), input_tokens=40, output_tokens=60)


class _Case:
    """A process that runs a framework with one tracer on, on demand."""

    def __init__(
        self, framework: str, work: str, place: str, tracer: str, model: LoopbackModel, sink: str
    ):
        self._folder = tempfile.TemporaryDirectory()
        url = model.root_url if framework == "anthropic" else model.base_url
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "benchmarks._frameworks"),
                *(framework, work, place, tracer, url, sink),
            ],
            cwd=ROOT,
            env=environment() | {"AGENTOOL_DIR": self._folder.name},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> _Case:
        self.play(10)  # the first runs only warm up
        return self

    def play(self, runs: int) -> float:
        """Return CPU microseconds per run."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{runs}\n")
        self._process.stdin.flush()
        return float(json.loads(self._process.stdout.readline()))

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()
