"""Calls of clients: whole answers and streams, sync and async, and helpers around streams."""

from __future__ import annotations

import contextlib
import os
from importlib import import_module
from typing import Any

from tests.endings.api import ASKED, QUESTION, add
from tests.endings.reading import Reader

__all__ = ["google_client", "openai_client"]

# -------------------------------------------------------------------------------------- OpenAI


def openai_client(url: str, name: str = "OpenAI") -> Any:
    return getattr(import_module("openai"), name)(base_url=url, api_key="none", max_retries=0)


@add("openai chat", "whole", "openai")
def _(url: str, reader: Reader) -> None:
    with openai_client(url) as client:
        client.chat.completions.create(model="gpt-5", **ASKED)


@add("openai chat", "async whole", "openai")
async def _(url: str, reader: Reader) -> None:
    async with openai_client(url, "AsyncOpenAI") as client:
        await client.chat.completions.create(model="gpt-5", **ASKED)


@add("openai chat", "stream", "openai")
def _(url: str, reader: Reader) -> None:
    with (
        openai_client(url) as client,
        client.chat.completions.create(model="gpt-5", stream=True, **ASKED) as stream,
    ):
        reader.read(stream)


@add("openai chat", "async stream", "openai")
async def _(url: str, reader: Reader) -> None:
    async with openai_client(url, "AsyncOpenAI") as client:
        opened = await client.chat.completions.create(model="gpt-5", stream=True, **ASKED)
        async with opened as stream:
            await reader.read_async(stream)


@add("openai chat", "helper", "openai")
def _(url: str, reader: Reader) -> None:
    with (
        openai_client(url) as client,
        client.chat.completions.stream(model="gpt-5", **ASKED) as stream,
    ):
        reader.read(stream)


@add("openai chat", "async helper", "openai")
async def _(url: str, reader: Reader) -> None:
    async with (
        openai_client(url, "AsyncOpenAI") as client,
        client.chat.completions.stream(model="gpt-5", **ASKED) as stream,
    ):
        await reader.read_async(stream)


@add("openai responses", "whole", "openai")
def _(url: str, reader: Reader) -> None:
    with openai_client(url) as client:
        client.responses.create(model="gpt-5", input=QUESTION)


@add("openai responses", "stream", "openai")
def _(url: str, reader: Reader) -> None:
    with (
        openai_client(url) as client,
        client.responses.create(model="gpt-5", input=QUESTION, stream=True) as stream,
    ):
        reader.read(stream)


@add("openai responses", "async stream", "openai")
async def _(url: str, reader: Reader) -> None:
    async with openai_client(url, "AsyncOpenAI") as client:
        opened = await client.responses.create(model="gpt-5", input=QUESTION, stream=True)
        async with opened as stream:
            await reader.read_async(stream)


@add("openai responses", "helper", "openai")
def _(url: str, reader: Reader) -> None:
    with (
        openai_client(url) as client,
        client.responses.stream(model="gpt-5", input=QUESTION) as stream,
    ):
        reader.read(stream)


@add("openai responses", "async helper", "openai")
async def _(url: str, reader: Reader) -> None:
    async with (
        openai_client(url, "AsyncOpenAI") as client,
        client.responses.stream(model="gpt-5", input=QUESTION) as stream,
    ):
        await reader.read_async(stream)


# ----------------------------------------------------------------------------------- Anthropic


_CLAUDE: dict[str, Any] = {"model": "claude-sonnet-5", "max_tokens": 1000, **ASKED}


def _anthropic(url: str, name: str = "Anthropic") -> Any:
    made = getattr(import_module("anthropic"), name)
    return made(base_url=url.removesuffix("/v1"), api_key="none", max_retries=0)


@add("anthropic", "whole", "anthropic")
def _(url: str, reader: Reader) -> None:
    with _anthropic(url) as client:
        client.messages.create(**_CLAUDE)


@add("anthropic", "async whole", "anthropic")
async def _(url: str, reader: Reader) -> None:
    async with _anthropic(url, "AsyncAnthropic") as client:
        await client.messages.create(**_CLAUDE)


@add("anthropic", "stream", "anthropic")
def _(url: str, reader: Reader) -> None:
    with _anthropic(url) as client, client.messages.create(stream=True, **_CLAUDE) as stream:
        reader.read(stream)


@add("anthropic", "async stream", "anthropic")
async def _(url: str, reader: Reader) -> None:
    async with (
        _anthropic(url, "AsyncAnthropic") as client,
        await client.messages.create(stream=True, **_CLAUDE) as stream,
    ):
        await reader.read_async(stream)


@add("anthropic", "helper", "anthropic")
def _(url: str, reader: Reader) -> None:
    with _anthropic(url) as client, client.messages.stream(**_CLAUDE) as stream:
        reader.read(stream)


@add("anthropic", "async helper", "anthropic")
async def _(url: str, reader: Reader) -> None:
    async with (
        _anthropic(url, "AsyncAnthropic") as client,
        client.messages.stream(**_CLAUDE) as stream,
    ):
        await reader.read_async(stream)


# ------------------------------------------------------------------------------- Google's Gen AI


_GEMINI = {"model": "gemini-2.5-flash", "contents": QUESTION}


def google_client(url: str) -> Any:
    root = url.removesuffix("/v1")
    return import_module("google.genai").Client(api_key="none", http_options={"base_url": root})


@add("google-genai", "whole", "google.genai")
def _(url: str, reader: Reader) -> None:
    client = google_client(url)
    client.models.generate_content(**_GEMINI)


@add("google-genai", "stream", "google.genai")
def _(url: str, reader: Reader) -> None:
    client = google_client(url)
    reader.read(client.models.generate_content_stream(**_GEMINI))


@add("google-genai", "async stream", "google.genai")
async def _(url: str, reader: Reader) -> None:
    client = google_client(url)
    await reader.read_async(await client.aio.models.generate_content_stream(**_GEMINI))


# --------------------------------------------------------------------------------------- Bedrock


_CONVERSED: dict[str, Any] = {
    "modelId": "anthropic.claude-sonnet-5-v1:0",
    "messages": [{"role": "user", "content": [{"text": QUESTION}]}],
}


def _bedrock(url: str) -> Any:
    return import_module("boto3").client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=url.removesuffix("/v1"),
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=import_module("botocore.config").Config(retries={"total_max_attempts": 1}),
    )


@add("bedrock converse", "whole", "boto3")
def _(url: str, reader: Reader) -> None:
    with contextlib.closing(_bedrock(url)) as client:
        client.converse(**_CONVERSED)


@add("bedrock converse", "stream", "boto3")
def _(url: str, reader: Reader) -> None:
    with contextlib.closing(_bedrock(url)) as client:
        reader.read(client.converse_stream(**_CONVERSED)["stream"])


# --------------------------------------------------------------------------------------- LiteLLM


def _litellm(url: str) -> tuple[Any, dict[str, Any]]:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # or it asks a server
    server = {"api_base": url, "api_key": "none", "num_retries": 0, "max_retries": 0}
    return import_module("litellm"), {"model": "openai/gpt-5", **ASKED, **server}


@add("litellm", "whole", "litellm")
def _(url: str, reader: Reader) -> None:
    litellm, requests = _litellm(url)
    litellm.completion(**requests)


@add("litellm", "stream", "litellm")
def _(url: str, reader: Reader) -> None:
    litellm, requests = _litellm(url)
    reader.read(litellm.completion(stream=True, **requests))


@add("litellm", "async stream", "litellm")
async def _(url: str, reader: Reader) -> None:
    litellm, requests = _litellm(url)
    await reader.read_async(await litellm.acompletion(stream=True, **requests))
