"""Open Agent Spec on LangGraph: the same JSON that other runtimes load; the second agent is another
of a swarm."""

from __future__ import annotations

import asyncio
import functools
import os
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from tests.situations.situations import (
    QUESTION,
    SYSTEM,
    ToolFailed,
    cancel_when_asked,
    search_web,
)

NEEDS = ("pyagentspec", "langgraph_swarm", "langchain_openai")
DISTRIBUTIONS = ("pyagentspec",)
IMPOSSIBLE: dict[str, str] = {}
NO_USAGE = {"stream": "ChatOpenAI asks a server other than OpenAI's for no usage of a stream"}

T = TypeVar("T")


def _unwarned(play: Callable[[str], T]) -> Callable[[str], T]:
    """Let a situation be played where warnings are errors, and without a key in the environment:
    the adapter makes clients that want one."""

    @functools.wraps(play)
    def played(url: str) -> T:
        os.environ.setdefault("OPENAI_API_KEY", "none")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return play(url)

    return played


def _agent(url: str, name: str = "researcher", tools: bool = True) -> Any:
    spec: Any = import_module("pyagentspec.agent")
    llms: Any = import_module("pyagentspec.llms")
    properties: Any = import_module("pyagentspec.property")
    kinds: Any = import_module("pyagentspec.tools")
    search = kinds.ServerTool(
        name="search_web",
        description="Search the web.",
        inputs=[properties.StringProperty(title="query")],
        outputs=[properties.StringProperty(title="result")],
    )
    return spec.Agent(
        name=name,
        llm_config=llms.OpenAiCompatibleConfig(name="model", model_id="gpt-5", url=url),
        system_prompt=SYSTEM,
        tools=[search] if tools else [],
    )


def _graph(component: Any, tool: Any = search_web, **options: Any) -> Any:
    loader: Any = import_module("pyagentspec.adapters.langgraph").AgentSpecLoader
    serializer: Any = import_module("pyagentspec.serialization").AgentSpecSerializer
    json = serializer().to_json(component)
    return loader(tool_registry={"search_web": tool}, **options).load_json(json)


_INPUT: Any = {"messages": [{"role": "user", "content": QUESTION}]}
_CONFIG: Any = {"configurable": {"thread_id": "1"}}


@_unwarned
def plain(url: str) -> str:
    return str(_graph(_agent(url)).invoke(_INPUT, _CONFIG)["messages"][-1].content)


parallel_tools = plain
model_error = plain


@_unwarned
def asynchronous(url: str) -> str:
    async def run() -> str:
        return str((await _graph(_agent(url)).ainvoke(_INPUT, _CONFIG))["messages"][-1].content)

    return asyncio.run(run())


@_unwarned
def stream(url: str) -> list[str]:
    graph = _graph(_agent(url))
    return [str(item.content) for item, _ in graph.stream(_INPUT, _CONFIG, stream_mode="messages")]


@_unwarned
def tool_error(url: str) -> str:
    def search_web(query: str) -> str:
        """Search the web."""
        raise ToolFailed("no network")

    return str(_graph(_agent(url), search_web).invoke(_INPUT, _CONFIG)["messages"][-1].content)


@_unwarned
def cancelled(url: str) -> None:
    asyncio.run(cancel_when_asked(_graph(_agent(url)).ainvoke(_INPUT, _CONFIG)))


@_unwarned
def two_agents(url: str) -> str:
    swarm: Any = import_module("pyagentspec.swarm").Swarm
    saver: Any = import_module("langgraph.checkpoint.memory").MemorySaver
    researcher, writer = _agent(url, tools=False), _agent(url, "writer", tools=False)
    team = swarm(name="team", first_agent=researcher, relationships=[(researcher, writer)])
    graph = _graph(team, checkpointer=saver())
    return str(graph.invoke(_INPUT, _CONFIG)["messages"][-1].content)
