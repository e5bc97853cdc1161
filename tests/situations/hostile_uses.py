"""Small programs that hand a value of the user's to a framework, one for each place it can be in.

Each is a function of the value and of the model server's base URL. What it returns or raises is
the framework's business. Frameworks are imported inside: the module loads where they are not
installed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tests.situations import hostile_newer_uses
from tests.situations.hostile_tools import Use, giving, in_a_loop, raising, run_alone, taking

__all__ = ["USES", "Use", "missing"]

_MODULES = {
    "openai": ("openai",),
    "anthropic": ("anthropic",),
    "langchain": ("langchain_core",),
    "langgraph": ("langgraph",),
    "pydantic_ai": ("pydantic_ai", "openai"),
    "openai_agents": ("agents",),
    "mcp": ("mcp", "mcp.server.mcpserver"),
    "fastmcp": ("fastmcp",),
    "crewai": ("crewai",),
    "agent_spec": ("pyagentspec",),
    "amplifier": ("amplifier_core",),
    "agent_tool": (),
    **hostile_newer_uses.MODULES,
}


def missing(framework: str) -> str | None:
    """Return the module that a framework's programs lack here."""
    return next((module for module in _MODULES[framework] if not _is_there(module)), None)


def _is_there(module: str) -> bool:
    with suppress(ModuleNotFoundError):
        return find_spec(module) is not None
    return False


# ------------------------------------------------------------------------------------ the clients


def _openai(**parameters: Any) -> Callable[[Callable[[Any], dict[str, Any]]], Use]:
    def use_of(function: Callable[[Any], dict[str, Any]]) -> Use:
        def use(value: Any, url: str) -> Any:
            with import_module("openai").OpenAI(
                base_url=url, api_key="none", max_retries=0
            ) as client:
                return client.chat.completions.create(
                    model="m", **{**parameters, **function(value)}
                )

        return use

    return use_of


_QUESTION = [{"role": "user", "content": "q"}]
_chat = _openai(messages=_QUESTION)


def _responses(value: Any, url: str) -> Any:
    with import_module("openai").OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        return client.responses.create(model="m", input=value)


def _embeddings(value: Any, url: str) -> Any:
    with import_module("openai").OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        return client.embeddings.create(model="m", input=value)


def _messages(function: Callable[[Any], dict[str, Any]]) -> Use:
    def use(value: Any, url: str) -> Any:
        anthropic = import_module("anthropic")
        base = url.removesuffix("/v1")
        with anthropic.Anthropic(base_url=base, api_key="none", max_retries=0) as client:
            requests = {"model": "m", "max_tokens": 9, "messages": _QUESTION, **function(value)}
            return client.messages.create(**requests)

    return use


def _anthropic_tool(value: Any, url: str) -> Any:
    tool = import_module("anthropic").beta_tool(giving(value))
    return tool.call({"x": 1})


# ------------------------------------------------------------------------ langchain and langgraph


def _langchain_tool(function: Callable[..., Any], value: Any = 1) -> Any:
    tool: Any = import_module("langchain_core.tools").StructuredTool
    schema = {"type": "object", "properties": {"x": {}}}
    result = tool.from_function(function, name="t", description="d", args_schema=schema)
    return result.invoke({"x": value})


def _langchain_argument(value: Any, _: str) -> Any:
    def take(x: Any) -> int:
        return 1

    return _langchain_tool(take, value)


def _langchain_model(messages: Callable[[Any], Any]) -> Use:
    def use(value: Any, _: str) -> Any:
        fake: Any = import_module("langchain_core.language_models.fake_chat_models")
        return fake.FakeListChatModel(responses=["ok"]).invoke(messages(value))

    return use


def _langchain_document(value: Any, _: str) -> Any:
    retrievers: Any = import_module("langchain_core.retrievers")
    documents: Any = import_module("langchain_core.documents")

    class Retriever(retrievers.BaseRetriever):  # type: ignore[misc]
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            return [documents.Document(page_content="p", metadata={"m": value})]

    return Retriever().invoke("q")


