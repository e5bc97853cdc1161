"""Calls of a model, by API and kind: whole answers and streams, sync and async, and helpers around
streams."""

from __future__ import annotations

import asyncio
import contextlib
import os
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from tests.endings.reading import Reader

__all__ = ["APIS", "Api"]

QUESTION = "What is OpenTelemetry?"
_ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": QUESTION}]}

Use = Callable[[str, Reader], Any]


class Api(NamedTuple):
    """One way to call a model."""

    name: str
    kind: str
    """`whole`, `stream` or `helper`, and whether it is async."""
    needs: str
    """Module that has to be installed."""
    use: Use
    """Makes the call at a URL, and hands a stream to a reader."""

    @property
    def is_async(self) -> bool:
        return self.kind.startswith("async")

    @property
    def streams(self) -> bool:
        return not self.kind.endswith("whole")

    @property
    def is_installed(self) -> bool:
        try:
            return find_spec(self.needs) is not None
        except ModuleNotFoundError:
            return False


APIS: list[Api] = []


def _api(name: str, kind: str, needs: str) -> Callable[[Any], Any]:
    def add(use: Any) -> Any:
        if kind.startswith("async"):

            def run(url: str, reader: Reader) -> Any:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of streams that nobody closed
                    return asyncio.run(use(url, reader))

            APIS.append(Api(name, kind, needs, run))
        else:
            APIS.append(Api(name, kind, needs, use))
        return use

    return add


# -------------------------------------------------------------------------------------- OpenAI


def _openai(url: str, name: str = "OpenAI") -> Any:
    return getattr(import_module("openai"), name)(base_url=url, api_key="none", max_retries=0)


@_api("openai chat", "whole", "openai")
def _(url: str, reader: Reader) -> None:
    with _openai(url) as client:
        client.chat.completions.create(model="gpt-5", **_ASKED)


@_api("openai chat", "async whole", "openai")
async def _(url: str, reader: Reader) -> None:
    async with _openai(url, "AsyncOpenAI") as client:
        await client.chat.completions.create(model="gpt-5", **_ASKED)


@_api("openai chat", "stream", "openai")
def _(url: str, reader: Reader) -> None:
    with (
        _openai(url) as client,
        client.chat.completions.create(model="gpt-5", stream=True, **_ASKED) as stream,
    ):
        reader.read(stream)


@_api("openai chat", "async stream", "openai")
async def _(url: str, reader: Reader) -> None:
    async with _openai(url, "AsyncOpenAI") as client:
        opened = await client.chat.completions.create(model="gpt-5", stream=True, **_ASKED)
        async with opened as stream:
            await reader.read_async(stream)


@_api("openai chat", "helper", "openai")
def _(url: str, reader: Reader) -> None:
    with _openai(url) as client, client.chat.completions.stream(model="gpt-5", **_ASKED) as stream:
        reader.read(stream)


@_api("openai chat", "async helper", "openai")
async def _(url: str, reader: Reader) -> None:
    async with (
        _openai(url, "AsyncOpenAI") as client,
        client.chat.completions.stream(model="gpt-5", **_ASKED) as stream,
    ):
        await reader.read_async(stream)


@_api("openai responses", "whole", "openai")
def _(url: str, reader: Reader) -> None:
    with _openai(url) as client:
        client.responses.create(model="gpt-5", input=QUESTION)


@_api("openai responses", "stream", "openai")
def _(url: str, reader: Reader) -> None:
    with (
        _openai(url) as client,
        client.responses.create(model="gpt-5", input=QUESTION, stream=True) as stream,
    ):
        reader.read(stream)


@_api("openai responses", "async stream", "openai")
async def _(url: str, reader: Reader) -> None:
    async with _openai(url, "AsyncOpenAI") as client:
        opened = await client.responses.create(model="gpt-5", input=QUESTION, stream=True)
        async with opened as stream:
            await reader.read_async(stream)


@_api("openai responses", "helper", "openai")
def _(url: str, reader: Reader) -> None:
    with _openai(url) as client, client.responses.stream(model="gpt-5", input=QUESTION) as stream:
        reader.read(stream)


