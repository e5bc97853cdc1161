"""Anthropic's client, in a loop of the program's own: no agents, so there is no run around it."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from tests.situations.situations import QUESTION, SYSTEM, ToolFailed, cancel_when_asked, search_web

NEEDS = ("anthropic",)
DISTRIBUTIONS = ("anthropic",)
IMPOSSIBLE = {"two_agents": "a client library has no agents"}
TRACERS = {
    "openinference": "openinference.instrumentation.anthropic:AnthropicInstrumentor",
    "openllmetry": "opentelemetry.instrumentation.anthropic:AnthropicInstrumentor",
}

_TOOLS = [
    {
        "name": "search_web",
        "description": "Search the web.",
        "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}},
    }
]


def _client(url: str, name: str = "Anthropic") -> Any:
    value = getattr(import_module("anthropic"), name)
    return value(base_url=url.removesuffix("/v1"), api_key="none", max_retries=0)


def _asked(messages: list[Any]) -> dict[str, Any]:
    requests = {"model": "claude-sonnet-5", "max_tokens": 1000, "system": SYSTEM}
    return {**requests, "messages": messages, "tools": _TOOLS}


def _question() -> list[Any]:
    return [{"role": "user", "content": QUESTION}]


def _calls(answer: Any) -> list[Any]:
    return [block for block in answer.content if block.type == "tool_use"]


def _text(answer: Any) -> str:
    return "".join(block.text for block in answer.content if block.type == "text")


def _results(answer: Any, tool: Any = search_web) -> list[Any]:
    results: list[Any] = []
    for call in _calls(answer):
        result = {"type": "tool_result", "tool_use_id": call.id}
        try:
            results.append({**result, "content": tool(**call.input)})
        except ToolFailed as error:
            results.append({**result, "content": f"failed: {error}", "is_error": True})
    return [{"role": "assistant", "content": answer.content}, {"role": "user", "content": results}]


def _run(url: str, tool: Any = search_web) -> str:
    messages = _question()
    with _client(url) as client:
        while True:
            answer = client.messages.create(**_asked(messages))
            if not _calls(answer):
                return _text(answer)
            messages += _results(answer, tool)


def plain(url: str) -> str:
    return _run(url)


parallel_tools = plain
model_error = plain


def tool_error(url: str) -> str:
    def fails(query: str) -> str:
        raise ToolFailed("no network")

    return _run(url, fails)


def asynchronous(url: str) -> str:
    return asyncio.run(_run_async(url))


async def _run_async(url: str) -> str:
    messages = _question()
    async with _client(url, "AsyncAnthropic") as client:
        while True:
            answer = await client.messages.create(**_asked(messages))
            if not _calls(answer):
                return _text(answer)
            messages += _results(answer)


def stream(url: str) -> list[str]:
    messages = _question()
    with _client(url) as client:
        while True:
            with client.messages.stream(**_asked(messages)) as events:
                pieces = list(events.text_stream)
                answer = events.get_final_message()
            if not _calls(answer):
                return pieces
            messages += _results(answer)


def cancelled(url: str) -> None:
    asyncio.run(cancel_when_asked(_run_async(url)))