def _graph(node: Callable[[Any], Any], value: Any, **config: Any) -> Any:
    graph: Any = import_module("langgraph.graph").StateGraph(dict)
    graph.add_node("n", node)
    graph.set_entry_point("n")
    graph.set_finish_point("n")
    return graph.compile().invoke(value, config or None)


def _graph_state(value: Any, _: str) -> Any:
    return _graph(lambda state: {"out": 1}, {"in": value})


def _graph_output(value: Any, _: str) -> Any:
    return _graph(lambda state: {"out": value}, {"in": 1})


def _graph_messages(value: Any, _: str) -> Any:
    return _graph(lambda state: {"messages": value}, {"messages": [value]})


def _graph_metadata(value: Any, _: str) -> Any:
    return _graph(lambda state: {"out": 1}, {"in": 1}, metadata={"user_id": value, "k": value})


def _graph_error(value: Any, _: str) -> Any:
    def fail(state: Any) -> Any:
        raise RuntimeError(value)

    return _graph(fail, {"in": 1})


def _store(value: Any, _: str) -> Any:
    store: Any = import_module("langgraph.store.memory").InMemoryStore()
    store.put(("a",), "k", {"v": value})
    return store.get(("a",), "k") is not None


# --------------------------------------------------------------------------- agents of frameworks


def _pydantic_ai(function: Callable[..., Any], *, output: Any = str, prompt: Any = "q") -> Any:
    ai: Any = import_module("pydantic_ai")
    model: Any = import_module("pydantic_ai.models.test").TestModel()
    return in_a_loop(lambda: ai.Agent(model, tools=[function], output_type=output).run(prompt))


def _pydantic_ai_deps(value: Any, _: str) -> Any:
    ai: Any = import_module("pydantic_ai")
    model: Any = import_module("pydantic_ai.models.test").TestModel()
    return in_a_loop(lambda: ai.Agent(model).run("q", deps=value))


def _openai_agents(function: Callable[..., Any]) -> Any:
    sdk: Any = import_module("agents")
    context: Any = import_module("agents.tool_context").ToolContext
    tool = sdk.function_tool(function)
    value = context(context=None, tool_name="lookup", tool_call_id="1", tool_arguments='{"x": 1}')

    async def call() -> Any:
        with sdk.trace("t"), sdk.function_span("lookup", input='{"x": 1}') as span:
            result = await tool.on_invoke_tool(value, '{"x": 1}')
            span.span_data.output = result
            return result

    return in_a_loop(call)


def _openai_agents_run(value: Any, url: str, **options: Any) -> Any:
    sdk: Any = import_module("agents")
    client: Any = import_module("openai").AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    model = sdk.OpenAIChatCompletionsModel("m", client)

    async def run() -> Any:
        async with client:
            return await sdk.Runner.run(sdk.Agent(name="a", model=model), value, **options)

    return in_a_loop(run)


def _openai_agents_context(value: Any, url: str) -> Any:
    return _openai_agents_run("q", url, context=value)


def _mcp(function: Callable[..., Any], value: Any = 1) -> Any:
    server: Any = import_module("mcp.server.mcpserver").MCPServer("s")
    server.tool()(function)

    async def call() -> Any:
        async with import_module("mcp.client.client").Client(server) as client:
            return await client.call_tool("lookup", {"x": value})

    return in_a_loop(call)


def _fastmcp(function: Callable[..., Any], value: Any = 1) -> Any:
    server: Any = import_module("fastmcp").FastMCP("s")
    server.tool(function)
    return in_a_loop(lambda: server.call_tool("lookup", {"x": value}))


def _crewai_event(name: str, **fields: Callable[[Any], Any]) -> Use:
    """A tool's event on the bus: the rest of a crew needs no value of the user's."""

    def use(value: Any, _: str) -> Any:
        from tests.situations.drivers.crewai import keep_quiet

        keep_quiet()
        events: Any = import_module("crewai.events")
        kinds: Any = import_module("crewai.events.types.tool_usage_events")
        common = {"tool_name": "t", "tool_args": {}, "agent_key": "k", "agent_role": "r"}
        start = kinds.ToolUsageStartedEvent(**common)
        end = getattr(kinds, name).model_construct(
            type={"ToolUsageErrorEvent": "tool_usage_error"}.get(name, "tool_usage_finished"),
            event_id="2",
            started_event_id=start.event_id,
            **common,
            **{field: of(value) for field, of in fields.items()},
        )
        bus: Any = events.crewai_event_bus
        bus.emit(None, event=start)
        bus.emit(None, event=end)
        bus.flush()  # its handlers run in threads
        return None

    return use


