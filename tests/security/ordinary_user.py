"""Run the tests of this folder as an ordinary user, where we are root: permissions apply to them.

    python -m tests.security.ordinary_user [ARGUMENTS OF PYTEST]

The checkout is copied to where such a user can read it, and so are Python and the packages where
root has them for itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from tests.users import NOBODY

ROOT = Path(__file__).parents[2]
_PARTS = ("agentool_otel", "tests", "pyproject.toml")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "fixtures", "*.a", "site-packages", "idlelib")


def main(arguments: list[str]) -> int:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        print("nothing to do: we are an ordinary user ourselves", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory(prefix="agentool-user-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        checkout = home / "checkout"
        checkout.mkdir()
        for name in _PARTS:
            _copy(ROOT / name, checkout / name)
        python = _python(home)
        (own := home / "home").mkdir()
        os.chown(own, NOBODY, NOBODY)
        command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-rs"]
        return subprocess.run(
            [*command, *(arguments or ["tests/security"])],
            cwd=checkout,
            env={
                **os.environ,
                "HOME": str(own),
                "TMPDIR": str(own),
                "HYPOTHESIS_STORAGE_DIRECTORY": str(own / "hypothesis"),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONPATH": str(checkout),
                "LD_LIBRARY_PATH": str(python.parents[1] / "lib"),
            },
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            check=False,
        ).returncode


def _python(home: Path) -> Path:
    """Return an interpreter with our packages that the user can start."""
    if _may_read(Path(sys.prefix)) and _may_read(Path(sys.base_prefix)):
        return Path(sys.executable)
    version = f"python{sysconfig.get_python_version()}"
    base, copied = Path(sys.base_prefix), home / "python"
    _copy(base / "bin" / version, copied / "bin" / version)
    _copy(base / "lib" / version, copied / "lib" / version)
    for library in (base / "lib").glob("libpython*"):
        _copy(library, copied / "lib" / library.name)
    _copy(Path(sysconfig.get_path("purelib")), copied / "lib" / version / "site-packages")
    return copied / "bin" / version


def _may_read(folder: Path) -> bool:
    return all(item.stat().st_mode & 0o005 == 0o005 for item in (folder, *folder.parents))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=_LEFT_OUT)
    else:
        shutil.copy(source, target)
    for item in (target, *target.rglob("*")):
        item.chmod(item.stat().st_mode | 0o444 | (0o111 if item.is_dir() else 0))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
