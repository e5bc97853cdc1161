"""What importing the package costs, against importing the SDK's tracer, in fresh interpreters."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from benchmarks._child import ROOT, ChildError, environment
from benchmarks._rounds import compared
from benchmarks._sizes import Size
from benchmarks._table import Row, Target

__all__ = ["rows"]

_EMPTY = "pass"
_SDK = "import opentelemetry.sdk.trace"
_OURS = {
    "import agentool_otel": "import agentool_otel",
    "import agentool_otel, decorators loaded": "import agentool_otel; agentool_otel.tool",
}


def rows(size: Size) -> Iterator[Row]:
    costs: dict[str, list[tuple[float, float]]] = {what: [] for what in _OURS}
    with tempfile.TemporaryDirectory() as cache:
        for number in range(size.interpreters + 1):
            for what, code in _OURS.items():
                empty = _cpu_ms(_EMPTY, cache)
                ours, sdk = _cpu_ms(code, cache), _cpu_ms(_SDK, cache)
                if number:  # the first round compiles
                    costs[what].append((ours - empty, sdk - empty))
    for what, pairs in costs.items():
        yield Row.of(what, "ms", compared(pairs), Target("≤ 1.3×", 1.3))


def _cpu_ms(code: str, cache: str) -> float:
    """Return the CPU milliseconds of an interpreter that runs `code`, its start included.

    Compiled modules come from a cache of this measurement, for every module alike.
    """
    env = environment() | {"PYTHONPYCACHEPREFIX": cache}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    child = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=env)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise ChildError(f"{code!r} exited {child.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000
