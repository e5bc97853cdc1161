"""Cost of a traced call until a receiver or a file has its span, by the text in it.

Tool calls with a result of a kilobyte and model calls with 40 KB of messages, of each text in
`_payloads.py`. Every way to trace waits in a process of its own and takes turns of calls with the
others; a call costs what the process takes for it, less the untraced one.

This version is compared with the one named in `baseline.txt`: it may cost a tenth more, or what
the noise of the rounds covers. Peers run in `.venv-peers/NAME` or, without that, beside us.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks import _payloads
from benchmarks._baseline import baseline, commit
from benchmarks._child import ROOT, ChildError, environment
from benchmarks._rounds import Compared, compared, quartiles
from benchmarks._sink import sink
from benchmarks._sizes import Size
from benchmarks._table import Row, Target

__all__ = ["PEERS", "overlap", "rows"]

_WORKER = ROOT / "benchmarks" / "_whole_worker.py"
_BINARIES = "Scripts" if sys.platform == "win32" else "bin"
_PEERS = ROOT / ".venv-peers"

PEERS = {
    "traceloop": "traceloop-sdk httpx",
    "openlit": "openlit",
    "openinference": "openinference-instrumentation openinference-instrumentation-openai",
    "logfire": "logfire",
}
"""Requirements of each peer for pip, the distribution of the decorator first."""

_BESIDE = "openai orjson opentelemetry-exporter-otlp-proto-http"

_WAYS = ("recorded", "sent")
_LEAST_US = 0.01
"""Least cost of a call that noise covers: a ratio needs a positive number."""


class _Worker(NamedTuple):
    name: str
    process: subprocess.Popen[str]

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Send one line and return the answer.

        Raises:
            ChildError: the process has ended.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # its output has ended, too
        answer = self.process.stdout.readline()
        if not answer:
            raise ChildError(f"{self.name} exited {self.process.wait()}")
        document: dict[str, Any] = json.loads(answer)
        return document


class _Load(NamedTuple):
    """One kind of call with one text."""

    case: str
    payload: str
    calls: int

    @property
    def what(self) -> str:
        call = "tool call, 1 KB" if self.case == "tool" else "model call, 40 KB"
        return f"{call} of {self.payload}"


@dataclass(frozen=True, slots=True)
class _NoRegression(Target):
    """At most a tenth more than the baseline, unless the quartiles of both overlap."""

    overlap: bool = False

    def met_by(self, row: Row) -> bool:
        return self.overlap or Target.met_by(self, row)


def rows(size: Size) -> Iterator[Row]:
    loads = [
        _Load(case, payload, calls)
        for case, calls in (("tool", size.agent_runs * 10), ("model", size.model_calls))
        for payload in _payloads.NAMES
    ]
    with ExitStack() as stack:
        url, old = stack.enter_context(sink()), stack.enter_context(baseline())
        workers = {
            name: stack.enter_context(_started(sys.executable, variant, url, home))
            for name, variant, home in (
                ("untraced", "untraced", ROOT),
                ("sdk", "sdk", ROOT),
                *((way, way, ROOT) for way in _WAYS),
                *((f"old {way}", way, old) for way in _WAYS),
            )
        }
        failed: list[Row] = []
        peers: dict[str, str] = {}
        for name, packages in PEERS.items():
            try:
                python, title = _peer(name, packages)
                workers[name] = stack.enter_context(_started(python, name, url, None))
                peers[name] = title
            except ChildError as error:
                failed.append(Row(what=packages.split()[0], note=str(error)))
        for load in loads:
            yield from _compare(load, workers, peers, size.rounds)
        yield from failed


def _compare(
    load: _Load, workers: dict[str, _Worker], peers: dict[str, str], rounds: int
) -> Iterator[Row]:
    costs: dict[str, list[float]] = {name: [] for name in workers}
    notes: dict[str, str] = {}
    for number in range(rounds + 1):
        turns = list(workers.values())
        for worker in turns if number % 2 else reversed(turns):
            if worker.name in notes:
                continue
            # The first round only warms up, with a tenth of the calls.
            count = load.calls if number else load.calls // 10
            try:
                answer = worker.ask({"case": load.case, "payload": load.payload, "count": count})
            except ChildError as error:
                if worker.name not in peers:
                    raise
                answer = {"error": str(error)}
            if "error" in answer:
                notes[worker.name] = str(answer["error"])
            elif number:
                costs[worker.name].append(float(answer["us"]))
    if "untraced" in notes:
        yield Row(what=load.what, note=notes["untraced"])
        return
    untraced = costs["untraced"]
    own = {
        name: [max(us - base, _LEAST_US) for us, base in zip(cost, untraced, strict=True)]
        for name, cost in costs.items()
        if name not in notes
    }
    sdk = own["sdk"]
    for way in _WAYS:
        yield Row.of(f"{load.what}, {way}, against an SDK span sent by the official exporter", "µs",
                     _compared(own[way], sdk))  # fmt: skip
    for name, title in peers.items():
        text = f"{load.what}, {title}, sent"
        if name in notes:
            yield Row(what=text, note=notes[name])
        else:
            yield Row.of(text, "µs", _compared(own[name], sdk))
    for way in _WAYS:
        now, before = own[way], own[f"old {way}"]
        target = _NoRegression("≤ 1.1× or in noise", 1.1, overlap=overlap(now, before, sdk))
        yield Row.of(f"{load.what}, {way}, against {commit()[:7]}", "µs",
                     _compared(now, before), target)  # fmt: skip


def _compared(ours: Sequence[float], reference: Sequence[float]) -> Compared:
    return compared(list(zip(ours, reference, strict=True)))


def overlap(now: Sequence[float], before: Sequence[float], sdk: Sequence[float]) -> bool:
    """Return whether the quartiles of two costs overlap, in units of the round's reference.

    Without the unit, a machine that gets slower between rounds would widen both.
    """
    unit = median(sdk)
    scaled = [[cost / ref * unit for cost, ref in zip(each, sdk, strict=True)]
              for each in (now, before)]  # fmt: skip
    (low, high), (old_low, old_high) = map(quartiles, scaled)
    return low <= old_high and old_low <= high


def _peer(name: str, packages: str) -> tuple[str, str]:
    """Return the interpreter of a peer, and its name with the version.

    Raises:
        ChildError: it is not installed; the message has the line that installs it.
    """
    distribution, *_ = packages.split()
    python = _PEERS / name / _BINARIES / "python"
    if python.exists():
        code = f"import importlib.metadata as m; print(m.version({distribution!r}))"
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return str(python), f"{distribution} {done.stdout.strip()}"
    try:
        return sys.executable, f"{distribution} {version(distribution)}"
    except PackageNotFoundError:
        home = python.parent.parent.relative_to(ROOT)
        raise ChildError(
            f"not installed; hint: python -m venv {home} && "
            f"{home}/{_BINARIES}/pip install {packages} {_BESIDE}"
        ) from None


@contextmanager
def _started(python: str, variant: str, url: str, home: Path | None) -> Generator[_Worker]:
    """Run a worker until the block ends.

    Args:
        python: its interpreter.
        variant: a name in `_whole_worker.VARIANTS`.
        url: the receiver.
        home: folder that `agentool_otel` is imported from.

    Raises:
        ChildError: the variant could not be set up.
    """
    env = environment() | {"DO_NOT_TRACK": "1"}
    if home is not None:
        env["PYTHONPATH"] = str(home)
    name = f"old {variant}" if home not in (None, ROOT) else variant
    with subprocess.Popen(
        [python, str(_WORKER), variant],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if home is None else None,
        text=True,
    ) as process:
        worker = _Worker(name, process)
        try:
            worker.ask({"url": url, "texts": _payloads.texts()})
            yield worker
        finally:
            process.kill()
