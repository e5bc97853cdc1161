"""Calls that wait for the import of a module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agentool_otel.ground import import_hooks

FILES = {
    "plain/__init__.py": "seen.append('code of plain'); from plain import inner",
    "plain/inner.py": "seen.append('code of inner')",
    "space/inner/__init__.py": "seen.append('code of space.inner')",
    "broken.py": "seen.append('code of broken'); raise ValueError",
}


def events(folder: Path, code: str) -> list[str]:
    """Run a program that records events in `seen`, and return them."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"from __main__ import seen\n{text}\n")
    start = "from agentool_otel.ground.import_hooks import *\nseen = []\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{start}{code}\nprint(*seen, sep=chr(10))"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_a_call_is_made_before_the_code_and_one_after_it(tmp_path: Path) -> None:
    code = """
before_import("plain", lambda: seen.append("before"))
after_import("plain", lambda module: seen.append(f"after {module.inner.__name__}"))
import plain
"""
    expected = ["before", "code of plain", "code of inner", "after plain.inner"]
    assert events(tmp_path, code) == expected


def test_one_that_is_added_before_the_code_is_made_after_it(tmp_path: Path) -> None:
    code = """
after = lambda module: seen.append(f"after {module.inner.__name__}")
before_import("plain", lambda: after_import("plain", after))
import plain
"""
    assert events(tmp_path, code) == ["code of plain", "code of inner", "after plain.inner"]


def test_a_namespace_is_found_before_what_is_in_it_runs(tmp_path: Path) -> None:
    code = 'before_import("space", lambda: seen.append("before"))\nimport space.inner'
    assert events(tmp_path, code) == ["before", "code of space.inner"]


@pytest.mark.parametrize("name", ["plain.inner", "space.inner"])
def test_a_first_call_may_import_the_module_itself(tmp_path: Path, name: str) -> None:
    """It is loaded once, and its submodules are where everybody looks for them."""
    package = name.partition(".")[0]
    code = f"""
import importlib.util, sys
before_first(["{package}", "other"], lambda: (seen.append("first"), __import__("{name}")))
import {name}
seen.append({package} is sys.modules["{package}"] and {name}.__name__)
seen.append(type(importlib.util.find_spec("{package}").loader).__module__)
"""
    *loaded, result, loader = events(tmp_path, code)
    assert [loaded.count("first"), loaded.count(f"code of {name}".replace("plain.", ""))] == [1, 1]
    assert (result, loader) == (name, "_frozen_importlib_external")


def test_the_first_of_several_makes_the_call_and_no_other(tmp_path: Path) -> None:
    code = """
before_first(["other", "plain", "space"], lambda: seen.append("first"))
import plain, space
"""
    assert events(tmp_path, code) == ["first", "code of plain", "code of inner"]


def test_a_module_that_fails_fails_as_without_us(tmp_path: Path) -> None:
    code = """
after_import("broken", lambda module: seen.append("after"))
for _ in range(2):
    try:
        import broken
    except ValueError:
        seen.append("failed")
"""
    assert events(tmp_path, code) == ["code of broken", "failed"] * 2


def test_a_call_that_fails_is_logged_and_the_import_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    import_hooks.after_import("json", lambda module: module.nothing)
    assert "a callback for the import of json failed" in caplog.text
