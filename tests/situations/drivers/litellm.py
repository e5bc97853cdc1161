"""LiteLLM's functions, to Anthropic's API, in a loop of the program's own."""

from __future__ import annotations

import asyncio
import json
import os
from importlib import import_module
from typing import Any

from tests.situations.situations import QUESTION, SYSTEM, ToolFailed, cancel_when_asked, search_web

NEEDS = ("litellm",)
DISTRIBUTIONS = ("litellm",)
IMPOSSIBLE = {"two_agents": "a client library has no agents"}
TRACERS = {"openinference": "openinference.instrumentation.litellm:LiteLLMInstrumentor"}

_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "search_web",
            "description": "Search the web.",
            "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
        },
    }
]


def _litellm() -> Any:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # or it asks a server
    return import_module("litellm")


def _asked(url: str, messages: list[Any]) -> dict[str, Any]:
    server = {"api_base": url.removesuffix("/v1"), "api_key": "none", "num_retries": 0}
    model = "anthropic/claude-sonnet-5"
    return {"model": model, "messages": messages, "tools": _TOOLS, "max_tokens": 1000, **server}


def _question() -> list[Any]:
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]


def _results(message: Any, tool: Any = search_web) -> list[Any]:
    answers: list[Any] = [message.model_dump()]
    for call in message.tool_calls:
        try:
            result = tool(**json.loads(call.function.arguments))
        except ToolFailed as error:
            result = f"failed: {error}"
        answers.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return answers


def _run(url: str, tool: Any = search_web) -> str:
    messages = _question()
    while True:
        answer = _litellm().completion(**_asked(url, messages)).choices[0].message
        if not answer.tool_calls:
            return str(answer.content)
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
    while True:
        answer = (await _litellm().acompletion(**_asked(url, messages))).choices[0].message
        if not answer.tool_calls:
            return str(answer.content)
        messages += _results(answer)


def stream(url: str) -> list[str]:
    messages = _question()
    while True:
        chunks = list(_litellm().completion(**_asked(url, messages), stream=True))
        answer = _litellm().stream_chunk_builder(chunks).choices[0].message
        if not answer.tool_calls:
            return [text for item in chunks if (text := item.choices[0].delta.content)]
        messages += _results(answer)


def cancelled(url: str) -> None:
    asyncio.run(cancel_when_asked(_run_async(url)))
