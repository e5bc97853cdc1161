"""A slice of `python -m tests.faults`: a full disk, and a kill before and after each call."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.faults.shim import why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")


def run(*arguments: str) -> str:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", *arguments],
        capture_output=True,
        text=True,
        env=environ,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("error", ["ENOSPC", "killed-after"])
def test_each_write_of_a_recording_may_fail(error: str) -> None:
    assert " 0 points" not in run("--calls=write", f"--errors={error}", "record")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "scene",
    ["record", "record under a limit", "send", "recover a recording", "clean", "clean --unsent"],
)
def test_each_step_may_be_the_last(scene: str) -> None:
    assert "points, 0 wrong" in run("--errors=killed-before,killed-after", scene)
