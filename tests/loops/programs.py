"""Programs without a framework: a loop that calls a model and executes the tools it requests.

Each program combines a client library, a kind of tool and a way of running several conversations.
The argument of the tool is `item` and the number of the conversation; in the programs whose
requests are alike it is `item 0` in all of them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any, NamedTuple

from opentelemetry.trace import SpanKind
from pydantic import BaseModel

import agentool_otel
from agentool_otel.testing.loopback_model import LoopbackModel, Request, ToolCall, Turn
from agentool_otel.tracing.spans.settings import settings

ERROR = "no such page"
NAME = "search"
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}


class Asked(NamedTuple):
    """A tool call that a model requests."""

    id: str
    arguments: dict[str, Any]


# ------------------------------------------------------------------------------------- the model


def answers(model: LoopbackModel, times: int, alike: bool) -> None:
    """Let a model request the tool of each conversation, then answer.

    Args:
        model: that the clients ask.
        times: how often one answer requests the same call.
        alike: whether all conversations request the same.
    """

    @model.rule
    def _(request: Request) -> Turn:
        number = _number(request.messages[0])
        if request.after_tool:
            return Turn(text=f"answer {number}")
        wanted = ToolCall(NAME, {"query": f"item {0 if alike else number}"})
        return Turn(tool_calls=(wanted,) * times)


def _number(message: dict[str, Any]) -> str:
    content = message["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    return str(text).rsplit(maxsplit=1)[-1]


# ------------------------------------------------------------------------------------ the clients


class OpenAI:
    """A conversation with OpenAI's chat completions."""

    def __init__(self, model: LoopbackModel, number: int):
        self.messages: list[Any] = [{"role": "user", "content": f"conversation {number}"}]
        self._url = model.base_url

    def _request(self) -> dict[str, Any]:
        function = {"name": NAME, "parameters": SCHEMA}
        tools = [{"type": "function", "function": function}]
        return {"model": "m", "messages": self.messages, "tools": tools}

    def _read(self, response: Any) -> list[Asked]:
        message = response.choices[0].message
        self.messages.append(message)
        calls = message.tool_calls or ()
        return [Asked(call.id, json.loads(call.function.arguments)) for call in calls]

    def ask(self) -> list[Asked]:
        """Call the model; return the tool calls that it requests, none with its answer."""
        with import_module("openai").OpenAI(base_url=self._url, api_key="none") as client:
            return self._read(client.chat.completions.create(**self._request()))

    async def ask_async(self) -> list[Asked]:
        """Call the model with the asynchronous client."""
        async_open_ai = import_module("openai").AsyncOpenAI(base_url=self._url, api_key="none")
        async with async_open_ai as client:
            return self._read(await client.chat.completions.create(**self._request()))

    def take(self, results: list[tuple[str, str]]) -> None:
        """Add the results of tools: the id and the text of each."""
        self.messages += [
            {"role": "tool", "tool_call_id": call_id, "content": text} for call_id, text in results
        ]


class Anthropic:
    """A conversation with Anthropic's messages."""

    def __init__(self, model: LoopbackModel, number: int):
        self.messages: list[Any] = [{"role": "user", "content": f"conversation {number}"}]
        self._url = model.root_url

    def _request(self) -> dict[str, Any]:
        tools = [{"name": NAME, "input_schema": SCHEMA}]
        return {"model": "m", "max_tokens": 99, "messages": self.messages, "tools": tools}

    def _read(self, response: Any) -> list[Asked]:
        self.messages.append({"role": "assistant", "content": response.content})
        return [Asked(item.id, item.input) for item in response.content if item.type == "tool_use"]

    def ask(self) -> list[Asked]:
        """Call the model; return the tool calls that it requests, none with its answer."""
        with import_module("anthropic").Anthropic(base_url=self._url, api_key="none") as client:
            return self._read(client.messages.create(**self._request()))

    async def ask_async(self) -> list[Asked]:
        """Call the model with the asynchronous client."""
        async_anthropic = import_module("anthropic").AsyncAnthropic(
            base_url=self._url, api_key="none"
        )
        async with async_anthropic as client:
            return self._read(await client.messages.create(**self._request()))

    def take(self, results: list[tuple[str, str]]) -> None:
        """Add the results of tools: the id and the text of each."""
        content = [
            {"type": "tool_result", "tool_use_id": call_id, "content": text}
            for call_id, text in results
        ]
        self.messages.append({"role": "user", "content": content})


CLIENTS: dict[str, Any] = {"openai": OpenAI, "anthropic": Anthropic}

# -------------------------------------------------------------------------------------- the tools


class Wanted(BaseModel):
    """The arguments of a tool as one object."""

    query: str


def _found(query: str) -> str:
    return f"page of {query}"


def plain(arguments: dict[str, Any]) -> str:
    @agentool_otel.tool(name=NAME)
    def search(query: str) -> str:
        return _found(query)

    return search(**arguments)


def failing(arguments: dict[str, Any]) -> str:
    @agentool_otel.tool(name=NAME)
    def search(query: str) -> str:
        raise ValueError(ERROR)

    return search(**arguments)


def defaults(arguments: dict[str, Any]) -> str:
    @agentool_otel.tool(name=NAME)
    def search(query: str, limit: int = 10, sort: str | None = None) -> str:
        return _found(query)

    return search(**arguments)


