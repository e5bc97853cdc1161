"""Fail on an attribute name of a released package that no table of ours knows.

    python -m tests.census                  every package, in its newest release
    python -m tests.census livekit-agents   some
    python -m tests.census --accept         add what is new to `harmless.txt`: read the difference

A new name is looked at by a person: either a dialect declares it as content, or it is accepted.
Without a package index the census is skipped, with the reason.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.census.names import is_known, names_in
from tests.census.packages import PACKAGES

HARMLESS = Path(__file__).parent / "harmless.txt"
_OFFLINE = ("NewConnectionError", "ConnectTimeout", "Name or service not known", "ProxyError")


def download(package: str, folder: Path) -> Path:
    """Return the newest wheel of a package, without what it depends on.

    Raises:
        RuntimeError: pip could not get it; the message has pip's last words.
    """
    folder.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary"]
    done = subprocess.run(
        [*command, ":all:", "--disable-pip-version-check", "--dest", str(folder), package],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    wheels = [*folder.glob("*.whl")]
    if done.returncode or not wheels:
        raise RuntimeError(done.stderr.strip() or "pip found no wheel")
    return wheels[0]


def main(arguments: list[str]) -> int:
    accept = "--accept" in arguments
    chosen = [name for name in arguments if not name.startswith("-")] or list(PACKAGES)
    if unknown := sorted(set(chosen) - PACKAGES.keys()):
        print(f"unknown package {unknown[0]!r}: use {', '.join(PACKAGES)}", file=sys.stderr)
        return 2
    harmless = set(HARMLESS.read_text(encoding="utf-8").split())
    missing: dict[str, list[str]] = {}
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        for package in chosen:
            try:
                wheel = download(package, Path(temporary) / package)
            except RuntimeError as error:
                if any(word in str(error) for word in _OFFLINE):
                    reason = str(error).splitlines()[-1]
                    print(f"skipped: there is no package index ({reason})", file=sys.stderr)
                    return 0
                print(f"{package}: {str(error).splitlines()[-1]}", file=sys.stderr)
                failed.append(package)
                continue
            names = names_in(wheel, PACKAGES[package])
            new = sorted(name for name in names if not is_known(name) and name not in harmless)
            print(f"{wheel.name}: {len(names)} names, {len(new)} unknown", file=sys.stderr)
            if new:
                missing[package] = new
    for package, names_of in missing.items():
        for name in names_of:
            print(f"{package}: {name}")
    if accept:
        everything = harmless.union(*missing.values())
        HARMLESS.write_text("".join(f"{name}\n" for name in sorted(everything)), encoding="utf-8")
        return 1 if failed else 0
    if missing:
        print(
            "declare a name with content in `content` of the dialect that reads it; add the others "
            "to tests/census/harmless.txt: python -m tests.census --accept",
            file=sys.stderr,
        )
    return 1 if missing or failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
