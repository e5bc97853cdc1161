"""Real servers for the tests: the Collector, Jaeger and Prometheus, built from pinned Go modules.

Each folder of `go/` holds one `go.mod` and its `go.sum`; `go/collector` holds the sources too,
which the Collector's own builder made of `builder.yaml`, in a folder `collector`:

    builder --config=builder.yaml --skip-compilation --skip-get-modules
    go mod tidy -e

A new component is also a line among the `require`s of `go.mod`. `-e`, since modules that only tests
of the Collector import cannot be had everywhere. A binary is built once per machine, into a cache
outside the checkout, and again where anything pinned or the Go version has changed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

__all__ = ["built"]

_GO = Path(__file__).parent / "go"
_PACKAGES = {
    "collector": ["."],
    "jaeger": ["github.com/jaegertracing/jaeger/cmd/jaeger"],
    # Without the discoveries of a dozen clouds, which are most of it.
    "prometheus": [
        "-tags=remove_all_sd",
        "github.com/prometheus/prometheus/cmd/prometheus",
    ],
}


def built(name: str) -> Path:
    """Return the binary of a server; skip the test where there is no Go to build it with."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("needs Go, to build the server from its modules")
    sources = sorted((_GO / name).iterdir())
    version = subprocess.run([go, "env", "GOVERSION"], capture_output=True, check=True).stdout
    pinned = hashlib.sha256(version + b"".join(file.read_bytes() for file in sources))
    folder = _cache() / f"{name}-{pinned.hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    binary = folder / name
    with open(folder / "lock", "w") as lock:  # another worker may be building it
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not binary.exists():
            _build(go, name, folder)
    return binary


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "agentool-otel-tests"


def _build(go: str, name: str, folder: Path) -> None:
    """Build in a copy: a checkout may be read-only, and `go` completes `go.mod`."""
    print(f"building {name} from its Go modules: minutes, once", file=sys.stderr, flush=True)
    sources = folder / "sources"
    shutil.copytree(_GO / name, sources, dirs_exist_ok=True)
    started = time.monotonic()
    command = [go, "build", "-mod=mod", "-trimpath", "-ldflags=-s -w", "-o", str(folder / "made")]
    done = subprocess.run(
        [*command, *_PACKAGES[name]],
        cwd=sources,
        env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
        capture_output=True,
        check=False,
        text=True,
    )
    if done.returncode:
        pytest.fail(f"`go build` of {name} failed:\n{done.stderr[-4000:]}")
    (folder / "made").replace(folder / name)
    print(f"built {name} in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
