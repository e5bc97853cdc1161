"""python -m benchmarks.soak [--minutes M] [--json]

Agent runs by the thousand while everything around them fails: the receiver flaps, the disk is full,
values are hostile, tasks are cancelled. Nothing of that may show in the program.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Literal

import click
from rich.console import Console
from rich.table import Table

from agentool_otel.cli.recover import recover
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from benchmarks import _soak_program
from benchmarks._child import ROOT, environment
from benchmarks._soak_program import WARM, Report, Settings
from benchmarks._soak_receiver import FlappingReceiver

__all__ = ["SCENARIOS", "Soaked", "main", "soak"]

_FLAT_MB = 20.0
"""Growth that is no leak: half of what one of the large values takes for the time of a call. Where
a small text is left in the room of one, the allocator keeps a megabyte."""
_FLAT_BLOCKS = 5_000
"""The same of blocks that are held: spans that wait, threads that have just begun."""
_CLOSING_S = 5.0
_LINES = 10
"""Lines of a program that has logged everything once."""
_LAST_WORD_S = 600.0
"""Beyond its time: what a process may take for the round it is in, its end, or its reference."""


@dataclass
class Soaked:
    """Result of one scenario; `problems` is empty if it passed."""

    scenario: str
    report: Report
    started: int
    """Spans the program started, by id."""
    found: int
    """Of these, the ones that are where they belong after all is over."""
    twice: int
    log: list[str]
    """Lines of the program's standard error."""
    requests: dict[str, int]
    """Moods of the receiver, to the requests that met them."""
    problems: list[str] = field(default_factory=list[str])

    def memory(self, of: Literal["mb", "blocks"]) -> tuple[float, float]:
        """Return the memory of the process when warm, and its growth until the end.

        Args:
            of: the size that is asked for, of each sample.
        """
        samples = self.report["samples"]
        # A fifth of the time, at least: by then every mood of the receiver has come as well.
        cold = sum(sample["rounds"] < WARM for sample in samples)
        first = max(cold, len(samples) // 5)
        few = max(1, len(samples) // 20)
        early = median(sample[of] for sample in samples[first : first + few] or samples[-few:])
        return early, median(sample[of] for sample in samples[-few:]) - early


def soak(scenario: str, seconds: float, flat_mb: float = _FLAT_MB) -> Soaked:
    """Run a scenario for so many seconds, then the same rounds without the package.

    Args:
        scenario: one of `SCENARIOS`.
        seconds: of the first; the rest takes less.
        flat_mb: how much the program's resident size may grow once it is warm.
    """
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        soaked, reference = SCENARIOS[scenario](scenario, Path(folder), seconds)
    report, spans = soaked.report, soaked.report["spans"]
    lost = soaked.started - soaked.found
    places = spans["exported"] + spans["spooled"] + spans["refused"] + spans["dropped"]
    (_, grown_mb), (_, grown_blocks) = soaked.memory("mb"), soaked.memory("blocks")
    limits = {
        f"results differ from those without the package in {report['rounds']} rounds": (
            report["digest"] != reference["digest"]
        ),
        f"{soaked.started} spans started, {spans['created']} counted": (
            soaked.started != spans["created"]
        ),
        f"counters do not add up: {spans}": spans["created"] != places,
        f"{lost} spans are missing, {spans['dropped']} counted as dropped": (
            lost > spans["dropped"] or (lost < spans["dropped"] and not soaked.requests)
        ),
        f"{soaked.twice} spans are recorded twice": bool(soaked.twice and not soaked.requests),
        f"memory grew by {grown_mb:.1f} MB": grown_mb > flat_mb,
        f"{grown_blocks:,.0f} more blocks of memory are held": grown_blocks > _FLAT_BLOCKS,
        f"{len(soaked.log)} lines of log": len(soaked.log) > _LINES,
        f"threads are left: {', '.join(report['threads'])}": bool(report["threads"]),
        f"the end took {report['closing_s']:.1f} s": report["closing_s"] > _CLOSING_S,
    }
    soaked.problems += [problem for problem, is_one in limits.items() if is_one]
    return soaked


# ----------------------------------------------------------------------------------- the scenarios


def _sent(scenario: str, folder: Path, seconds: float) -> tuple[Soaked, Report]:
    """Send to a receiver that flaps and hangs at the end; the rest is recovered."""
    receiver = FlappingReceiver()
    full_every_s = seconds / 5 if scenario == "sent, disk full" else 0.0
    try:
        times = min(60, int(seconds / 0.3))
        with receiver.flapping(seconds / times, times):
            report, ids, log = _run(folder, seconds, receiver.endpoint, full_every_s)
        requests = dict(receiver.requests)
        receiver.be("well")
        result = folder / ".agentool"
        if result.is_dir():
            recover(result, OtlpTarget.at(receiver.endpoint, {}))
    finally:
        receiver.close()
    soaked = _judged(scenario, report, ids, receiver.taken, log, requests)
    soaked.problems += _left_behind(result)
    return soaked, _reference(folder, report["rounds"])


def _recorded(scenario: str, folder: Path, seconds: float) -> tuple[Soaked, Report]:
    """Record on a disk that is full for parts of the time."""
    report, ids, log = _run(folder, seconds, None, seconds / 5)
    recover(folder / ".agentool")
    source = open_source(folder / ".agentool")
    counts = Counter(int(span.span_id, 16) for span in source.spans())
    soaked = _judged(scenario, report, ids, counts, log, {})
    soaked.problems += [str(problem) for problem in source.problems]
    return soaked, _reference(folder, report["rounds"])


SCENARIOS: dict[str, Callable[[str, Path, float], tuple[Soaked, Report]]] = {
    "sent": _sent,
    "sent, disk full": _sent,
    "recorded, disk full": _recorded,
}


def _judged(
    scenario: str,
    report: Report,
    ids: set[int],
    result: Counter[int],
    log: list[str],
    requests: dict[str, int],
) -> Soaked:
    entries = ids & result.keys()
    soaked = Soaked(
        scenario=scenario,
        report=report,
        started=len(ids),
        found=len(entries),
        twice=sum(count > 1 for count in result.values()),
        log=log,
        requests=requests,
    )
    if made_up := len(result) - len(entries):
        soaked.problems.append(f"{made_up} spans were never started")
    return soaked


def _left_behind(folder: Path) -> list[str]:
    """Return the files of spans that a recovery has left, though the receiver accepted
    everything.
    """
    names = sorted(path.name for path in folder.glob("traces-*"))
    return [f"{name} is left after the recovery" for name in names]


def _reference(folder: Path, rounds: int) -> Report:
    return _run(folder, 0, None, 0, rounds)[0]


def _run(
    folder: Path, seconds: float, endpoint: str | None, full_every_s: float, rounds: int = 0
) -> tuple[Report, set[int], list[str]]:
    """Run the program; return its report, the ids of the spans it started, and its log."""
    settings: Settings = {
        "plain": rounds > 0,
        "endpoint": endpoint,
        "seconds": seconds,
        "rounds": rounds,
        "full_every_s": full_every_s,
        "report": str(folder / "report.json"),
    }
    ids: set[int] = set()
    with open(folder / "log", "w+b") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", _soak_program.__name__, json.dumps(settings)],
            cwd=folder,
            env={
                **environment(),
                "PYTHONPATH": str(ROOT),
                # What is freed goes back at once, so that sizes are those of what is held (glibc).
                "MALLOC_MMAP_THRESHOLD_": "262144",
                "MALLOC_TRIM_THRESHOLD_": "262144",
                "MALLOC_ARENA_MAX": "2",
                # An hour of waiting is compressed as well.
                "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
                "OTEL_BSP_SCHEDULE_DELAY": "100",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        late = threading.Timer(seconds + _LAST_WORD_S, process.kill)
        late.start()
        try:
            assert process.stdout is not None
            with process.stdout as out:
                while data := out.read(8):
                    ids.add(int.from_bytes(data, "big"))
            code = process.wait()
        finally:
            late.cancel()
            process.kill()
        log.seek(0)
        lines = log.read().decode(errors="replace").splitlines()
    if code:
        raise RuntimeError(f"the program exited {code}: {lines[-1:]}")
    report: Report = json.loads((folder / "report.json").read_text())
    return report, ids, lines


# ---------------------------------------------------------------------------------------- the words


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--minutes", type=click.FloatRange(0.05), default=4.0, show_default=True)
@click.option("--only", multiple=True, type=click.Choice(list(SCENARIOS)))
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1)
@click.option("--json", "as_data", is_flag=True, help="Print one JSON object.")
def main(minutes: float, only: tuple[str, ...], jobs: int, as_data: bool) -> None:
    """Run agents for minutes while everything around them fails.

    Each scenario takes so many minutes, and its reference. Exit 1 if anything of it shows.
    """
    start = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        done = list(pool.map(lambda name: soak(name, minutes * 60), only or SCENARIOS))
    for soaked in done:
        for problem in soaked.problems:
            click.echo(f"{soaked.scenario}: {problem}", err=True)
    click.echo(f"done in {(time.monotonic() - start) / 60:.1f} min", err=True)
    if as_data:
        print(json.dumps([asdict(soaked) for soaked in done], indent=2))
    else:
        _print(done)
    sys.exit(1 if any(soaked.problems for soaked in done) else 0)


def _print(done: list[Soaked]) -> None:
    table = Table(title="Soak")
    table.add_column("")
    for soaked in done:
        table.add_column(soaked.scenario, justify="right")
    lines: dict[str, Callable[[Soaked], str]] = {
        "rounds of agent runs": lambda one: f"{one.report['rounds']:,}",
        "spans started": lambda one: f"{one.started:,}",
        "found in the end": lambda one: f"{one.found:,}",
        "requests": lambda one: f"{sum(one.requests.values()):,}",
        "not answered as hoped": lambda one: f"{_failed(one):,}",
        "resident when warm": lambda one: f"{one.memory('mb')[0]:.0f} MB",
        "growth from there": lambda one: f"{one.memory('mb')[1]:+.1f} MB",
        "blocks of memory when warm": lambda one: f"{one.memory('blocks')[0]:,.0f}",
        "growth from there ": lambda one: f"{one.memory('blocks')[1]:+,.0f}",
        "time of the end": lambda one: f"{one.report['closing_s']:.2f} s",
        "lines of log": lambda one: f"{len(one.log)}",
        "problems": lambda one: f"{len(one.problems)}",
    }
    for key, text in lines.items():
        table.add_row(key, *map(text, done))
    for name in ("exported", "spooled", "refused", "dropped"):
        table.add_row(f"counted as {name}", *(f"{one.report['spans'][name]:,}" for one in done))
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def _failed(soaked: Soaked) -> int:
    return sum(count for mood, count in soaked.requests.items() if mood != "well")


if __name__ == "__main__":
    main()
