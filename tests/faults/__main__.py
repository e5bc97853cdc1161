"""Run every scene with every fault; print what was tried and what broke. See `tests.faults`."""

from __future__ import annotations

import argparse
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from agentool_otel.model.spans import is_fragment
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool
from agentool_otel.tracing.export.disk.stored_texts import TEXTS
from tests.faults.receiver import MARK
from tests.faults.scenes import SCENES, Place, Scene, in_child, recover_all
from tests.faults.shim import CALLS, ERRORS, KILLED, KILLED_BEFORE, Fault, build, why_not

_LIBRARY = "AGENTOOL_TEST_SHIM"
_NAMES = {
    **{error: errno.errorcode[error] for error in ERRORS},
    KILLED_BEFORE: "killed-before",
    KILLED: "killed-after",
}
_MOST = 400
"""Calls of one kind in a scene, within reason."""


class Told(NamedTuple):
    """What is known of a span: its id, its mark, and whether it is incomplete."""

    span_id: str
    mark: str
    incomplete: bool


def main() -> int:
    if (why := why_not()) is not None:
        print(f"skipped: {why}", file=sys.stderr)
        return 0
    if _LIBRARY not in os.environ:
        return again(sys.argv[1:])
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("scene", nargs="*", default=list(SCENES))
    parser.add_argument("--calls", default=",".join(CALLS))
    parser.add_argument("--errors", default=",".join(_NAMES.values()))
    options = parser.parse_args()
    errors = [error for error, name in _NAMES.items() if name in options.errors.split(",")]
    failures = 0
    with places() as (fresh, fault):
        for name in options.scene:
            for call in options.calls.split(","):
                points, wrong = try_call(SCENES[name], call, fresh, fault, errors)
                failures += len(wrong)
                print(f"{name:24} {call:9} {points:4} points, {len(wrong)} wrong", flush=True)
                for words in wrong[:5]:
                    print(f"    {words}", flush=True)
    return 1 if failures else 0


def again(arguments: Sequence[str]) -> int:
    """Start this program once more, with the library loaded."""
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
        environ = {
            **clean,
            "LD_PRELOAD": str(library),
            _LIBRARY: str(library),
            "OTEL_METRICS_EXPORTER": "none",
            "OTEL_BSP_SCHEDULE_DELAY": "5",
        }
        command = [sys.executable, "-m", "tests.faults", *arguments]
        return subprocess.run(command, env=environ, check=False).returncode


Fresh = Iterator[Place]


@contextmanager
def places() -> Generator[tuple[Fresh, Fault]]:
    """Give empty places, one after the other, with a receiver beside them."""
    root = Path(tempfile.mkdtemp()).resolve()  # forked programs would remove another kind
    received = root / "received"
    environ = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    receiver = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.receiver", str(received)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
    )
    assert receiver.stdout is not None
    endpoint = receiver.stdout.readline().strip()

    def fresh() -> Fresh:
        while True:
            here = root / "here"
            shutil.rmtree(here, ignore_errors=True)
            here.mkdir()
            os.truncate(received, 0)
            os.chdir(here)
            yield Place(here / ".agentool", here / "acknowledged", endpoint, received)

    try:
        yield fresh(), Fault(Path(os.environ[_LIBRARY]), root / "reached")
    finally:
        receiver.communicate()
        os.chdir("/")
        shutil.rmtree(root)


def try_call(
    scene: Scene, call: str, fresh: Fresh, fault: Fault, errors: Sequence[int]
) -> tuple[int, list[str]]:
    """Have the first, second, third … call of a kind fail, until a scene passes without a fault.

    Returns:
        the number of faults, and what was wrong.
    """
    points = 0
    wrong: list[str] = []
    for error in errors:
        if call == "read" and error == errno.EAGAIN:
            continue  # a regular file always has an answer, see read(2)
        for number in range(1, _MOST):
            place = next(fresh)
            words = try_one(scene, place, fault, call, number, error)
            if words is None:
                break
            points += 1
            wrong += [f"{call} {number} {_NAMES[error]}: {each}" for each in words]
    return points, wrong


def try_one(
    scene: Scene, place: Place, fault: Fault, call: str, number: int, error: int
) -> list[str] | None:
    """Return what one fault has broken; None if the scene has no such call."""
    scene.before(place)
    log = place.folder.parent / "stderr"

    def during() -> None:
        fault.arm(call, number, error, place.folder)
        try:
            scene.during(place)
        finally:
            fault.arm(call, 0, 0, place.folder)

    status = in_child(during, log)
    if not fault.was_reached():
        return None
    wrong: list[str] = []
    expected = signal.SIGKILL if error < 0 else 0
    if status != expected:
        wrong.append(f"the program ended with {status}")
    words = log.read_text() if log.exists() else ""
    if "Traceback" in words:
        wrong.append(f"a traceback: {words[-500:]}")
    for _ in range(2):
        if place.folder.exists() and in_child(lambda: recover_all(place), log) != 0:
            wrong.append("the next recovery failed")
    return wrong + faults_in(scene, place, call, error)


def faults_in(scene: Scene, place: Place, call: str, error: int) -> list[str]:
    """Return what is wrong with what was delivered in the end."""
    spans = list(delivered(place))
    wrong: list[str] = []
    complete = {span.mark for span in spans if not span.incomplete}
    acknowledged = place.acknowledged.read_text().split() if place.acknowledged.exists() else []
    if (lost := set(acknowledged) - complete) and not scene.removes:
        wrong.append(f"lost: {sorted(lost)}")
    if both := {span.span_id for span in spans if span.incomplete} & {
        span.span_id for span in spans if not span.incomplete
    }:
        wrong.append(f"complete and incomplete: {sorted(both)}")
    # A request whose answer is lost is sent again.
    is_unsure = error < 0 or call in ("send", "recv")
    copies = Counter(span.span_id for span in spans)
    if max(copies.values(), default=0) > 1 and not (is_unsure and place.received.stat().st_size):
        wrong.append(f"doubled: {copies.most_common(3)}")
    left = [
        path.name
        for path in (place.folder.iterdir() if place.folder.exists() else ())
        if not path.name.endswith((".jsonl", ".gitignore")) and path.name != TEXTS
    ]
    if error > 0:  # a part of a text that a kill has left goes an hour later
        left += [path.name for path in place.folder.glob(f"{TEXTS}/?*.*")]
    if left:
        wrong.append(f"left behind: {left}")
    return wrong


def delivered(place: Place) -> Iterator[Told]:
    """Yield the spans in the recordings, and those that have arrived."""
    for line in place.received.read_text().splitlines():
        span_id, seen, incomplete = line.split()
        yield Told(span_id, seen, incomplete == "1")
    if not list(place.folder.glob("*.jsonl")):
        return
    source = open_source(place.folder)
    for span in source.spans():
        if not is_fragment(span):
            text = str(dict(span.attributes))
            mark = MARK.search(text)
            yield Told(
                span.span_id,
                mark[0] if mark else "-",
                bool(span.attributes.get(agentool.INCOMPLETE)),
            )


if __name__ == "__main__":
    sys.exit(main())