def added(arguments: dict[str, Any]) -> str:
    @agentool_otel.tool(name=NAME)
    def search(db: Any, query: str) -> str:
        return _found(query)

    return search({"host": "localhost"}, **arguments)


def one_dict(arguments: dict[str, Any]) -> str:
    @agentool_otel.tool(name=NAME)
    def search(arguments: dict[str, Any]) -> str:
        return _found(arguments["query"])

    return search(arguments)


def one_model(arguments: dict[str, Any]) -> str:
    @agentool_otel.tool(name=NAME)
    def search(wanted: Wanted) -> str:
        return _found(wanted.query)

    return search(Wanted(**arguments))


TOOLS: dict[str, Callable[[dict[str, Any]], str]] = {
    item.__name__: item for item in (plain, failing, defaults, added, one_dict, one_model)
}


def _attempt(tool: Callable[[dict[str, Any]], str], arguments: dict[str, Any]) -> str:
    try:
        return tool(arguments)
    except ValueError as error:
        return f"error: {error}"


@asynccontextmanager
async def mcp_tools(failing: bool) -> AsyncGenerator[Callable[[dict[str, Any]], Awaitable[str]]]:
    """Connect the client of the MCP SDK to a server in memory."""
    server = import_module("mcp.server.mcpserver").MCPServer("web")
    server.tool(name=NAME)(_fail if failing else _found)
    async with import_module("mcp.client.client").Client(server) as client:

        async def search(arguments: dict[str, Any]) -> str:
            result = await client.call_tool(NAME, arguments)
            text = str(result.content[0].text)
            return f"error: {text}" if result.is_error else text

        yield search


@asynccontextmanager
async def fastmcp_tools(
    failing: bool,
) -> AsyncGenerator[Callable[[dict[str, Any]], Awaitable[str]]]:
    """Connect FastMCP's client to a server in memory."""
    fastmcp = import_module("fastmcp")
    refused: Any = import_module("fastmcp.exceptions").ToolError
    server = fastmcp.FastMCP("web")
    server.tool(name=NAME)(_fail if failing else _found)
    async with fastmcp.Client(server) as client:

        async def search(arguments: dict[str, Any]) -> str:
            try:
                return str((await client.call_tool(NAME, arguments)).data)
            except refused as error:
                return f"error: {error}"

        yield search


def _fail(query: str) -> str:
    raise ValueError(ERROR)


SERVERS: dict[str, Any] = {"mcp": mcp_tools, "fastmcp": fastmcp_tools}

# ---------------------------------------------------------------------------------- conversations


def converse(conversation: Any, tool: Callable[[dict[str, Any]], str]) -> None:
    """Call a model and execute the tools that it requests until it answers."""
    while calls := conversation.ask():
        conversation.take([(call.id, _attempt(tool, call.arguments)) for call in calls])


async def converse_async(
    conversation: Any, tool: Callable[[dict[str, Any]], str | Awaitable[str]]
) -> None:
    """Do the same in an event loop, with tools that may be asynchronous."""
    while calls := await conversation.ask_async():
        results: list[tuple[str, str]] = []
        for call in calls:
            try:
                result = tool(call.arguments)
                text = result if isinstance(result, str) else await result
            except ValueError as error:
                text = f"error: {error}"
            results.append((call.id, text))
        conversation.take(results)


def sequential(conversations: list[Any], tool: Callable[[dict[str, Any]], str]) -> None:
    for each in conversations:
        converse(each, tool)


def threads(conversations: list[Any], tool: Callable[[dict[str, Any]], str]) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: converse(each, tool), conversations))


def tasks(conversations: list[Any], tool: Callable[[dict[str, Any]], str]) -> None:
    asyncio.run(_gather(conversations, tool))


def below_one_span(conversations: list[Any], tool: Callable[[dict[str, Any]], str]) -> None:
    with _server_span():
        asyncio.run(_gather(conversations, tool))


def _server_span() -> Any:
    """Return the span of a request to a web server, as a web framework makes it current."""
    assert settings.provider is not None
    tracer = settings.provider.get_tracer("web")
    return tracer.start_as_current_span("POST /", kind=SpanKind.SERVER)


async def _gather(
    conversations: list[Any], tool: Callable[[dict[str, Any]], str | Awaitable[str]]
) -> None:
    await asyncio.gather(*(converse_async(each, tool) for each in conversations))


WAYS: dict[str, Callable[[list[Any], Callable[[dict[str, Any]], str]], None]] = {
    item.__name__: item for item in (sequential, threads, tasks, below_one_span)
}


def with_servers(server: str, way: str, failing: bool, conversations: list[Any]) -> None:
    """Run conversations whose tools are those of an MCP server, each with a client of its own."""

    async def one(conversation: Any) -> None:
        async with SERVERS[server](failing) as tool:
            await converse_async(conversation, tool)

    async def all_at_once() -> None:
        await asyncio.gather(*map(one, conversations))

    if way == "sequential":
        for each in conversations:
            asyncio.run(one(each))
    elif way == "threads":
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda each: asyncio.run(one(each)), conversations))
    elif way == "tasks":
        asyncio.run(all_at_once())
    else:
        with _server_span():
            asyncio.run(all_at_once())
