"""One run of an agent: installed once, in a fresh home folder, against the loopback model."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agentool_otel.testing.loopback_model import LoopbackModel
from tests.coding_agents import mcp_server
from tests.coding_agents.agent import Agent, Json, Place
from tests.coding_agents.playing import Player
from tests.coding_agents.receiving import Receiver
from tests.coding_agents.situations import FILES, STARTED, Situation

__all__ = ["VERSIONS", "Run", "Version", "installed", "play", "versions"]

ROOT = Path(__file__).parents[2]
VERSIONS = Path(__file__).with_name("versions.json")
_TIMEOUT_S = 150.0
_FLUSH_S = 7.0
"""Seconds that a process lives on before it is killed, in which it exports."""
_DELAYS = ("OTEL_BSP_SCHEDULE_DELAY", "OTEL_BLRP_SCHEDULE_DELAY")
"""Variables of milliseconds between two exports."""


@dataclass(frozen=True)
class Version:
    """A pinned package of npm."""

    package: str
    version: str


def versions() -> dict[str, Version]:
    """Return the pinned package of each agent."""
    rows = json.loads(VERSIONS.read_text(encoding="utf-8"))
    return {name: Version(**row) for name, row in rows.items()}


def installed(agent: Agent) -> Path:
    """Install the pinned version of an agent unless it is there, and return its executable."""
    pinned = versions()[agent.name]
    folder = ROOT / ".coding-agents" / f"{agent.name}-{pinned.version}"
    program = folder / "node_modules" / ".bin" / agent.executable
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", "."]
        package = f"{pinned.package}@{pinned.version}"
        subprocess.run([*install, package], cwd=folder, check=True)
    return program


@dataclass
class Run:
    """What one run has left."""

    base: Path
    """The folder that has `home/user` with the project."""
    place: Place
    exit_codes: list[int]
    output: str
    spans: list[Json]
    logs: list[Json]
    requests: list[Json]
    calls: list[Json]
    sessions: dict[str, str] = field(default_factory=dict)


@contextmanager
def _folder() -> Generator[Path]:
    """A folder with a name of letters and digits, because agents make file names of the path."""
    base = Path(tempfile.gettempdir()).resolve() / f"run{secrets.token_hex(6)}"
    base.mkdir()
    try:
        yield base
    finally:
        shutil.rmtree(base, ignore_errors=True)


@contextmanager
def play(agent: Agent, situation: Situation) -> Generator[Run]:
    """Run an agent in a situation; its folders exist inside the `with` block."""
    program = installed(agent)
    receiver = Receiver()
    with _folder() as base, LoopbackModel() as model:
        home = base / "home" / "user"
        place = Place(program, home, home / "project", model.root_url, receiver.url)
        place.project.mkdir(parents=True)
        (base / "tmp").mkdir()
        for name, text in FILES.items():
            (place.project / name).write_text(text)
        shutil.copy(mcp_server.__file__, home)
        agent.prepare(place, situation)
        player = Player(agent, situation, place)
        model.rules.append(player)
        environment = _environment(place, situation.kill) | agent.environment(place, situation)
        exit_codes: list[int] = []
        output = ""
        for number, prompt in enumerate(situation.prompts):
            command = agent.command(place, situation, prompt.text, number > 0)
            code, text = _process(command, environment, place, situation.kill)
            exit_codes.append(code)
            output += text
        run = Run(base, place, exit_codes, output, receiver.spans, receiver.logs,
                  player.requests, player.calls)  # fmt: skip
        run.sessions = dict(agent.sessions(place, environment))
        try:
            yield run
        finally:
            receiver.stop()


def _environment(place: Place, kill: bool) -> dict[str, str]:
    """Return the variables of every agent; nothing of the user's own configuration is in them."""
    names = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT")
    return {
        **{name: os.environ[name] for name in names if name in os.environ},
        "HOME": str(place.home),
        "TMPDIR": str(place.home.parents[1] / "tmp"),
        "USER": "user",
        "LOGNAME": "user",
        "HOSTNAME": "host",
        "SHELL": "/bin/bash",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "CI": "",
        **(dict.fromkeys(_DELAYS, "1000") if kill else {}),
    }


def _process(
    command: list[str], environment: dict[str, str], place: Place, kill: bool
) -> tuple[int, str]:
    """Run a command until it ends, or kill it, and return its exit code and its output."""
    log = place.home.parent / "output.txt"
    with log.open("w") as file:
        process = subprocess.Popen(
            command, cwd=place.project, env=environment, stdin=subprocess.DEVNULL, stdout=file,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        ends = time.monotonic() + _TIMEOUT_S
        while process.poll() is None:
            started = kill and (place.project / STARTED).exists()
            if started:
                time.sleep(_FLUSH_S)
            if started or time.monotonic() > ends:
                if not started:
                    print("timeout", file=sys.stderr)
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            time.sleep(0.1)
    time.sleep(0.5)
    return process.returncode, log.read_text(errors="replace")
