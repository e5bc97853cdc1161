"""The real Agent Development Kit against the loopback model."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Coroutine, Iterator
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.testing.turns import ToolCall, Turn
from agentool_otel.tracing.spans import settings as containment
from agentool_otel.tracing.spans.settings import settings
from tests.situations.conftest import Stage, stages
from tests.situations.on_stage import OnStage

SEARCH = Turn(
    tool_calls=(ToolCall("search_web", {"query": "OTel"}, id="call-1"),),
    input_tokens=40,
    output_tokens=12,
)
DONE = Turn(text="Done.", input_tokens=60, output_tokens=9)


def search_web(query: str) -> str:
    """Search the web."""
    return f"found {query}"


class Scene(OnStage):
    """Agents and models of one test, and their recorded spans."""

    def __init__(self, stage: Stage, model: LoopbackModel):
        self.stage = stage
        self.push = model.push
        self.requests, self.rules = model.requests, model.rules
        self.url = model.root_url

    def llm(self) -> Any:
        """Return Gemini at the server; ADK 1 takes an address from the environment alone."""
        client = import_module("google.genai").Client(
            api_key="none", http_options={"base_url": self.url}
        )
        model = import_module("google.adk.models.google_llm").Gemini(model="gemini-2.5-flash")
        model.__dict__["api_client"] = client
        return model

    def agent(self, *tools: Any, name: str = "researcher", **options: Any) -> Any:
        chosen = {"description": "Searches.", "instruction": "Search.", "model": self.llm()}
        return agents().LlmAgent(**{"name": name, "tools": list(tools), **chosen, **options})

    def runner(self, agent: Any, **options: Any) -> Any:
        return import_module("google.adk.runners").InMemoryRunner(
            agent, app_name="search", **options
        )

    def run(self, agent: Any, prompt: str = "What?", **options: Any) -> list[Any]:
        """Return the events of one run in a session of its own."""
        return list(wait(self.converse(self.runner(agent), prompt, **options)))

    async def converse(
        self, runner: Any, *messages: Any, session_id: str = "thread-1", **options: Any
    ) -> list[Any]:
        """Return the events of the last of several runs in one session."""
        events: list[Any] = []
        await runner.session_service.create_session(
            app_name="search", user_id="alice", session_id=session_id
        )
        for message in messages:
            events = [
                event
                async for event in runner.run_async(
                    user_id="alice",
                    session_id=session_id,
                    new_message=content(message) if isinstance(message, str) else message,
                    **options,
                )
            ]
        return events


def agents() -> Any:
    return import_module("google.adk.agents")


def types() -> Any:
    return import_module("google.genai.types")


def content(text: str) -> Any:
    return types().Content(role="user", parts=[types().Part(text=text)])


def run_config(**options: Any) -> Any:
    return import_module("google.adk.agents.run_config").RunConfig(**options)


def wait(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


@pytest.fixture(scope="session")
def _stage() -> Iterator[Stage]:
    pytest.importorskip("google.adk")
    pytest.importorskip("opentelemetry.sdk")
    with stages() as stage:
        yield stage


@pytest.fixture
def scene(_stage: Stage, caplog: pytest.LogCaptureFixture) -> Iterator[Scene]:
    """Everything attached. ADK may swallow an exception of ours, so they are looked for in the
    log."""
    _stage.set()
    settings.strict = False
    containment._reported.clear()
    with warnings.catch_warnings(), LoopbackModel() as model, caplog.at_level(logging.WARNING):
        warnings.simplefilter("ignore")
        yield Scene(_stage, model)
    faults = [item.getMessage() for item in caplog.records if "agentool_otel" in item.getMessage()]
    assert faults == []