def _crewai_kickoff(value: Any, _: str) -> Any:
    from tests.situations.drivers.crewai import keep_quiet

    keep_quiet()
    flow: Any = import_module("crewai.flow.flow")

    class Only(flow.Flow):  # type: ignore[misc]
        @flow.start()  # type: ignore[untyped-decorator]
        def only(self) -> Any:
            return value

    return Only().kickoff() is value


def _agent_spec(result: Callable[[Any], Any], function: Callable[[Any], Any]) -> Use:
    def use(value: Any, _: str) -> Any:
        tracing: Any = import_module("pyagentspec.tracing")
        spans: Any = import_module("pyagentspec.tracing.spans")
        events: Any = import_module("pyagentspec.tracing.events")
        kinds: Any = import_module("pyagentspec.tools")
        tool = kinds.ServerTool(name="t", description="d", inputs=[], outputs=[])
        with tracing.trace.Trace(name="t"), spans.ToolExecutionSpan(name="t", tool=tool) as span:
            span.add_event(
                events.ToolExecutionRequest.model_construct(
                    request_id="1", tool=tool, inputs=function(value)
                )
            )
            span.add_event(
                events.ToolExecutionResponse.model_construct(
                    request_id="1", tool=tool, outputs=result(value)
                )
            )

    return use


def _amplifier(event: Callable[[Any], dict[str, Any]]) -> Use:
    def use(value: Any, _: str) -> Any:
        hook: Any = import_module("agentool_otel.integrations.amplifier.hook.session_hook")

        class Hooks:
            def __init__(self) -> None:
                self.handlers: list[tuple[str, Any]] = []

            def register(self, name: str, handle: Any, *_: Any) -> Any:
                self.handlers.append((name, handle))
                return lambda: None

        class Coordinator:
            session_id = "s"
            hooks = Hooks()

        session = hook.SessionHook(Coordinator())
        session.register(("tool:pre", "tool:post", "session:end"))

        async def send(name: str, data: dict[str, Any]) -> None:
            for entries, handle in Coordinator.hooks.handlers:
                if entries == name:
                    await handle(name, data)

        async def run() -> None:
            common = {"session_id": "s", "tool_name": "t", "tool_call_id": "1"}
            await send("tool:pre", {**common, "tool_input": {}, **event(value)})
            await send("tool:post", {**common, **event(value)})
            await send("session:end", {"session_id": "s"})

        run_alone(run())
        session.remove()

    return use


def _agent_tool(function: Callable[[Any], Any]) -> Use:
    def use(value: Any, _: str) -> Any:
        emitter = import_module("agentool_otel.integrations.agent_tool.emitter").AgentToolEmitter()
        emitter.record(function(value))
        emitter.flush()

    return use


def _block(value: Any) -> list[Any]:
    return [{"role": "user", "content": [{"type": "text", "text": value}, value]}]


_NO_ERROR: dict[str, Any] = {"failure": lambda _: None, "from_cache": lambda _: False}

