"""LlamaIndex's `FunctionAgent` on OpenAI's chat completions; two agents are an `AgentWorkflow`."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import Any

from tests.situations.situations import (
    QUESTION,
    SITUATIONS,
    SYSTEM,
    ToolFailed,
    cancel_when_asked,
    handing_over,
    search_web,
)

NEEDS = ("llama_index", "openai")
DISTRIBUTIONS = ("llama-index-core", "llama-index-workflows")
IMPOSSIBLE: dict[str, str] = {}
NO_USAGE = {
    "stream": "LlamaIndex does not ask the server for the usage of a stream",
}
TRACERS = {
    "openinference": "openinference.instrumentation.llama_index:LlamaIndexInstrumentor",
    "openllmetry": "opentelemetry.instrumentation.llamaindex:LlamaIndexInstrumentor",
}
_AGENT = "it calls the span of a run after the class of the agent, which is read as a second agent"
DOUBLED = {(tracer, situation): _AGENT for tracer in TRACERS for situation in SITUATIONS}
VARYING = {"parallel_tools"}
TURNS = {"two_agents": handing_over("handoff", to_agent="writer", reason="It has to be written.")}


def _model(url: str) -> Any:
    model = import_module("llama_index.llms.openai").OpenAI
    return model(model="gpt-5", api_base=url, api_key="none", max_retries=0)


def _agent(model: Any, tool: Any = search_web, *, streaming: bool = False) -> Any:
    agent = import_module("llama_index.core.agent.workflow").FunctionAgent
    return agent(
        name="researcher",
        description="Searches the web.",
        system_prompt=SYSTEM,
        tools=[tool],
        llm=model,
        streaming=streaming,
    )


def _run(url: str, work: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
    """Run a program with a model, whose client is closed in the event loop that it belongs to."""

    async def run() -> Any:
        model = _model(url)
        try:
            return await work(model)
        finally:
            await model._get_aclient().close()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pydantic's, of deprecated fields that LlamaIndex looks at
        return asyncio.run(run())


def plain(url: str) -> str:
    async def answer(model: Any) -> str:
        return str(await _agent(model).run(QUESTION))

    return str(_run(url, answer))


asynchronous = plain
parallel_tools = plain
model_error = plain


def stream(url: str) -> list[str]:
    async def answer(model: Any) -> list[str]:
        handler = _agent(model, streaming=True).run(QUESTION)
        pieces = [getattr(item, "delta", "") async for item in handler.stream_events()]
        return [*pieces, str(await handler)]

    return list(_run(url, answer))


def tool_error(url: str) -> str:
    def search_web(query: str) -> str:
        """Search the web."""
        raise ToolFailed("no network")

    async def answer(model: Any) -> str:
        return str(await _agent(model, search_web).run(QUESTION))

    return str(_run(url, answer))


def cancelled(url: str) -> None:
    async def wait(model: Any) -> Any:
        return await _agent(model).run(QUESTION)

    _run(url, lambda model: cancel_when_asked(wait(model)))


def two_agents(url: str) -> str:
    async def answer(model: Any) -> str:
        module = import_module("llama_index.core.agent.workflow")
        writer = module.FunctionAgent(
            name="writer",
            description="Writes.",
            system_prompt="Write.",
            llm=model,
            streaming=False,
        )
        team = module.AgentWorkflow(agents=[_agent(model), writer], root_agent="researcher")
        return str(await team.run(QUESTION))

    return str(_run(url, answer))
