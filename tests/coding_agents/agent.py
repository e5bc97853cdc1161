"""What `running.py` has to know of an agent."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from agentool_otel.testing.loopback_model import Request, Turn
from tests.coding_agents.situations import MCP_ANSWERS, Action, Situation

__all__ = ["Agent", "Call", "Json", "Place"]

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool call in the words of an agent."""

    tool: str
    arguments: Json | str
    """A text for a tool that takes no JSON."""
    namespace: str | None = None


@dataclass(frozen=True)
class Place:
    """Where one run happens."""

    program: Path
    """The agent's executable."""
    home: Path
    project: Path
    model_url: str
    """Root URL of the loopback model."""
    otlp_url: str
    """Root URL of the OTLP receiver."""

    @property
    def mcp_command(self) -> list[str]:
        """Return the command of the MCP server `demo`."""
        return ["python3", str(self.home / "mcp_server.py"), json.dumps(MCP_ANSWERS)]

    def write(self, name: str, content: str | Json) -> None:
        """Write a file below the home folder; an object as JSON."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))


class Agent(ABC):
    """One coding agent: its configuration, its tools and its files."""

    name: ClassVar[str]
    executable: ClassVar[str]
    """Name of the program in `node_modules/.bin`."""
    call_prefix: ClassVar[str] = "call_"
    """Beginning of the ids of tool calls, as the model's API has it."""
    model_delay_s: ClassVar[float] = 0.0
    """Seconds that the model takes to answer by the script."""
    session_folder: ClassVar[str]
    """Folder of the session files below the home folder."""
    session_files: ClassVar[tuple[str, ...]] = ("**/*.jsonl",)
    """Patterns of the session files below `session_folder`."""
    spans: ClassVar[frozenset[str] | None] = None
    """Names of the spans that all are kept, and a few of each other name; None keeps all spans."""
    log_events: ClassVar[frozenset[str] | None] = None
    """Likewise for `event.name` of log records."""

    dropped_attributes: ClassVar[tuple[str, ...]] = ()
    """Beginnings of names of attributes that are on all spans and say nothing of the run."""
    plumbing_lines: ClassVar[frozenset[str]] = frozenset()
    """Values of `type` of session lines that no other line refers to: a few of each are kept."""
    harness_attributes: ClassVar[frozenset[str]] = frozenset()
    """Attributes that are cut: system prompts and tool definitions."""

    @abstractmethod
    def prepare(self, place: Place, situation: Situation) -> None:
        """Write the configuration files."""

    @abstractmethod
    def environment(self, place: Place, situation: Situation) -> dict[str, str]:
        """Return the variables that the agent is configured by."""

    @abstractmethod
    def command(self, place: Place, situation: Situation, prompt: str, resumed: bool) -> list[str]:
        """Return the command line of one prompt."""

    @abstractmethod
    def call(self, action: Action, place: Place) -> Call:
        """Return an action as a call of one of the agent's tools."""

    def report(self, text: str) -> Call | None:
        """Return the call by which a sub-agent ends, if its answer is no text."""
        return None

    def own_request(self, request: Request) -> Turn | None:
        """Return the answer to a request that the agent makes for itself, e.g. for a title."""
        return None

    def matters(self, span: Json) -> bool:
        """Return whether a span is kept whatever its name."""
        return bool(span.get("events"))

    def log_matters(self, record: Json) -> bool:
        """Return whether a log record is kept whatever its name."""
        return False

    def is_harness(self, line: Json) -> bool:
        """Return whether a line of a session file has nothing but long texts of the agent."""
        return False

    def sessions(self, place: Place, environment: dict[str, str]) -> Iterable[tuple[str, str]]:
        """Yield the session files: their names below `session_folder`, and their texts."""
        folder = place.home / self.session_folder
        for pattern in self.session_files:
            for path in sorted(folder.glob(pattern)):
                if path.is_file():
                    yield path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")