USES: dict[str, dict[str, Use]] = {
    "openai": {
        "content": _chat(lambda item: {"messages": [{"role": "user", "content": item}]}),
        "block": _chat(lambda item: {"messages": _block(item)}),
        "message": _chat(lambda item: {"messages": [item]}),
        "messages": _chat(lambda item: {"messages": item}),
        "arguments": _chat(
            lambda item: {
                "messages": [
                    {
                        "role": "assistant",
                        "tool_calls": [{"id": item, "function": {"name": "f", "arguments": item}}],
                    },
                    {"role": "tool", "tool_call_id": "1", "content": item},
                ]
            }
        ),
        "tools": _chat(lambda item: {"tools": [item, {"type": "function", "function": item}]}),
        "parameters": _chat(
            lambda item: {"stop": item, "response_format": item, "temperature": item}
        ),
        "responses": _responses,
        "embeddings": _embeddings,
    },
    "anthropic": {
        "content": _messages(lambda item: {"messages": [{"role": "user", "content": item}]}),
        "block": _messages(lambda item: {"messages": _block(item)}),
        "message": _messages(lambda item: {"messages": [item]}),
        "system": _messages(lambda item: {"system": item}),
        "tools": _messages(lambda item: {"tools": [item]}),
        "tool result": _anthropic_tool,
    },
    "langchain": {
        "tool result": lambda item, _: _langchain_tool(giving(item)),
        "tool argument": _langchain_argument,
        "tool error": lambda item, _: _langchain_tool(raising(item)),
        "message content": _langchain_model(lambda item: [{"role": "user", "content": item}]),
        "message": _langchain_model(lambda item: [item]),
        "pair": _langchain_model(lambda item: [("user", item)]),
        "document": _langchain_document,
    },
    "langgraph": {
        "state": _graph_state,
        "output": _graph_output,
        "messages": _graph_messages,
        "metadata": _graph_metadata,
        "error": _graph_error,
        "store": _store,
    },
    "pydantic_ai": {
        "tool result": lambda item, _: _pydantic_ai(giving(item)),
        "tool error": lambda item, _: _pydantic_ai(raising(item)),
        "prompt": lambda item, _: _pydantic_ai(giving(1), prompt=item),
        "prompt block": lambda item, _: _pydantic_ai(giving(1), prompt=["q", item]),
        "dependencies": _pydantic_ai_deps,
    },
    "openai_agents": {
        "tool result": lambda item, _: _openai_agents(giving(item)),
        "tool error": lambda item, _: _openai_agents(raising(item)),
        "input": _openai_agents_run,
        "input item": lambda item, url: _openai_agents_run(
            [{"role": "user", "content": item}], url
        ),
        "context": _openai_agents_context,
    },
    "mcp": {
        "tool result": lambda item, _: _mcp(giving(item)),
        "tool error": lambda item, _: _mcp(raising(item)),
        "tool argument": lambda item, _: _mcp(taking(), item),
    },
    "fastmcp": {
        "tool result": lambda item, _: _fastmcp(giving(item)),
        "tool error": lambda item, _: _fastmcp(raising(item)),
        "tool argument": lambda item, _: _fastmcp(taking(), item),
    },
    "crewai": {
        "tool output": _crewai_event(
            "ToolUsageFinishedEvent", output=lambda item: item, **_NO_ERROR
        ),
        "tool error": _crewai_event("ToolUsageErrorEvent", error=lambda item: item),
        "flow result": _crewai_kickoff,
    },
    "agent_spec": {
        "tool output": _agent_spec(lambda item: {"o": item}, lambda item: {}),
        "tool outputs": _agent_spec(lambda item: item, lambda item: {}),
        "tool input": _agent_spec(lambda item: {}, lambda item: {"x": item}),
        "tool inputs": _agent_spec(lambda item: {}, lambda item: item),
    },
    "amplifier": {
        "tool input": _amplifier(lambda item: {"tool_input": {"x": item}}),
        "tool inputs": _amplifier(lambda item: {"tool_input": item}),
        "tool result": _amplifier(lambda item: {"result": {"success": True, "output": item}}),
        "label": _amplifier(lambda item: {"tool_name": item, "timestamp": item, "usage": item}),
    },
    "agent_tool": {
        "object": _agent_tool(lambda item: item),
        "input": _agent_tool(
            lambda item: {"invocation_id": "i", "tool_id": "t", "input": item, "state": "running"}
        ),
        "output": _agent_tool(
            lambda item: {"result_id": "r", "invocation_id": "i", "output": item}
        ),
        "id": _agent_tool(lambda item: {"invocation_id": item, "tool_id": item, "state": item}),
    },
    **hostile_newer_uses.USES,
}
"""By framework and by the place that the value is in."""
