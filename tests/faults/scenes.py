"""What is done while a system call fails, in a process of its own, and what must hold after it.

A scene runs with the library of `shim` loaded, forked from a process that has imported everything.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import agentool_otel
from agentool_otel.cli import main as command_line
from agentool_otel.cli.recover import recover
from agentool_otel.tracing.export.disk.rotation import Rotation
from agentool_otel.tracing.export.send.otlp import OtlpTarget

__all__ = ["SCENES", "Place", "Scene", "in_child", "recover_all"]

DOWN = "http://127.0.0.1:9"

CALLS = 6


class Place(NamedTuple):
    """Where a scene happens."""

    folder: Path
    """The folder of the recordings."""
    acknowledged: Path
    """Gets the mark of each call that has returned."""
    endpoint: str
    """A receiver that works."""
    received: Path
    """Gets a line for each span that arrives there: its id, its mark, whether it is incomplete."""


class Scene(NamedTuple):
    before: Callable[[Place], None]
    during: Callable[[Place], None]
    """What is done while a call fails; its exceptions, and its output, are the program's."""
    removes: bool = False
    """Whether it may remove what was recorded."""


def in_child(work: Callable[[], object], log: Path | None = None) -> int:
    """Run something in a forked process as if it were a program; return its status.

    Args:
        work: what is run.
        log: a file that takes its standard error.
    """
    if child := os.fork():
        return os.waitpid(child, 0)[1]
    status = 1
    try:
        if log is not None:
            os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        work()
        atexit._run_exitfuncs()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def program(
    place: Place, endpoint: str | None, killed: bool = False, padding: str = "", **options: str
) -> None:
    """Record or send some calls, one of them in an agent; note each that has returned.

    Args:
        place: where.
        endpoint: a receiver; None to record.
        killed: whether the program is killed at the end, with an open run.
        padding: text that each call gets besides.
        options: more of `instrument`.
    """
    agentool_otel.instrument(endpoint, content=True, **options)  # type: ignore[arg-type] # by name
    out = os.open(place.acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    @agentool_otel.tool
    def tool(mark: str, padding: str) -> str:
        return mark.upper()

    @agentool_otel.agent
    def agent(mark: str) -> str:
        return tool(f"{mark}a", padding)

    for number in range(CALLS):
        mark = f"#{number}#"
        call = agent if number % 3 == 2 else tool
        result = agent(mark) if call is agent else tool(mark, padding)
        assert result == (f"{mark}A" if call is agent else mark)
        os.write(out, f"{mark}\n".encode())
    if killed:
        still_open = agentool_otel.run("open", input="?")
        still_open.__enter__()
        os.kill(os.getpid(), signal.SIGKILL)
    agentool_otel.flush(2)


def limited(place: Place) -> None:
    """Record into several files, and remove those of an earlier program meanwhile."""
    Rotation.start = Rotation._enforce  # type: ignore[assignment,method-assign] # no thread
    program(place, None, padding="x" * 4_000, max_size="200KB")
    assert len(list(place.folder.glob("*.jsonl"))) < 6


def synced(place: Place, endpoint: str | None) -> None:
    os.environ["AGENTOOL_SYNC"] = "1"
    program(place, endpoint)


def record_before(place: Place) -> None:
    """Record what a limit of 200 KB has no room for; no mark of it is noted."""
    elsewhere = place._replace(acknowledged=place.acknowledged.with_name("before"))
    assert in_child(lambda: program(elsewhere, None, padding="x" * 24_000)) == 0


def leave(place: Place, endpoint: str | None) -> None:
    """Leave what a killed program does."""
    assert in_child(lambda: program(place, endpoint, killed=True)) == signal.SIGKILL


def nothing(place: Place) -> None:
    pass


def record_again(place: Place) -> None:
    for _ in range(2):
        assert in_child(lambda: program(place, None)) == 0


def recover_all(place: Place) -> None:
    recover(place.folder, OtlpTarget.at(place.endpoint, {}))


def clean_all(place: Place) -> None:
    code: object = None
    try:
        command_line(["clean", "-y", str(place.folder)])
    except SystemExit as end:
        code = end.code
    assert code in (0, 1, 3), code


def clean_unsent(place: Place) -> None:
    """Remove what a killed program could not send."""
    code: object = None
    try:
        command_line(["clean", "--unsent", DOWN, "-y", str(place.folder)])
    except SystemExit as end:
        code = end.code
    assert code in (0, 1, 3), code


SCENES: dict[str, Scene] = {
    "record": Scene(nothing, lambda place: program(place, None)),
    "record with a large text": Scene(
        nothing, lambda place: program(place, None, padding="x" * 1_100_000)
    ),
    "record under a limit": Scene(record_before, limited),
    "record and sync": Scene(nothing, lambda place: synced(place, None)),
    "send": Scene(nothing, lambda place: program(place, place.endpoint)),
    "send and sync": Scene(nothing, lambda place: synced(place, place.endpoint)),
    "recover a recording": Scene(lambda place: leave(place, None), recover_all),
    "recover to an endpoint": Scene(lambda place: leave(place, DOWN), recover_all),
    "clean": Scene(record_again, clean_all, removes=True),
    "clean --unsent": Scene(lambda place: leave(place, DOWN), clean_unsent, removes=True),
}
