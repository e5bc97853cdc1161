"""The Claude Agent SDK's `query` and client, with the CLI that it brings along."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import aclosing
from importlib import import_module
from typing import Any

from agentool_otel.testing.turns import ToolCall, Turn
from tests.situations.situations import (
    QUESTION,
    SITUATIONS,
    SYSTEM,
    ToolFailed,
    cancel_when_asked,
    handing_over,
    search_web,
)

NEEDS = ("claude_agent_sdk",)
DISTRIBUTIONS = ("claude-agent-sdk",)
IMPOSSIBLE: dict[str, str] = {}
TRACERS = {
    "openinference": "openinference.instrumentation.claude_agent_sdk:ClaudeAgentSDKInstrumentor",
}
_NAME = "it names a run after the function that is called, which is read as a second agent"
DOUBLED = {("openinference", situation): _NAME for situation in SITUATIONS}
TOOL = "mcp__web__search_web"
ENVIRONMENT = {
    "ANTHROPIC_API_KEY": "none",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    # Tools are offered at once, not searched for.
    "ENABLE_TOOL_SEARCH": "false",
    # A request that is refused is made again without either.
    "MAX_THINKING_TOKENS": "0",
    "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1",
}
"""Variables with which the CLI makes the requests of the conversation, and no others."""


def _renamed(turn: Turn) -> Turn:
    """Return a turn that calls the tool by the name that the CLI gives it."""
    calls = tuple(ToolCall(TOOL, item.arguments) for item in turn.tool_calls)
    return Turn(
        text=turn.text,
        tool_calls=calls,
        input_tokens=turn.input_tokens,
        output_tokens=turn.output_tokens,
    )


_CALL, _ANSWER = handing_over(
    "Agent",
    description="Write it",
    prompt=QUESTION,
    subagent_type="writer",
    run_in_background=False,
)
TURNS = {
    **{
        name: tuple(_renamed(turn) for turn in SITUATIONS[name])
        for name in ("plain", "asynchronous", "stream", "parallel_tools", "tool_error")
    },
    "two_agents": (
        _CALL,
        Turn(text="A standard, says the writer.", input_tokens=12, output_tokens=6),
        _ANSWER,
    ),
}


def _options(url: str, home: str, tool: Any = search_web, **options: Any) -> Any:
    """Return options without the settings and the accounts of the machine."""
    sdk = import_module("claude_agent_sdk")

    async def search(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": tool(**arguments)}]}

    searching = sdk.tool("search_web", "Search the web.", {"query": str})(search)

    return sdk.ClaudeAgentOptions(
        model="claude-sonnet-4-5",
        system_prompt=SYSTEM,
        tools=["Agent"] if "agents" in options else [],
        mcp_servers={"web": sdk.create_sdk_mcp_server("web", tools=[searching])},
        allowed_tools=[TOOL, "Agent"],
        setting_sources=[],
        cwd=home,
        env={
            **ENVIRONMENT,
            "ANTHROPIC_BASE_URL": url.removesuffix("/v1"),
            "CLAUDE_CONFIG_DIR": home,
            "HOME": home,
        },
        **options,
    )


async def _messages(messages: Any) -> list[str]:
    """Return the kinds of the messages, and the result."""
    seen: list[str] = []
    async with aclosing(messages):
        async for item in messages:
            kind = type(item).__name__
            if kind == "ResultMessage":
                seen.append(f"{kind} {item.subtype} {item.result}")
            elif kind != "SystemMessage" or item.subtype == "init":
                seen.append(kind)
    return seen


def _query(url: str, tool: Any = search_web, **options: Any) -> list[str]:
    query = import_module("claude_agent_sdk").query

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        work = query(prompt=QUESTION, options=_options(url, home, tool, **options))
        return asyncio.run(_messages(work))


def plain(url: str) -> list[str]:
    return _query(url)


parallel_tools = plain
model_error = plain


def asynchronous(url: str) -> list[str]:
    client = import_module("claude_agent_sdk").ClaudeSDKClient

    async def run(home: str) -> list[str]:
        async with client(_options(url, home)) as connected:
            await connected.query(QUESTION)
            return await _messages(connected.receive_response())

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        return asyncio.run(run(home))


def stream(url: str) -> list[str]:
    return _query(url, include_partial_messages=True)


def tool_error(url: str) -> list[str]:
    def search_web(query: str) -> str:
        raise ToolFailed("no network")

    return _query(url, search_web)


def cancelled(url: str) -> None:
    query = import_module("claude_agent_sdk").query

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        work = query(prompt=QUESTION, options=_options(url, home))
        asyncio.run(cancel_when_asked(_messages(work)))


def two_agents(url: str) -> list[str]:
    definition = import_module("claude_agent_sdk").AgentDefinition
    writer = definition(description="Writes texts.", prompt="Write.", tools=[])
    return _query(url, agents={"writer": writer})
