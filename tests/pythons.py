"""Run the tests on every installed Python that the package supports.

    python -m tests.pythons          each one from 3.10 to 3.14 that is on this machine
    python -m tests.pythons 3.10     one

Each Python has an environment of its own. A version that is not installed is named and skipped;
one that is asked for by name and missing is a failure. The results are rows of `versions.json`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests import versions
from tests.environments import NotInstalled, prepare
from tests.frameworks import HOME, ROOT

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


def interpreter_of(version: str) -> str | None:
    """Return the path of an installed Python of this minor version, or None."""
    return next((path for path in _candidates(version) if _version_of(path) == version), None)


def _candidates(version: str) -> Iterator[str]:
    """Yield where a Python of a minor version may be: here, on the path, in pyenv's folder."""
    yield sys.executable
    on_path = shutil.which(f"python{version}")
    if on_path is not None:
        yield on_path
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True))


def _version_of(path: str) -> str | None:
    """Return the minor version of an interpreter; None if it does not run, as a pyenv shim may."""
    question = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([path, "-c", question], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def main(names: list[str]) -> int:
    unknown = sorted(set(names) - set(VERSIONS))
    if unknown:
        print(f"unknown version {unknown[0]!r}: use {', '.join(VERSIONS)}", file=sys.stderr)
        return 2
    failed: list[str] = []
    for version in names or VERSIONS:
        interpreter = interpreter_of(version)
        if interpreter is None:
            print(f"--- Python {version}: not installed, skipped", file=sys.stderr, flush=True)
            failed += [version] if names else []
            continue
        print(f"--- Python {version}: {interpreter}", file=sys.stderr, flush=True)
        packages = ["-c", str(ROOT / "constraints.txt"), "-e", f"{ROOT}[dev]"]
        try:
            python = prepare(HOME / f"python-{version}", packages, interpreter)
        except NotInstalled as error:
            print(f"Python {version}: {error}", file=sys.stderr)
            failed.append(version)
            continue
        if not versions.run(version, python):
            failed.append(version)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
