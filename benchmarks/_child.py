"""A measurement in an interpreter of its own, so that none is affected by another one.

python -m benchmarks._child MODULE FUNCTION ARGUMENTS-AS-JSON
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "ChildError", "cpu_ms", "in_child", "peak_mb", "rss_mb", "rss_of_children"]

ROOT = Path(__file__).resolve().parent.parent

_SETTINGS = ("OTEL_", "AGENTOOL_", "LANGSMITH_", "LANGCHAIN_", "LANGFUSE_", "TRACELOOP_")


class ChildError(Exception):
    """The child failed; the message is the last line it wrote."""


def in_child(
    function: Callable[..., Any], *args: Any, quiet: bool = False, patience_s: float = 300
) -> Any:
    """Return the result of a function of this package, as JSON, from a fresh interpreter.

    Args:
        function: importable from its module; called there with `args`.
        args: JSON values.
        quiet: keep the child's words instead of passing them on to stderr.
        patience_s: how long to wait for it.

    Raises:
        ChildError: it did not return.
    """
    command = [sys.executable, "-m", __name__, function.__module__, function.__qualname__]
    try:
        done = subprocess.run(
            [*command, json.dumps(args)],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if quiet else None,
            check=False,
            timeout=patience_s,
        )
    except subprocess.TimeoutExpired as error:
        raise ChildError(f"no result within {patience_s} s") from error
    if done.returncode:
        lines = (done.stderr or b"").decode(errors="replace").strip().splitlines()
        raise ChildError(lines[-1] if lines else f"{function.__module__} exited {done.returncode}")
    return json.loads(done.stdout)


def cpu_ms(arguments: Sequence[str], folder: Path, **variables: str) -> float:
    """Return the CPU milliseconds of a command and its children, in a folder.

    Compiled modules come from a cache in the folder, for every module alike.

    Raises:
        ChildError: it failed.
    """
    env = {**environment(), "PYTHONPYCACHEPREFIX": str(folder / ".cache"), **variables}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    with open(os.devnull, "w") as nowhere:
        child = subprocess.Popen(arguments, cwd=folder, env=env, stdout=nowhere, stderr=nowhere)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise ChildError(f"{list(arguments)} exited {child.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def environment() -> dict[str, str]:
    """Return this process' environment without variables that affect the measurement."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS)}


def peak_mb() -> float:
    """Return the highest resident size of this process so far, in MB.

    Where there is a /proc: `ru_maxrss` of a child begins with the size of its parent.
    """
    if (status := _status("VmHWM")) is not None:
        return status
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def rss_mb() -> float:
    """Return the resident size of this process now, in MB; the highest so far without a /proc."""
    status = _status("VmRSS")
    return peak_mb() if status is None else status


def rss_of_children() -> list[tuple[str, float]]:
    """Return the command line and the resident size, in MB, of each process below this one. Needs
    a /proc."""
    parents: dict[int, int] = {}
    found: dict[int, tuple[str, float]] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            command = (
                (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            )
            fields = dict(
                line.split(":", 1) for line in (folder / "status").read_text().splitlines()
            )
        except OSError:  # it has ended
            continue
        parents[int(folder.name)] = int(fields["PPid"])
        if "VmRSS" in fields:
            found[int(folder.name)] = command, int(fields["VmRSS"].split()[0]) * 1024 / 1e6

    def is_below(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return [of for pid, of in found.items() if pid != os.getpid() and is_below(pid)]


def _status(name: str) -> float | None:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    (kib,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return int(kib) * 1024 / 1e6


def _main(module: str, function: str, args: str) -> None:
    # Whatever is printed on the way goes to stderr; only the result goes to stdout.
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        result = getattr(importlib.import_module(module), function)(*json.loads(args))
        json.dump(result, out)
    sys.stderr.flush()
    os._exit(0)  # without the farewells of libraries that wait for a network


if __name__ == "__main__":
    _main(*sys.argv[1:])
