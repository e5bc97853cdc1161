"""Runs programs in forked processes, as the current user and as an unprivileged one."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import agentool_otel
from tests.users import NOBODY, needs_root

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
users = pytest.mark.parametrize("user", ["me", pytest.param("ordinary", marks=needs_root)])


def in_child(folder: Path, program: Callable[[], object], user: str = "me") -> None:
    """Run a program in a forked process, in a folder, and fail as it fails.

    What it imports has to be there before: an ordinary user may not read the libraries of root.
    """
    for module in pkgutil.walk_packages(agentool_otel.__path__, "agentool_otel."):
        if "_bootstrap" not in module.name:
            importlib.import_module(module.name)
    report = folder.parent / f"{folder.name}.failure"
    if (child := os.fork()) == 0:
        code = 1
        try:
            os.chdir(folder)
            if user == "ordinary":
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            program()
            code = 0
        except BaseException:
            report.write_text(traceback.format_exc())
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    assert status == 0, report.read_text() if report.exists() else f"ended with {status}"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter, unlike pytest's own."""
    above = Path(tempfile.mkdtemp(prefix="agentool-test-"))
    result = above / "work"
    result.mkdir()
    if os.name == "posix":
        for item in (above, result):
            item.chmod(0o777)
    yield result
    shutil.rmtree(above, ignore_errors=True)


def descriptors_below(folder: Path) -> list[int]:
    """Return the numbers under which files in a folder are open in this process."""
    files = [path.stat() for path in folder.rglob("*")]
    counts: list[int] = []
    for number in range(3, 2048):
        try:
            opened = os.fstat(number)
        except OSError:
            continue
        if any(os.path.samestat(opened, file) for file in files):
            counts.append(number)
    return counts
