"""Cost of importing the package, against importing the SDK's tracer, in fresh interpreters."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks._child import cpu_ms
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
    costs: dict[str, list[tuple[float, float]]] = {description: [] for description in _OURS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(size.interpreters + 1):
            for key, code in _OURS.items():
                empty, ours, sdk = (
                    cpu_ms([sys.executable, "-c", item], folder) for item in (_EMPTY, code, _SDK)
                )
                if number:  # the first round compiles
                    costs[key].append((ours - empty, sdk - empty))
    for key, pairs in costs.items():
        yield Row.of(key, "ms", compared(pairs), Target("≤ 1.3×", 1.3))
