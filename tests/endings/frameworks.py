"""Calls of frameworks: their models, and runs of their agents."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Generator
from contextlib import aclosing, closing, contextmanager
from importlib import import_module
from typing import Any

from tests.endings.api import ASKED, QUESTION, add
from tests.endings.clients import google_client, openai_client
from tests.endings.reading import Reader
from tests.situations.drivers.claude_agent_sdk import ENVIRONMENT
from tests.situations.drivers.crewai import keep_quiet


@contextmanager
def _without_warnings() -> Generator[None]:
    """Ignore the warnings of a framework about its own code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# ------------------------------------------------------------------------------------- LangChain


def _chat_model(url: str) -> Any:
    model: Any = import_module("langchain_openai").ChatOpenAI
    return model(model="gpt-5", base_url=url, api_key="none", max_retries=0)


@add("langchain model", "whole", "langchain_openai")
def _(url: str, reader: Reader) -> None:
    _chat_model(url).invoke(QUESTION)


@add("langchain model", "stream", "langchain_openai")
def _(url: str, reader: Reader) -> None:
    reader.read(_chat_model(url).stream(QUESTION))


@add("langchain model", "async stream", "langchain_openai")
async def _(url: str, reader: Reader) -> None:
    await reader.read_async(_chat_model(url).astream(QUESTION))


def _graph(url: str) -> Any:
    with _without_warnings():
        agents = import_module("langchain.agents")
    return agents.create_agent(_chat_model(url), name="researcher")


@add("langgraph agent", "stream", "langgraph")
def _(url: str, reader: Reader) -> None:
    reader.read(_graph(url).stream(ASKED, stream_mode="messages"))


@add("langgraph agent", "async stream", "langgraph")
async def _(url: str, reader: Reader) -> None:
    await reader.read_async(_graph(url).astream(ASKED, stream_mode="messages"))


# ------------------------------------------------------------------------------------ LlamaIndex


def _llama(url: str, kind: str = "openai.OpenAI", **options: Any) -> Any:
    module, _, name = kind.rpartition(".")
    model: Any = getattr(import_module(f"llama_index.llms.{module}"), name)
    return model(model="gpt-5", api_base=url, api_key="none", max_retries=0, **options)


def _llama_like(url: str) -> Any:
    return _llama(url, "openai_like.OpenAILike", is_chat_model=True)


def _llama_asked() -> list[Any]:
    message: Any = import_module("llama_index.core.llms").ChatMessage
    return [message(role="user", content=QUESTION)]


@add("llama-index model", "whole", "llama_index.llms.openai")
def _(url: str, reader: Reader) -> None:
    _llama(url).chat(_llama_asked())


@add("llama-index model", "async whole", "llama_index.llms.openai")
async def _(url: str, reader: Reader) -> None:
    await _llama(url).achat(_llama_asked())


@add("llama-index model", "stream", "llama_index.llms.openai")
def _(url: str, reader: Reader) -> None:
    reader.read(_llama(url).stream_chat(_llama_asked()))


@add("llama-index model", "async stream", "llama_index.llms.openai")
async def _(url: str, reader: Reader) -> None:
    await reader.read_async(await _llama(url).astream_chat(_llama_asked()))


@add("llama-index openai-like", "whole", "llama_index.llms.openai_like")
def _(url: str, reader: Reader) -> None:
    _llama_like(url).chat(_llama_asked())


@add("llama-index openai-like", "stream", "llama_index.llms.openai_like")
def _(url: str, reader: Reader) -> None:
    reader.read(_llama_like(url).stream_chat(_llama_asked()))


@add("llama-index openai-like", "async stream", "llama_index.llms.openai_like")
async def _(url: str, reader: Reader) -> None:
    await reader.read_async(await _llama_like(url).astream_chat(_llama_asked()))


def _llama_agent(url: str, *, streaming: bool) -> Any:
    agent: Any = import_module("llama_index.core.agent.workflow").FunctionAgent
    return agent(name="researcher", llm=_llama(url), tools=[], streaming=streaming)


@add("llama-index agent", "async whole", "llama_index.llms.openai")
async def _(url: str, reader: Reader) -> None:
    await _llama_agent(url, streaming=False).run(QUESTION)


@add("llama-index agent", "async stream", "llama_index.llms.openai")
async def _(url: str, reader: Reader) -> None:
    handler = _llama_agent(url, streaming=True).run(QUESTION)
    await reader.read_async(handler.stream_events())
    if reader.way == "closed":
        await handler.cancel_run()
    else:
        await handler


# ------------------------------------------------------------------------------- runs of agents


