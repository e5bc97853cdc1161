"""The package as it was at the commit named in `baseline.txt`, for a comparison in turns.

The commit moves when an issue is resolved; the figures against the one before go into README.md.
"""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from benchmarks._child import ROOT

__all__ = ["baseline", "commit"]


def commit() -> str:
    """Return the commit that this checkout is compared with."""
    return (ROOT / "benchmarks" / "baseline.txt").read_text().split()[0]


@contextmanager
def baseline() -> Generator[Path]:
    """Give a folder that, first on the path, holds that version and its entry points.

    Raises:
        subprocess.CalledProcessError: this is no checkout of git, or one without the commit.
    """
    archive = ["git", "archive", "--format=tar", commit(), "agentool_otel", "pyproject.toml"]
    done = subprocess.run(archive, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
            tar.extractall(folder, filter="data")
        _describe(folder)
        yield folder


def _describe(folder: Path) -> None:
    """Write the metadata of an installation; otherwise those of this checkout would be in force."""
    lines = (folder / "pyproject.toml").read_text().splitlines()
    info = folder / "agentool_otel-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: agentool-otel\nVersion: 0\n")
    points: list[str] = []
    group = None
    for line in lines:  # no parser of TOML: Python 3.10 has none
        if line.startswith("["):
            group = re.fullmatch(r'\[project\.entry-points\.(?:"(.+)"|(.+))\]', line)
            if group is not None:
                points.append(f"[{group[1] or group[2]}]")
        elif group is not None:
            points.append(line.replace('"', ""))
    (info / "entry_points.txt").write_text("\n".join(points) + "\n")
