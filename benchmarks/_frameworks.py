"""A framework that plays as many runs as a line of stdin requests, and answers with the cost of
one.

python -m benchmarks._frameworks FRAMEWORK WORK PLACE TRACER MODEL-URL RECEIVER-URL
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from importlib import import_module
from typing import Any

from tests.situations.drivers.crewai import keep_quiet

__all__ = ["FRAMEWORKS", "TOOL_CALLS", "WORK"]

TOOL_CALLS = 10
QUESTION = "What is OpenTelemetry, who maintains it, and what can be said of an agent with it?"
SYSTEM = "Search before you answer."
RESULT = "OpenTelemetry: traces, metrics and logs. " * 10

Play = Callable[[], Awaitable[object]]
"""One run. What outlives it, a client for example, was made before."""


def search_web(query: str) -> str:
    """Search the web."""
    return RESULT


async def _openai(url: str, tools: bool, stack: AsyncExitStack) -> Play:
    client: Any = import_module("openai").OpenAI(base_url=url, api_key="none", max_retries=0)
    requests = {"model": "gpt-5", "messages": [{"role": "user", "content": QUESTION}]}

    async def play() -> None:
        client.chat.completions.create(**requests)

    return play


async def _anthropic(url: str, tools: bool, stack: AsyncExitStack) -> Play:
    module: Any = import_module("anthropic")
    client: Any = module.Anthropic(base_url=url, api_key="none", max_retries=0)
    requests: dict[str, Any] = {
        "model": "claude",
        "max_tokens": 99,
        "messages": [{"role": "user", "content": QUESTION}],
    }

    async def play() -> None:
        client.messages.create(**requests)

    return play


async def _langchain(url: str, tools: bool, stack: AsyncExitStack) -> Play:
    model = import_module("langchain_openai").ChatOpenAI(
        base_url=url, api_key="none", model="gpt-5", max_retries=0
    )
    if not tools:
        return lambda: model.ainvoke(QUESTION)
    agent = import_module("langchain.agents").create_agent(
        model, tools=[search_web], system_prompt=SYSTEM, name="researcher"
    )
    return lambda: agent.ainvoke({"messages": [{"role": "user", "content": QUESTION}]})


async def _openai_agents(url: str, tools: bool, stack: AsyncExitStack) -> Play:
    sdk: Any = import_module("agents")
    client = import_module("openai").AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    agent = sdk.Agent(
        name="researcher",
        instructions=SYSTEM,
        model=sdk.OpenAIChatCompletionsModel("gpt-5", client),
        tools=[sdk.function_tool(search_web)] if tools else [],
    )
    return lambda: sdk.Runner.run(agent, QUESTION)


async def _pydantic_ai(url: str, tools: bool, stack: AsyncExitStack) -> Play:
    client = import_module("openai").AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    provider = import_module("pydantic_ai.providers.openai").OpenAIProvider(openai_client=client)
    model = import_module("pydantic_ai.models.openai").OpenAIChatModel("gpt-5", provider=provider)
    agent = import_module("pydantic_ai").Agent(
        model, name="researcher", instructions=SYSTEM, tools=[search_web] if tools else []
    )
    return lambda: agent.run(QUESTION)


async def _crewai(url: str, tools: bool, stack: AsyncExitStack) -> Play:
    keep_quiet()
    crewai: Any = import_module("crewai")
    tool = import_module("crewai.tools").tool
    agent = crewai.Agent(
        role="researcher",
        goal=SYSTEM,
        backstory="You know the web.",
        llm=crewai.LLM(model="openai/gpt-5", base_url=url, api_key="none", max_retries=0),
        tools=[tool("search_web")(search_web)] if tools else [],
    )
    task = crewai.Task(description=QUESTION, expected_output="An answer.", agent=agent)

    # In an event loop it would return a coroutine.
    return lambda: asyncio.to_thread(crewai.Crew(agents=[agent], tasks=[task]).kickoff)


async def _mcp(url: str, tools: bool, stack: AsyncExitStack) -> Play:
    server = import_module("mcp.server.mcpserver").MCPServer("web")
    server.tool()(search_web)
    client = await stack.enter_async_context(import_module("mcp.client.client").Client(server))

    async def play() -> None:
        for _ in range(TOOL_CALLS):
            await client.call_tool("search_web", {"query": "telemetry"})

    return play


async def _google_genai(url: str, tools: bool, stack: AsyncExitStack) -> Play:
    options = {"base_url": url.removesuffix("/v1")}
    genai: Any = import_module("google.genai")
    client = genai.Client(api_key="none", http_options=options)
    config = {"tools": [search_web] if tools else [], "system_instruction": SYSTEM}

    async def play() -> None:
        client.chats.create(model="gemini-2.5-flash", config=config).send_message(QUESTION)

    return play


async def _litellm(url: str, tools: bool, stack: AsyncExitStack) -> Play:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    litellm: Any = import_module("litellm")
    requests = {"model": "openai/gpt-5", "messages": [{"role": "user", "content": QUESTION}]}

    async def play() -> None:
        litellm.completion(**requests, api_base=url, api_key="none")

    return play


async def _bedrock(url: str, tools: bool, stack: AsyncExitStack) -> Play:
    client: Any = import_module("boto3").client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=url.removesuffix("/v1"),
        aws_access_key_id="none",
        aws_secret_access_key="none",
    )
    messages = [{"role": "user", "content": [{"text": QUESTION}]}]

    async def play() -> None:
        client.converse(modelId="anthropic.claude-sonnet-5-v1:0", messages=messages)

    return play


async def _llama_index(url: str, tools: bool, stack: AsyncExitStack) -> Play:
    llm = import_module("llama_index.llms.openai_like").OpenAILike(
        model="gpt-5", api_base=url, api_key="none", is_chat_model=True,
        is_function_calling_model=True, max_retries=0,
    )  # fmt: skip
    if not tools:
        return lambda: llm.acomplete(QUESTION)
    agent = import_module("llama_index.core.agent.workflow").FunctionAgent(
        name="researcher", system_prompt=SYSTEM, tools=[search_web], llm=llm, streaming=False
    )

    async def play() -> None:
        await agent.run(QUESTION)

    return play


FRAMEWORKS = {
    "openai": _openai,
    "anthropic": _anthropic,
    "langchain": _langchain,
    "openai_agents": _openai_agents,
    "pydantic_ai": _pydantic_ai,
    "crewai": _crewai,
    "mcp": _mcp,
    "google_genai": _google_genai,
    "litellm": _litellm,
    "bedrock": _bedrock,
    "llama_index": _llama_index,
}
"""Set-up of each framework: for one model call, or a run in which a model calls tools."""

_CLIENTS = ("openai", "anthropic", "litellm", "bedrock")
WORK = {
    name: ("model call",) if name in _CLIENTS else ("model call", "tools") for name in FRAMEWORKS
} | {"mcp": ("tools",)}
"""Workloads of each framework: a client library calls no tools, and MCP calls no model."""


def _switch_on(framework: str, place: str, tracer: str, receiver: str) -> Callable[[], object]:
    """Switch a tracer on; return its flush function."""
    if tracer == "none":
        return lambda: None
    if tracer == "ours" and place == "default":
        import agentool_otel

        agentool_otel.instrument()
        return agentool_otel.flush
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

    from benchmarks._workload import Drop
    from tests.situations.tracers import switch_of

    exporter: SpanExporter = Drop()
    if place == "default":
        otlp: Any = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        exporter = otlp.OTLPSpanExporter(f"{receiver}/v1/traces")
    provider = TracerProvider(shutdown_on_exit=False)
    if tracer == "ours":
        _attach(provider)
    elif framework == "mcp":  # its own spans go to the global provider
        trace.set_tracer_provider(provider)
    else:
        switch_of(framework, tracer)(provider)
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=65_536))
    return provider.force_flush


def _attach(provider: Any) -> None:
    """Attach every instrumentor to a provider that is not the global one, as the others are."""
    from agentool_otel.content.policy import Policy
    from agentool_otel.tracing.setup.frameworks import attach, instrumentors
    from agentool_otel.tracing.spans.settings import settings

    settings.configure(provider=provider, policy=Policy(capture=True))
    settings.enabled = True
    attach(instrumentors(), threads=True)


async def main(
    answers: int, framework: str, work: str, place: str, tracer: str, url: str, receiver: str
) -> None:
    flush = _switch_on(framework, place, tracer, receiver)
    async with AsyncExitStack() as stack:
        play = await FRAMEWORKS[framework](url, work == "tools", stack)
        for line in sys.stdin:
            gc.collect()
            start = time.process_time()
            for _ in range(int(line)):
                await play()
            flush()
            answer = json.dumps((time.process_time() - start) / int(line) * 1e6)
            os.write(answers, f"{answer}\n".encode())


if __name__ == "__main__":
    stdout = os.dup(1)
    os.dup2(2, 1)  # frameworks print
    asyncio.run(main(stdout, *sys.argv[1:]))
