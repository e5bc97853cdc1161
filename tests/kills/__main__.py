"""Kill programs, recover what they left, and compare. See `tests.kills`."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from agentool_otel.model.spans import is_fragment
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool
from tests.tracing.export.receiver import HttpReceiver, Reply, spans_in

RECORDED = ("recorded", "limited")
MODES = (*RECORDED, "up", "lags", "refuses", "down", "logs", "ends", "interrupted")
THREADS = (1, 4, 8)
MARK = re.compile(r"#\d+x\d+#(?!inner)")
_KILLS = 200


class Arrived:
    """The spans that a receiver has taken, or that stand in recordings."""

    def __init__(self) -> None:
        self.complete: set[str] = set()
        """Marks of spans that have ended."""
        self.incomplete: set[str] = set()
        """Marks of spans that came as incomplete."""
        self.ids: dict[str, Counter[bool]] = {}
        """By the id of a span, how often it came: complete, or as incomplete."""

    def add(self, span_id: str, text: str, incomplete: bool) -> None:
        self.ids.setdefault(span_id, Counter())[incomplete] += 1
        marks = self.incomplete if incomplete else self.complete
        marks.update(MARK.findall(text)[:1])

    @property
    def both(self) -> int:
        """Number of spans that came complete and as incomplete."""
        return sum(len(kinds) == 2 for kinds in self.ids.values())


@contextmanager
def receiver_of(mode: str, arrived: Arrived) -> Generator[HttpReceiver]:
    """Listen as a mode asks for; a receiver that is down at first is switched on by `accepts`."""
    rng = random.Random(mode)
    lock = threading.Lock()

    def reply(body: bytes) -> Reply:
        if mode == "lags":
            time.sleep(0.05)
        if receiver.path.endswith("logs"):
            return (404 if mode == "logs" else 200), {}, b""
        if mode == "ends":
            time.sleep(0.02)
        if mode == "refuses" and rng.random() < 1 / 3:
            return 503, {}, b""
        with lock:
            for span in spans_in(body):
                incomplete = agentool.INCOMPLETE in {pair.key for pair in span.attributes}
                arrived.add(span.span_id.hex(), str(span.attributes), incomplete)
        return 200, {}, b""

    with HttpReceiver(reply=reply, keeps=True) as receiver:
        yield receiver


def clean_environment() -> dict[str, str]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    return {**environ, "OTEL_METRICS_EXPORTER": "none", "PYTHONPATH": os.pathsep.join(sys.path)}


def recover(folder: Path, endpoint: str | None) -> str:
    """Run `agentool-otel recover`, and return what it printed."""
    to = [] if endpoint is None else ["--endpoint", endpoint]
    command = [str(Path(sys.executable).with_name("agentool-otel")), "recover", *to]
    done = subprocess.run(
        command,
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr


def kill_one(folder: Path, mode: str, threads: int, seed: str, seconds: float) -> Counter[str]:
    """Kill one program; return what became of its spans."""
    rng = random.Random(seed)
    arrived = Arrived()
    with receiver_of(mode, arrived) as receiver:
        endpoint = "http://127.0.0.1:9" if mode == "down" else receiver.endpoint
        where = "-" if mode in RECORDED else endpoint
        command = [sys.executable, "-m", "tests.kills.program", where, str(threads), mode, seed]
        program = subprocess.Popen(
            command, cwd=folder, env=clean_environment(), stdout=subprocess.PIPE, text=True
        )
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        if mode == "ends":
            assert program.stdout.readline() == "ending\n"
        largest = watch(folder, program, seconds or rng.uniform(0.05, 1.5))
        program.kill()
        program.communicate()
        target = None if mode in RECORDED else receiver.endpoint
        sent_again = 0
        if (folder / ".agentool").is_dir():
            for attempt in range(3):
                before = count_spans(folder, mode, arrived)
                words = recover(folder, target)
                while mode == "refuses" and "did not take" in words:
                    words = recover(folder, target)
                after = count_spans(folder, mode, arrived)
                sent_again += after - before if attempt else 0
    if mode in RECORDED:
        read_recordings(folder / ".agentool", arrived)
    ended, removed = marks_in(folder / "ended"), marks_in(folder / "removed")
    return Counter(
        kills=1,
        ended=len(ended),
        removed=len(removed - arrived.complete),
        lost=len(ended - removed - arrived.complete),
        as_incomplete=arrived.both + len(removed & arrived.incomplete),
        sent_again=sent_again,
        doubled=sum(kinds[False] > 1 for kinds in arrived.ids.values()),
        spool_mb=largest >> 20,
    )


def marks_in(path: Path) -> set[str]:
    return set(path.read_text().split()) if path.exists() else set()


def count_spans(folder: Path, mode: str, arrived: Arrived) -> int:
    """Return how many spans are there by now, as often as they came."""
    if mode in RECORDED:
        arrived = Arrived()
        if list(folder.glob(".agentool/*.jsonl")):
            read_recordings(folder / ".agentool", arrived)
    return sum(sum(kinds.values()) for kinds in arrived.ids.values())


def read_recordings(folder: Path, arrived: Arrived) -> None:
    for span in open_source(folder).spans():
        if not is_fragment(span):
            incomplete = bool(span.attributes.get(agentool.INCOMPLETE))
            arrived.add(span.span_id, str(dict(span.attributes)), incomplete)


def watch(folder: Path, program: subprocess.Popen[str], seconds: float) -> int:
    """Wait, and return the size of the largest spool that was seen meanwhile, in bytes."""
    largest = 0
    until = time.monotonic() + seconds
    while time.monotonic() < until and program.poll() is None:
        sizes = [path.stat().st_size for path in folder.glob(".agentool/*.spool") if path.exists()]
        largest = max([largest, *sizes])
        time.sleep(0.05)
    return largest


def main() -> int:
    arguments = sys.argv[1:]
    kills = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else _KILLS
    wrong = 0
    for name in arguments or MODES:
        mode, _, seconds = name.partition("=")
        for threads in (4,) if seconds else THREADS:
            total = Counter[str]()
            for number in range(1 if seconds else kills):
                with tempfile.TemporaryDirectory() as folder:
                    seed = f"{mode} {threads} {number} {random.randrange(1 << 30)}"
                    one = kill_one(Path(folder), mode, threads, seed, float(seconds or 0))
                largest = max(total["spool_mb"], one["spool_mb"])
                total = Counter({key: total[key] + one[key] for key in one})
                total["spool_mb"] = largest
                if one["lost"] or one["as_incomplete"] or one["sent_again"]:
                    print(f"    seed {seed!r}: {dict(one)}", flush=True)
            print(f"{name:12} {threads} threads: {dict(total)}", flush=True)
            wrong += total["lost"] + total["as_incomplete"] + total["sent_again"]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