@add("pydantic-ai agent", "async helper", "pydantic_ai")
async def _(url: str, reader: Reader) -> None:
    provider: Any = import_module("pydantic_ai.providers.openai").OpenAIProvider
    model: Any = import_module("pydantic_ai.models.openai").OpenAIChatModel
    async with openai_client(url, "AsyncOpenAI") as client:
        agent: Any = import_module("pydantic_ai").Agent
        bot = agent(model("gpt-5", provider=provider(openai_client=client)), name="researcher")
        async with bot.run_stream(QUESTION) as result:
            await reader.read_async(result.stream_text(delta=True, debounce_by=None))


@add("openai-agents run", "async stream", "agents")
async def _(url: str, reader: Reader) -> None:
    sdk = import_module("agents")
    async with openai_client(url, "AsyncOpenAI") as client:
        model = sdk.OpenAIChatCompletionsModel("gpt-5", client)
        running = sdk.Runner.run_streamed(sdk.Agent(name="researcher", model=model), QUESTION)
        await reader.read_async(running.stream_events())


@add("adk run", "async stream", "google.adk")
async def _(url: str, reader: Reader) -> None:
    types: Any = import_module("google.genai.types")
    modes = import_module("google.adk.agents.run_config")
    model = import_module("google.adk.models.google_llm").Gemini(model="gemini-2.5-flash")
    model.__dict__["api_client"] = google_client(url)
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


# ---------------------------------------------------------------------------------------- CrewAI


def _crew(url: str, *, stream: bool = False) -> Any:
    keep_quiet()
    crewai = import_module("crewai")
    model = crewai.LLM(
        model="openai/gpt-5", base_url=url, api_key="none", stream=stream, max_retries=0
    )
    agent = crewai.Agent(
        role="researcher", goal="Answer.", backstory="None.", llm=model, max_retry_limit=0
    )
    task = crewai.Task(description=QUESTION, expected_output="An answer.", agent=agent)
    return crewai.Crew(agents=[agent], tasks=[task], stream=stream)


@add("crewai crew", "whole", "crewai")
def _(url: str, reader: Reader) -> None:
    with _without_warnings():
        _crew(url).kickoff()


@add("crewai crew", "async whole", "crewai")
async def _(url: str, reader: Reader) -> None:
    await _crew(url).akickoff()


@add("crewai crew", "stream", "crewai")
def _(url: str, reader: Reader) -> None:
    with _without_warnings(), closing(_crew(url, stream=True).kickoff()) as stream:
        reader.read(stream)


@add("crewai crew", "async stream", "crewai")
async def _(url: str, reader: Reader) -> None:
    async with await _crew(url, stream=True).akickoff() as stream:
        await reader.read_async(stream)


# ------------------------------------------------------------------------------------ Agent Spec


def _spec(url: str) -> Any:
    """Load an agent into LangGraph."""
    os.environ.setdefault("OPENAI_API_KEY", "none")  # the adapter makes clients that want one
    agent: Any = import_module("pyagentspec.agent").Agent
    config: Any = import_module("pyagentspec.llms").OpenAiCompatibleConfig
    loader: Any = import_module("pyagentspec.adapters.langgraph").AgentSpecLoader
    model = config(name="model", model_id="gpt-5", url=url)
    return loader().load_component(
        agent(name="researcher", llm_config=model, system_prompt="Answer.")
    )


_THREAD: dict[str, Any] = {"configurable": {"thread_id": "1"}}


@add("agent-spec agent", "whole", "pyagentspec.adapters.langgraph")
def _(url: str, reader: Reader) -> None:
    _spec(url).invoke(ASKED, _THREAD)


@add("agent-spec agent", "stream", "pyagentspec.adapters.langgraph")
def _(url: str, reader: Reader) -> None:
    reader.read(_spec(url).stream(ASKED, _THREAD, stream_mode="messages"))


@add("agent-spec agent", "async stream", "pyagentspec.adapters.langgraph")
async def _(url: str, reader: Reader) -> None:
    await reader.read_async(_spec(url).astream(ASKED, _THREAD, stream_mode="messages"))


# ------------------------------------------------------------------------------ Claude Agent SDK


@add("claude-agent-sdk query", "async stream", "claude_agent_sdk")
async def _(url: str, reader: Reader) -> None:
    sdk = import_module("claude_agent_sdk")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        server = {"ANTHROPIC_BASE_URL": url.removesuffix("/v1")}
        options = sdk.ClaudeAgentOptions(
            model="claude-sonnet-4-5",
            tools=[],
            setting_sources=[],
            include_partial_messages=True,
            cwd=home,
            env={**ENVIRONMENT, **server, "CLAUDE_CONFIG_DIR": home, "HOME": home},
        )
        async with aclosing(sdk.query(prompt=QUESTION, options=options)) as stream:
            await reader.read_async(stream)
