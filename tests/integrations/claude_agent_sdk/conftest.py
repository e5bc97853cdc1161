"""The real SDK and the CLI that it brings along, against the loopback model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.testing.turns import ToolCall, Turn
from tests.situations.conftest import Stage, stages
from tests.situations.drivers.claude_agent_sdk import ENVIRONMENT
from tests.situations.readable import readable

TOOL = "mcp__web__search_web"
SEARCH = Turn(tool_calls=(ToolCall(TOOL, {"query": "OTel"}),), input_tokens=40, output_tokens=12)
DONE = Turn(text="Done.", input_tokens=60, output_tokens=9)


class Scene:
    """Runs of one test, and their recorded spans."""

    def __init__(self, stage: Stage, model: LoopbackModel, home: Path):
        self.stage = stage
        self.model = model
        self.push = model.push
        self.sdk: Any = import_module("claude_agent_sdk")
        self._home = str(home)

    def server(self, work: Callable[[str], str] = lambda query: f"found {query}") -> Any:
        """Return an MCP server in this process with the tool `search_web`."""

        async def search_web(arguments: dict[str, Any]) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": work(arguments["query"])}]}

        tool = self.sdk.tool("search_web", "Search the web.", {"query": str})(search_web)
        return self.sdk.create_sdk_mcp_server("web", tools=[tool])

    def options(self, **options: Any) -> Any:
        url = self.model.root_url
        environ = {**ENVIRONMENT, "ANTHROPIC_BASE_URL": url, "CLAUDE_CONFIG_DIR": self._home}
        settings: dict[str, Any] = {
            "model": "claude-sonnet-4-5",
            "system_prompt": "Search.",
            "tools": [],
            "allowed_tools": [TOOL, "Agent"],
            "setting_sources": [],
            "cwd": self._home,
            "env": {**environ, "HOME": self._home, **options.pop("env", {})},
        }
        if "mcp_servers" not in options:
            settings["mcp_servers"] = {"web": self.server()}
        return self.sdk.ClaudeAgentOptions(**settings | options)

    def query(self, prompt: Any = "Question", options: Any = None, **others: Any) -> list[Any]:
        """Return all messages of a query."""

        async def run() -> list[Any]:
            messages = self.sdk.query(prompt=prompt, options=options or self.options(), **others)
            return [item async for item in messages]

        return asyncio.run(run())

    def ask(self, *prompts: Any, **options: Any) -> list[list[Any]]:
        """Return the messages that a client receives after each prompt."""

        async def run() -> list[list[Any]]:
            received: list[list[Any]] = []
            async with self.sdk.ClaudeSDKClient(self.options(**options)) as client:
                for prompt in prompts:
                    await client.query(prompt)
                    received.append([item async for item in client.receive_response()])
            return received

        return asyncio.run(run())

    def names(self) -> list[str]:
        """Return the names of all spans in the order they began, indented by their depth."""
        lines = self.text().partition("\n\n")[0].splitlines()
        return [line for line in lines if line.strip().partition(" ")[0] in _OPERATIONS]

    def text(self) -> str:
        return readable(self.stage.recorded.spans())

    def all(self, operation: str) -> list[dict[str, Any]]:
        """Return the attributes of all spans of an operation."""
        spans = sorted(self.stage.recorded.spans(), key=lambda span: span.start_ns or 0)
        operations = [dict(span.attributes) for span in spans]
        return [item for item in operations if item.get("gen_ai.operation.name") == operation]

    def tools(self) -> list[dict[str, Any]]:
        """Return the attributes of all tools, without the requests to MCP servers."""
        return [item for item in self.all("execute_tool") if "mcp.method.name" not in item]


_OPERATIONS = {"invoke_agent", "chat", "execute_tool", "tools/call", "inner"}


async def prompts(*texts: str) -> AsyncIterator[dict[str, Any]]:
    """A prompt that is an iterator."""
    for text in texts:
        yield {"type": "user", "message": {"role": "user", "content": text}}


@pytest.fixture(scope="session")
def _stage() -> Iterator[Stage]:
    pytest.importorskip("claude_agent_sdk")
    pytest.importorskip("opentelemetry.sdk")
    with stages() as stage:
        yield stage


@pytest.fixture
def scene(_stage: Stage, model: LoopbackModel, tmp_path: Path) -> Iterator[Scene]:
    """Everything attached, content captured; put back afterwards."""
    from opentelemetry import trace

    from agentool_otel.tracing.spans.settings import settings

    _stage.set()
    before = trace.get_current_span()
    yield Scene(_stage, model, tmp_path)
    assert trace.get_current_span() is before
    settings.reset()
