"""ADK's `Runner` on Gemini, in a session; two agents are an agent and its sub-agent."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Coroutine
from contextlib import aclosing
from importlib import import_module
from typing import Any

from tests.situations.situations import (
    QUESTION,
    SYSTEM,
    ToolFailed,
    cancel_when_asked,
    handing_over,
    search_web,
)

NEEDS = ("google.adk",)
DISTRIBUTIONS = ("google-adk",)
IMPOSSIBLE: dict[str, str] = {}
TRACERS = {
    "openinference": "openinference.instrumentation.google_adk:GoogleADKInstrumentor",
}
DOUBLED = {
    ("openinference", name): "its span of the agent is below one of a workflow, inside of our agent"
    for name in ("plain", "asynchronous", "stream", "parallel_tools", "tool_error")
}
TURNS = {"two_agents": handing_over("transfer_to_agent", agent_name="writer")}


def _model(url: str) -> Any:
    """Return Gemini at the server; ADK 1 takes the address from the environment alone."""
    gemini = import_module("google.adk.models.google_llm").Gemini
    root = url.removesuffix("/v1")
    client = import_module("google.genai").Client(api_key="none", http_options={"base_url": root})
    model = gemini(model="gemini-2.5-flash")
    model.__dict__["api_client"] = client
    return model


def _agent(model: Any, tool: Any = search_web, **options: Any) -> Any:
    return import_module("google.adk.agents").LlmAgent(
        name="researcher",
        description="Searches the web.",
        instruction=SYSTEM,
        tools=[tool],
        model=model,
        **options,
    )


async def _run(agent: Any, *, stream: bool = False) -> list[str]:
    """Return the texts that a run answers, piece by piece where they are streamed."""
    types = import_module("google.genai.types")
    modes = import_module("google.adk.agents.run_config")
    mode = modes.StreamingMode.SSE if stream else modes.StreamingMode.NONE
    runner = import_module("google.adk.runners").InMemoryRunner(agent, app_name="search")
    session = await runner.session_service.create_session(app_name="search", user_id="alice")
    events = runner.run_async(
        user_id="alice",
        session_id=session.id,
        new_message=types.Content(role="user", parts=[types.Part(text=QUESTION)]),
        run_config=modes.RunConfig(streaming_mode=mode),
    )
    texts: list[str] = []
    async with aclosing(events):
        async for event in events:
            for part in event.content.parts or () if event.content else ():
                if part.text:
                    texts.append(part.text)
    return texts


def _wait(work: Coroutine[Any, Any, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what ADK calls that is deprecated or experimental
        return asyncio.run(work)


def plain(url: str) -> Any:
    return _wait(_run(_agent(_model(url))))


asynchronous = plain
parallel_tools = plain
model_error = plain


def stream(url: str) -> Any:
    return _wait(_run(_agent(_model(url)), stream=True))


def tool_error(url: str) -> Any:
    def search_web(query: str) -> str:
        """Search the web."""
        raise ToolFailed("no network")

    def answer(tool: Any, args: Any, tool_context: Any, error: Exception) -> dict[str, str]:
        return {"error": str(error)}

    return _wait(_run(_agent(_model(url), search_web, on_tool_error_callback=answer)))


def cancelled(url: str) -> None:
    _wait(cancel_when_asked(_run(_agent(_model(url)))))


def two_agents(url: str) -> Any:
    model = _model(url)
    writer = import_module("google.adk.agents").LlmAgent(
        name="writer", description="Writes.", instruction="Write.", model=model
    )
    return _wait(_run(_agent(model, sub_agents=[writer])))
