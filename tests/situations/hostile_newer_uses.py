"""Programs as in `hostile_uses`, for google-genai, ADK, LiteLLM, Bedrock, LlamaIndex and Claude."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from tests.situations.hostile_tools import Use, giving, in_a_loop, raising, taking

__all__ = ["MODULES", "USES"]

MODULES = {
    "google_genai": ("google.genai",),
    "adk": ("google.adk",),
    "litellm": ("litellm",),
    "bedrock": ("boto3",),
    "llama_index": ("llama_index.core",),
    "claude_agent_sdk": ("claude_agent_sdk",),
}

# ------------------------------------------------------------------------------------ the clients


@lru_cache(maxsize=1)
def _gemini(url: str) -> Any:
    root = url.removesuffix("/v1")
    return import_module("google.genai").Client(api_key="none", http_options={"base_url": root})


def _generate(function: Callable[[Any], dict[str, Any]]) -> Use:
    def use(value: Any, url: str) -> Any:
        requests = {"model": "gemini-2.5-flash", "contents": "q", **function(value)}
        return _gemini(url).models.generate_content(**requests)

    return use


def _embed(value: Any, url: str) -> Any:
    return _gemini(url).models.embed_content(model="gemini-embedding-001", contents=value)


def _litellm(function: Callable[[Any], dict[str, Any]]) -> Use:
    def use(value: Any, _: str) -> Any:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # or it asks a server
        requests = {"model": "openai/m", "messages": _QUESTION, "mock_response": "ok"}
        return import_module("litellm").completion(**{**requests, **function(value)})

    return use


_QUESTION = [{"role": "user", "content": "q"}]


@lru_cache(maxsize=1)
def _runtime(url: str) -> Any:
    return import_module("boto3").client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=url.removesuffix("/v1"),
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=import_module("botocore.config").Config(retries={"total_max_attempts": 1}),
    )


def _converse(function: Callable[[Any], dict[str, Any]]) -> Use:
    def use(value: Any, url: str) -> Any:
        asked = [{"role": "user", "content": [{"text": "q"}]}]
        requests = {"modelId": "anthropic.m", "messages": asked, **function(value)}
        return len(_runtime(url).converse(**requests))

    return use


def _invoke_model(value: Any, url: str) -> Any:
    return len(_runtime(url).invoke_model(modelId="anthropic.m", body=value))


# ----------------------------------------------------------------------------------------- agents


def _adk(function: Callable[..., Any] | None = None, **callbacks: Any) -> Any:
    """Run an agent, whose model calls its tool and then answers."""
    agents: Any = import_module("google.adk.agents")
    types: Any = import_module("google.genai.types")
    response: Any = import_module("google.adk.models.llm_response").LlmResponse
    base: Any = import_module("google.adk.models.base_llm").BaseLlm
    asked: list[Any] = []

    class Scripted(base):  # type: ignore[misc]
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            asked.append(1)
            part = types.Part(text="ok")
            if len(asked) == 1 and function is not None:
                call = types.FunctionCall(id="1", name="lookup", args={"x": 1})
                part = types.Part(function_call=call)
            yield response(content=types.Content(role="model", parts=[part]))

    tools = [] if function is None else [function]
    agent = agents.LlmAgent(name="a", model=Scripted(model="m"), tools=tools, **callbacks)

    async def run() -> Any:
        runner = import_module("google.adk.runners").InMemoryRunner(agent, app_name="s")
        session = await runner.session_service.create_session(app_name="s", user_id="u")
        message = types.Content(role="user", parts=[types.Part(text="q")])
        names = {"user_id": "u", "session_id": session.id}
        return [item async for item in runner.run_async(**names, new_message=message)]

    return in_a_loop(run)


def _adk_callback(name: str) -> Use:
    def use(value: Any, _: str) -> Any:
        def callback(*args: Any, **kwargs: Any) -> Any:
            return value

        function = raising(1) if "error" in name else giving({"y": 1})
        return _adk(function, **{name: callback})

    return use


def _adk_state(value: Any, _: str) -> Any:
    def lookup(x: int, tool_context: Any) -> Any:
        """Look something up."""
        tool_context.state["k"] = value
        return {"y": 1}

    lookup.__annotations__ = {
        "x": int,
        "tool_context": import_module("google.adk.tools").ToolContext,
    }
    return _adk(lookup)


def _llama_tool(function: Callable[..., Any], value: Any = 1) -> Any:
    tool: Any = import_module("llama_index.core.tools").FunctionTool
    return type(tool.from_defaults(function, name="lookup", description="d").call(x=value))


def _llama_model(function: Callable[[Any, Any], Any]) -> Use:
    def use(value: Any, _: str) -> Any:
        model = import_module("llama_index.core.llms.mock").MockLLM()
        types: Any = import_module("llama_index.core.base.llms.types")
        return type(function(model, types.ChatMessage)(value))

    return use


def _llama_document(value: Any, _: str) -> Any:
    retrievers: Any = import_module("llama_index.core.base.base_retriever")
    schema: Any = import_module("llama_index.core.schema")

    class Retriever(retrievers.BaseRetriever):  # type: ignore[misc]
        def _retrieve(self, query: Any) -> Any:
            node = schema.TextNode(text="p", metadata={"m": value})
            return [schema.NodeWithScore(node=node, score=1.0)]

    return len(Retriever().retrieve("q"))


def _llama_workflow(value: Any, _: str, *, fails: bool = False) -> Any:
    workflow: Any = import_module("llama_index.core.workflow")
    start, stop = workflow.StartEvent, workflow.StopEvent

    async def only(self: Any, ev: Any) -> Any:
        if fails:
            raise RuntimeError(value)
        return stop(result=value)

    only.__annotations__ = {"ev": start, "return": stop}
    kind = type("Only", (workflow.Workflow,), {"only": workflow.step(only)})

    async def run() -> Any:
        return [await kind().run(given=value)]

    return in_a_loop(run)


def _claude_frames() -> list[dict[str, Any]]:
    session = {"session_id": "s", "parent_tool_use_id": None}
    use = {"type": "tool_use", "id": "t", "name": "Look", "input": {"q": 1}}
    answer = {"id": "m1", "model": "claude", "stop_reason": None, "content": [use]}
    found = {"type": "tool_result", "tool_use_id": "t", "content": "found"}
    counts = {"duration_ms": 1, "duration_api_ms": 1, "num_turns": 1}
    return [
        {"type": "system", "subtype": "init", "model": "claude", "tools": ["Look"], **session},
        {"type": "assistant", "message": answer, **session},
        {"type": "user", "message": {"role": "user", "content": [found]}, **session},
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": "ok",
            **counts,
            **session,
        },
    ]


def _scripted() -> Any:
    """Return a transport that answers any prompt: no CLI is started."""
    queue: asyncio.Queue[Any] = asyncio.Queue()

    class Scripted(import_module("claude_agent_sdk").Transport):  # type: ignore[misc]
        async def connect(self) -> None:
            pass

        async def write(self, data: str) -> None:
            frame = json.loads(data)
            if frame["type"] == "control_request":
                answer = {"subtype": "success", "request_id": frame["request_id"], "response": {}}
                queue.put_nowait({"type": "control_response", "response": answer})
                # Without waiting for a prompt: the SDK fails to send a hostile one, and goes on.
                for item in [*_claude_frames(), None]:
                    queue.put_nowait(item)

        async def read_messages(self) -> AsyncIterator[Any]:
            while (frame := await queue.get()) is not None:
                yield frame

        async def close(self) -> None:
            queue.put_nowait(None)

        def is_ready(self) -> bool:
            return True

        async def end_input(self) -> None:
            queue.put_nowait(None)

    return Scripted()


def _claude(prompt: Any = "q", **options: Any) -> Any:
    sdk: Any = import_module("claude_agent_sdk")

    async def run() -> Any:
        chosen = sdk.ClaudeAgentOptions(**options)
        messages = sdk.query(prompt=prompt, options=chosen, transport=_scripted())
        return [item async for item in messages]

    return in_a_loop(run)


def _claude_stream(value: Any, _: str) -> Any:
    async def prompts() -> AsyncIterator[Any]:
        yield {"type": "user", "message": {"role": "user", "content": value}}

    return _claude(prompts())


def _claude_tool(function: Callable[..., Any], value: Any = 1) -> Any:
    sdk: Any = import_module("claude_agent_sdk")

    async def work(arguments: Any) -> Any:
        return function(arguments["x"])

    tool = sdk.tool("lookup", "d", {"x": int})(work)
    return in_a_loop(lambda: tool.handler({"x": value}))


USES: dict[str, dict[str, Use]] = {
    "google_genai": {
        "contents": _generate(lambda item: {"contents": item}),
        "content": _generate(lambda item: {"contents": [item]}),
        "part": _generate(lambda item: {"contents": [{"role": "user", "parts": [item]}]}),
        "text": _generate(lambda item: {"contents": [{"parts": [{"text": item}]}]}),
        "config": _generate(lambda item: {"config": item}),
        "parameters": _generate(
            lambda item: {"config": {"stop_sequences": [item], "labels": {"k": item}}}
        ),
        "instructions": _generate(lambda item: {"config": {"system_instruction": item}}),
        "tools": _generate(lambda item: {"config": {"tools": [item]}}),
        "embeddings": _embed,
    },
    "litellm": {
        "content": _litellm(lambda item: {"messages": [{"role": "user", "content": item}]}),
        "message": _litellm(lambda item: {"messages": [item]}),
        "messages": _litellm(lambda item: {"messages": item}),
        "tools": _litellm(lambda item: {"tools": [item]}),
        "metadata": _litellm(lambda item: {"metadata": item}),
        "in metadata": _litellm(lambda item: {"metadata": {"session_id": item, "k": item}}),
        "parameters": _litellm(lambda item: {"stop": item, "user": item, "temperature": item}),
    },
    "bedrock": {
        "text": _converse(
            lambda item: {"messages": [{"role": "user", "content": [{"text": item}]}]}
        ),
        "block": _converse(lambda item: {"messages": [{"role": "user", "content": [item]}]}),
        "message": _converse(lambda item: {"messages": [item]}),
        "system": _converse(lambda item: {"system": item}),
        "parameters": _converse(
            lambda item: {"inferenceConfig": item, "requestMetadata": {"k": item}}
        ),
        "tools": _converse(lambda item: {"toolConfig": {"tools": [item]}}),
        "model": _converse(lambda item: {"modelId": item}),
        "body": _invoke_model,
    },
    "adk": {
        "tool result": lambda item, _: _adk(giving(item)),
        "tool results": lambda item, _: _adk(giving({"result": item})),
        "tool error": lambda item, _: _adk(raising(item)),
        "state": _adk_state,
        **{
            name.removesuffix("_callback").replace("_", " "): _adk_callback(name)
            for name in (
                *("before_agent_callback", "after_agent_callback", "before_model_callback"),
                *("after_model_callback", "before_tool_callback", "after_tool_callback"),
                "on_tool_error_callback",
            )
        },
    },
    "llama_index": {
        "tool result": lambda item, _: _llama_tool(giving(item)),
        "tool error": lambda item, _: _llama_tool(raising(item)),
        "tool argument": lambda item, _: _llama_tool(taking(), item),
        "message content": _llama_model(
            lambda model, message: lambda item: model.chat([message(role="user", content=item)])
        ),
        "message": _llama_model(lambda model, _: lambda item: model.chat([item])),
        "more of a message": _llama_model(
            lambda model, message: (
                lambda item: model.chat(
                    [message(role="user", content="q", additional_kwargs={"tool_calls": [item]})]
                )
            )
        ),
        "prompt": _llama_model(lambda model, _: model.complete),
        "document": _llama_document,
        "workflow": _llama_workflow,
        "workflow error": lambda item, url: _llama_workflow(item, url, fails=True),
    },
    "claude_agent_sdk": {
        "prompt": lambda item, _: _claude(item),
        "prompt of a stream": _claude_stream,
        "instructions": lambda item, _: _claude(system_prompt=item),
        "variables": lambda item, _: _claude(env={"k": item}),
        "agents": lambda item, _: _claude(agents={"b": item}),
        "tool result": lambda item, _: _claude_tool(lambda _: item),
        "tool argument": lambda item, _: _claude_tool(lambda _: {"content": []}, item),
    },
}
"""By framework and by the place that the value is in."""
