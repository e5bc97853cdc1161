"""LangChain's `create_agent` on LangGraph; the second agent is a node that a command leads to."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.situations.situations import (
    QUESTION,
    SITUATIONS,
    SYSTEM,
    ToolFailed,
    cancel_when_asked,
    search_web,
)

NEEDS = ("langchain", "langchain_openai", "langgraph")
DISTRIBUTIONS = ("langchain", "langgraph")
IMPOSSIBLE: dict[str, str] = {}
TRACERS = {
    "openinference": "openinference.instrumentation.langchain:LangChainInstrumentor",
    "openllmetry": "opentelemetry.instrumentation.langchain:LangchainInstrumentor",
}
_ROOT = "it starts before ours, from a callback that makes no span current, in a trace of its own"
DOUBLED = {
    **{("openinference", situation): _ROOT for situation in SITUATIONS},
    ("openllmetry", "stream"): _ROOT,
    ("openllmetry", "two_agents"): _ROOT,
}
NO_USAGE = {"stream": "ChatOpenAI asks a server other than OpenAI's for no usage of a stream"}


def _model(url: str) -> Any:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="gpt-5", base_url=url, api_key="none", max_retries=0)  # type: ignore[arg-type]


def _agent(url: str, tool: Any = search_web, **options: Any) -> Any:
    from langchain.agents import create_agent

    return create_agent(_model(url), [tool], system_prompt=SYSTEM, name="researcher", **options)


_INPUT: Any = {"messages": [{"role": "user", "content": QUESTION}]}


def plain(url: str) -> str:
    return str(_agent(url).invoke(_INPUT)["messages"][-1].content)


parallel_tools = plain
model_error = plain


def asynchronous(url: str) -> str:
    async def run() -> str:
        return str((await _agent(url).ainvoke(_INPUT))["messages"][-1].content)

    return asyncio.run(run())


def stream(url: str) -> list[str]:
    agent = _agent(url)
    return [str(item.content) for item, _ in agent.stream(_INPUT, stream_mode="messages")]


def tool_error(url: str) -> str:
    def search_web(query: str) -> str:
        """Search the web."""
        raise ToolFailed("no network")

    return str(_agent(url, search_web).invoke(_INPUT)["messages"][-1].content)


def cancelled(url: str) -> None:
    asyncio.run(cancel_when_asked(_agent(url).ainvoke(_INPUT)))


def two_agents(url: str) -> str:
    from langchain.agents import create_agent
    from langchain_core.tools import tool
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.types import Command

    @tool
    def transfer_to_writer() -> Any:
        """Hand over to the writer."""
        return Command(goto="writer", graph=Command.PARENT)

    graph: Any = StateGraph(MessagesState)
    model = _model(url)
    graph.add_node(
        "researcher",
        create_agent(model, [transfer_to_writer], system_prompt=SYSTEM, name="researcher"),
        destinations=("writer",),
    )
    graph.add_node("writer", create_agent(model, [], system_prompt="Write.", name="writer"))
    graph.add_edge(START, "researcher")
    return str(graph.compile(name="team").invoke(_INPUT)["messages"][-1].content)
