"""Record the agents, compare new recordings with the scripts, or pin the newest versions."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from tempfile import TemporaryDirectory

from tests.coding_agents.agents import AGENTS
from tests.coding_agents.recordings import record
from tests.coding_agents.running import VERSIONS, versions
from tests.coding_agents.situations import NOT_RECORDED, SITUATIONS


def _upgrade() -> int:
    rows = {}
    for name, pinned in versions().items():
        view = ["npm", "view", pinned.package, "version"]
        newest = subprocess.run(view, capture_output=True, text=True, check=True).stdout.strip()
        rows[name] = {"package": pinned.package, "version": newest}
        print(f"{name}: {pinned.version} -> {newest}", file=sys.stderr)
    VERSIONS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


def _record(wanted: list[str]) -> int:
    every = [f"{agent}/{situation}" for agent in AGENTS for situation in SITUATIONS]
    names = [name for name in every if not wanted or {name, name.partition("/")[0]} & set(wanted)]
    unknown = [
        item for item in wanted if not any(f"{name}/".startswith(f"{item}/") for name in every)
    ]
    if unknown:
        print(f"error: unknown recording {unknown[0]!r}", file=sys.stderr)
        return 1
    for name in names:
        if name in NOT_RECORDED and name not in wanted:
            continue
        agent, _, situation = name.partition("/")
        folder = record(AGENTS[agent], situation)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        answers = json.loads((folder / "facts.json").read_text(encoding="utf-8"))["requests"]
        told = ", ".join(str(request["answer"]) for request in answers)
        print(f"{name}: {size:,} bytes; {told}", file=sys.stderr)
    return 0


def _check(wanted: list[str]) -> int:
    """Record into a folder of its own, and compare that with the scripts."""
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "CODING_AGENTS": folder}
        again = [sys.executable, "-m", "tests.coding_agents", "record", *wanted]
        subprocess.run(again, env=environment, check=True)
        tests = ["tests/coding_agents/test_channels.py", "tests/coding_agents/test_session_laws.py"]
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *tests], check=False, env=environment
        ).returncode


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.coding_agents", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("upgrade", help="pin the newest versions of the registry")
    recording = commands.add_parser("record", help="play situations and write what is recorded")
    recording.add_argument("names", nargs="*", metavar="AGENT[/SITUATION]")
    checking = commands.add_parser("check", help="record anew, and compare with the scripts")
    checking.add_argument("names", nargs="*", metavar="AGENT[/SITUATION]")
    args = parser.parse_args(argv)
    if args.command == "upgrade":
        return _upgrade()
    return (_check if args.command == "check" else _record)(args.names)


if __name__ == "__main__":
    raise SystemExit(main())
