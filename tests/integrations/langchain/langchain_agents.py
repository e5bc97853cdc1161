"""Shared parts of the tests of agents and graphs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agentool_otel.ground.json_codec import loads
from agentool_otel.testing.loopback_model import LoopbackModel

ASKED = {"messages": [{"role": "user", "content": "What is OTel?"}]}


@pytest.fixture(autouse=True)
def instrumented(spans: Any) -> Iterator[None]:
    """Both instrumentors: a model call through LangChain must still be one span."""
    from agentool_otel.integrations.langchain.instrumentor.patches import (
        LangChainInstrumentor,
        _runs,
    )
    from agentool_otel.integrations.openai.instrumentor import OpenAIInstrumentor

    LangChainInstrumentor().instrument()
    OpenAIInstrumentor().instrument()
    yield
    LangChainInstrumentor().uninstrument()
    OpenAIInstrumentor().uninstrument()
    assert len(_runs) == 0, "a run was never forgotten"


@pytest.fixture
def chat(model: LoopbackModel) -> Any:
    from langchain_openai import ChatOpenAI

    options: Any = {"base_url": model.base_url, "api_key": "none", "max_retries": 0}
    return ChatOpenAI(model="gpt-5", **options)


def searcher(asynchronous: bool = False, body: Callable[[str], Any] = "found {}".format) -> Any:
    """Return a tool `search` that returns or raises as `body` does."""
    from langchain_core.tools import tool

    if asynchronous:

        @tool("search")
        async def asearch(query: str) -> Any:
            """Search the web."""
            await asyncio.sleep(0)
            return body(query)

        return asearch

    @tool("search")
    def search(query: str) -> Any:
        """Search the web."""
        return body(query)

    return search


def an_agent(chat: Any, *tools: Any, **options: Any) -> Any:
    from langchain.agents import create_agent

    return create_agent(chat, list(tools), **options)


def no_span() -> bool:
    from opentelemetry.trace import get_current_span

    return not get_current_span().get_span_context().is_valid


def run_it(agent: Any, way: str, argument: Any = ASKED, config: Any = None) -> None:
    """Run an agent one way or another; nothing of it may be current outside."""

    def stream() -> None:
        for _ in agent.stream(argument, config):
            assert no_span()

    async def astream() -> None:
        async for _ in agent.astream(argument, config):
            assert no_span()

    async def ainvoke() -> None:
        await agent.ainvoke(argument, config)
        assert no_span()

    match way:
        case "invoke":
            agent.invoke(argument, config)
        case "stream":
            stream()
        case "ainvoke":
            asyncio.run(ainvoke())
        case _:
            asyncio.run(astream())
    assert no_span()


def named(spans: Any, name: str) -> Any:
    """The one span of a name."""
    (result,) = [span for span in spans.finished() if span.name == name]
    return result


def value(span: Any, attribute: str) -> Any:
    return loads(span.attributes[attribute])


WAYS = ("invoke", "stream", "ainvoke", "astream")


def steps_of(run: Any) -> list[str]:
    """The kinds of steps on a run's timeline, in order."""
    events = [event for event in run.events if event.name == "agentool.step"]
    return [str(event.attributes["agentool.step.type"]) for event in events]
