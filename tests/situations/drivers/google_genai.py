"""Google's Gen AI SDK with automatic function calling."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from importlib import import_module
from typing import Any

from tests.situations.situations import QUESTION, SYSTEM, ToolFailed, cancel_when_asked, search_web

NEEDS = ("google.genai",)
DISTRIBUTIONS = ("google-genai",)
IMPOSSIBLE = {"two_agents": "a client library has no agents"}
TRACERS = {
    "openinference": "openinference.instrumentation.google_genai:GoogleGenAIInstrumentor",
    "openllmetry": "opentelemetry.instrumentation.google_generativeai"
    ":GoogleGenerativeAiInstrumentor",
}
DOUBLED = {
    ("openinference", "stream"): "its span of a stream is not the current one, and has no id",
}


def _client(url: str) -> Any:
    root = url.removesuffix("/v1")
    return import_module("google.genai").Client(api_key="none", http_options={"base_url": root})


def _open(client: Any) -> Any:
    """Return a client, sync or async, as the context manager that it is since 1.40."""
    is_manager = hasattr(client, "__enter__") or hasattr(client, "__aenter__")
    return client if is_manager else nullcontext(client)


def _config(tool: Any = search_web) -> dict[str, Any]:
    return {"system_instruction": SYSTEM, "tools": [tool], "max_output_tokens": 1000}


def _chat(chats: Any, tool: Any = search_web) -> Any:
    return chats.create(model="gemini-2.5-flash", config=_config(tool))


def plain(url: str) -> str:
    with _open(_client(url)) as client:
        return str(_chat(client.chats).send_message(QUESTION).text)


parallel_tools = plain
model_error = plain


def tool_error(url: str) -> str:
    def search_web(query: str) -> str:
        """Search the web."""
        raise ToolFailed("no network")

    with _open(_client(url)) as client:
        return str(_chat(client.chats, search_web).send_message(QUESTION).text)


async def _run_async(url: str) -> str:
    async with _open(_client(url).aio) as client:
        return str((await _chat(client.chats).send_message(QUESTION)).text)


def asynchronous(url: str) -> str:
    return asyncio.run(_run_async(url))


def stream(url: str) -> list[str]:
    with _open(_client(url)) as client:
        chunks = _chat(client.chats).send_message_stream(QUESTION)
        return [text for chunk in chunks if (text := _text(chunk))]


def _text(chunk: Any) -> str:
    """Return the text of a chunk; its own property warns of parts that are none."""
    return "".join(part.text or "" for part in chunk.candidates[0].content.parts)


def cancelled(url: str) -> None:
    asyncio.run(cancel_when_asked(_run_async(url)))