@_api("openai responses", "async helper", "openai")
async def _(url: str, reader: Reader) -> None:
    async with (
        _openai(url, "AsyncOpenAI") as client,
        client.responses.stream(model="gpt-5", input=QUESTION) as stream,
    ):
        await reader.read_async(stream)


# ----------------------------------------------------------------------------------- Anthropic


_CLAUDE: dict[str, Any] = {"model": "claude-sonnet-5", "max_tokens": 1000, **_ASKED}


def _anthropic(url: str, name: str = "Anthropic") -> Any:
    made = getattr(import_module("anthropic"), name)
    return made(base_url=url.removesuffix("/v1"), api_key="none", max_retries=0)


@_api("anthropic", "whole", "anthropic")
def _(url: str, reader: Reader) -> None:
    with _anthropic(url) as client:
        client.messages.create(**_CLAUDE)


@_api("anthropic", "async whole", "anthropic")
async def _(url: str, reader: Reader) -> None:
    async with _anthropic(url, "AsyncAnthropic") as client:
        await client.messages.create(**_CLAUDE)


@_api("anthropic", "stream", "anthropic")
def _(url: str, reader: Reader) -> None:
    with _anthropic(url) as client, client.messages.create(stream=True, **_CLAUDE) as stream:
        reader.read(stream)


@_api("anthropic", "async stream", "anthropic")
async def _(url: str, reader: Reader) -> None:
    async with (
        _anthropic(url, "AsyncAnthropic") as client,
        await client.messages.create(stream=True, **_CLAUDE) as stream,
    ):
        await reader.read_async(stream)


@_api("anthropic", "helper", "anthropic")
def _(url: str, reader: Reader) -> None:
    with _anthropic(url) as client, client.messages.stream(**_CLAUDE) as stream:
        reader.read(stream)


@_api("anthropic", "async helper", "anthropic")
async def _(url: str, reader: Reader) -> None:
    async with (
        _anthropic(url, "AsyncAnthropic") as client,
        client.messages.stream(**_CLAUDE) as stream,
    ):
        await reader.read_async(stream)


# ------------------------------------------------------------------------------- Google's Gen AI


_GEMINI = {"model": "gemini-2.5-flash", "contents": QUESTION}


def _google(url: str) -> Any:
    root = url.removesuffix("/v1")
    return import_module("google.genai").Client(api_key="none", http_options={"base_url": root})


@_api("google-genai", "whole", "google.genai")
def _(url: str, reader: Reader) -> None:
    client = _google(url)
    client.models.generate_content(**_GEMINI)


@_api("google-genai", "stream", "google.genai")
def _(url: str, reader: Reader) -> None:
    client = _google(url)
    reader.read(client.models.generate_content_stream(**_GEMINI))


@_api("google-genai", "async stream", "google.genai")
async def _(url: str, reader: Reader) -> None:
    client = _google(url)
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


@_api("bedrock converse", "whole", "boto3")
def _(url: str, reader: Reader) -> None:
    with contextlib.closing(_bedrock(url)) as client:
        client.converse(**_CONVERSED)


@_api("bedrock converse", "stream", "boto3")
def _(url: str, reader: Reader) -> None:
    with contextlib.closing(_bedrock(url)) as client:
        reader.read(client.converse_stream(**_CONVERSED)["stream"])


# --------------------------------------------------------------------------------------- LiteLLM


def _litellm(url: str) -> tuple[Any, dict[str, Any]]:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # or it asks a server
    server = {"api_base": url, "api_key": "none", "num_retries": 0, "max_retries": 0}
    return import_module("litellm"), {"model": "openai/gpt-5", **_ASKED, **server}


@_api("litellm", "whole", "litellm")
def _(url: str, reader: Reader) -> None:
    litellm, requests = _litellm(url)
    litellm.completion(**requests)


@_api("litellm", "stream", "litellm")
def _(url: str, reader: Reader) -> None:
    litellm, requests = _litellm(url)
    reader.read(litellm.completion(stream=True, **requests))


@_api("litellm", "async stream", "litellm")
async def _(url: str, reader: Reader) -> None:
    litellm, requests = _litellm(url)
    await reader.read_async(await litellm.acompletion(stream=True, **requests))


