"""OpenAI's client, in a loop of the program's own: no agents, so there is no run around it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.situations.situations import QUESTION, SYSTEM, ToolFailed, cancel_when_asked, search_web

NEEDS = ("openai",)
DISTRIBUTIONS = ("openai",)
IMPOSSIBLE = {"two_agents": "a client library has no agents"}
TRACERS = {
    "openinference": "openinference.instrumentation.openai:OpenAIInstrumentor",
    "openllmetry": "opentelemetry.instrumentation.openai:OpenAIInstrumentor",
}

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


def _asked(messages: list[Any]) -> dict[str, Any]:
    return {"model": "gpt-5", "messages": messages, "tools": _TOOLS}


def _question() -> list[Any]:
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]


def _results(message: Any, tool: Any = search_web) -> list[Any]:
    answers: list[Any] = [message.to_dict()]
    for call in message.tool_calls:
        try:
            result = tool(**json.loads(call.function.arguments))
        except ToolFailed as error:
            result = f"failed: {error}"
        answers.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return answers


def _run(url: str, tool: Any = search_web) -> str:
    import openai

    messages = _question()
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        while True:
            answer = client.chat.completions.create(**_asked(messages)).choices[0].message
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
    import openai

    messages = _question()
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        while True:
            response = await client.chat.completions.create(**_asked(messages))
            answer = response.choices[0].message
            if not answer.tool_calls:
                return str(answer.content)
            messages += _results(answer)


def stream(url: str) -> list[str]:
    import openai

    messages = _question()
    options = {"stream_options": {"include_usage": True}}
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as opened:
        client: Any = opened
        while True:
            with client.chat.completions.stream(**_asked(messages), **options) as events:
                pieces = [event.delta for event in events if event.type == "content.delta"]
                answer = events.get_final_completion().choices[0].message
            if not answer.tool_calls:
                return pieces
            messages += _results(answer)


def cancelled(url: str) -> None:
    asyncio.run(cancel_when_asked(_run_async(url)))