# ------------------------------------------------------------------------------------- LangChain


def _chat_model(url: str) -> Any:
    model: Any = import_module("langchain_openai").ChatOpenAI
    return model(model="gpt-5", base_url=url, api_key="none", max_retries=0)


@_api("langchain model", "whole", "langchain_openai")
def _(url: str, reader: Reader) -> None:
    _chat_model(url).invoke(QUESTION)


@_api("langchain model", "stream", "langchain_openai")
def _(url: str, reader: Reader) -> None:
    reader.read(_chat_model(url).stream(QUESTION))


@_api("langchain model", "async stream", "langchain_openai")
async def _(url: str, reader: Reader) -> None:
    await reader.read_async(_chat_model(url).astream(QUESTION))


def _graph(url: str) -> Any:
    return import_module("langchain.agents").create_agent(_chat_model(url), name="researcher")


@_api("langgraph agent", "stream", "langgraph")
def _(url: str, reader: Reader) -> None:
    reader.read(_graph(url).stream(_ASKED, stream_mode="messages"))


@_api("langgraph agent", "async stream", "langgraph")
async def _(url: str, reader: Reader) -> None:
    await reader.read_async(_graph(url).astream(_ASKED, stream_mode="messages"))


# ------------------------------------------------------------------------------------ LlamaIndex


def _llama(url: str) -> tuple[Any, list[Any]]:
    llms: Any = import_module("llama_index.core.llms")
    model: Any = import_module("llama_index.llms.openai").OpenAI
    return model(model="gpt-5", api_base=url, api_key="none", max_retries=0), [
        llms.ChatMessage(role="user", content=QUESTION)
    ]


@_api("llama-index model", "stream", "llama_index.llms")
def _(url: str, reader: Reader) -> None:
    model, messages = _llama(url)
    reader.read(model.stream_chat(messages))


@_api("llama-index model", "async stream", "llama_index.llms")
async def _(url: str, reader: Reader) -> None:
    model, messages = _llama(url)
    await reader.read_async(await model.astream_chat(messages))


# ------------------------------------------------------------------------------- runs of agents


@_api("pydantic-ai agent", "async helper", "pydantic_ai")
async def _(url: str, reader: Reader) -> None:
    provider: Any = import_module("pydantic_ai.providers.openai").OpenAIProvider
    model: Any = import_module("pydantic_ai.models.openai").OpenAIChatModel
    async with _openai(url, "AsyncOpenAI") as client:
        agent: Any = import_module("pydantic_ai").Agent
        bot = agent(model("gpt-5", provider=provider(openai_client=client)), name="researcher")
        async with bot.run_stream(QUESTION) as result:
            await reader.read_async(result.stream_text(delta=True, debounce_by=None))


@_api("openai-agents run", "async stream", "agents")
async def _(url: str, reader: Reader) -> None:
    sdk = import_module("agents")
    async with _openai(url, "AsyncOpenAI") as client:
        model = sdk.OpenAIChatCompletionsModel("gpt-5", client)
        running = sdk.Runner.run_streamed(sdk.Agent(name="researcher", model=model), QUESTION)
        await reader.read_async(running.stream_events())


@_api("adk run", "async stream", "google.adk")
async def _(url: str, reader: Reader) -> None:
    types: Any = import_module("google.genai.types")
    modes = import_module("google.adk.agents.run_config")
    model = import_module("google.adk.models.google_llm").Gemini(model="gemini-2.5-flash")
    model.__dict__["api_client"] = _google(url)
    agent = import_module("google.adk.agents").LlmAgent(name="researcher", model=model)
    runner = import_module("google.adk.runners").InMemoryRunner(agent, app_name="search")
    session = await runner.session_service.create_session(app_name="search", user_id="alice")
    message = types.Content(role="user", parts=[types.Part(text=QUESTION)])
    config = modes.RunConfig(streaming_mode=modes.StreamingMode.SSE)
    await reader.read_async(
        runner.run_async(
            user_id="alice", session_id=session.id, new_message=message, run_config=config
        )
    )
