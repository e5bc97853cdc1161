"""CrewAI: a crew of one agent and one task; the second agent is a coworker that work is delegated
to."""

from __future__ import annotations

import asyncio
import functools
import os
import tempfile
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from agentool_otel.testing.turns import Turn
from tests.situations.situations import (
    QUESTION,
    RESULT,
    SYSTEM,
    ToolFailed,
    cancel_when_asked,
    handing_over,
)

NEEDS = ("crewai",)
DISTRIBUTIONS = ("crewai",)
IMPOSSIBLE: dict[str, str] = {}
TRACERS = {
    "openinference": "openinference.instrumentation.crewai:CrewAIInstrumentor",
    "openllmetry": "opentelemetry.instrumentation.crewai:CrewAIInstrumentor",
}
TURNS = {
    "two_agents": (
        *handing_over(
            "delegate_work_to_coworker", task=QUESTION, context="Nothing yet.", coworker="writer"
        ),
        handing_over("")[-1],
    ),
    # The crew is cancelled at once, but the thread that waits for the model is not.
    "cancelled": (Turn(text="Too late.", delay_s=1.0),),
}


def keep_quiet() -> None:
    """Send nothing home and ask nobody; keep what a crew stores out of the working directory.

    The folder is of one version, because others cannot read it.
    """
    name = f"agentool-otel-tests-{version('crewai')}"
    os.environ.update(
        CREWAI_DISABLE_TELEMETRY="true",
        CREWAI_TRACING_ENABLED="false",
        CREWAI_TESTING="true",
        CREWAI_STORAGE_DIR=str(Path(tempfile.gettempdir(), name)),
    )


T = TypeVar("T")


def _unwarned(play: Callable[[str], T]) -> Callable[[str], T]:
    """Play a situation where warnings are errors: CrewAI warns about its own code."""

    @functools.wraps(play)
    def played(url: str) -> T:
        keep_quiet()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return play(url)

    return played


def _agent(url: str, role: str = "researcher", tools: Any = (), **options: Any) -> Any:
    crewai: Any = import_module("crewai")

    streams = options.pop("stream", False)
    return crewai.Agent(
        role=role,
        goal=SYSTEM,
        backstory="You know the web.",
        llm=crewai.LLM(
            model="openai/gpt-5", base_url=url, api_key="none", stream=streams, max_retries=0
        ),
        tools=list(tools),
        max_retry_limit=0,
        **options,
    )


def _search(fails: bool = False) -> Any:
    tool: Any = import_module("crewai.tools").tool

    def search_web(query: str) -> str:
        """Search the web."""
        if fails:
            raise ToolFailed("no network")
        return RESULT

    return tool("search_web")(search_web)


def _crew(agent: Any, *others: Any, **options: Any) -> Any:
    crewai: Any = import_module("crewai")

    task = crewai.Task(description=QUESTION, expected_output="An answer.", agent=agent)
    return crewai.Crew(agents=[agent, *others], tasks=[task], **options)


@_unwarned
def plain(url: str) -> str:
    return str(_crew(_agent(url, tools=[_search()])).kickoff().raw)


parallel_tools = plain
model_error = plain


@_unwarned
def asynchronous(url: str) -> str:
    async def run() -> str:
        return str((await _crew(_agent(url, tools=[_search()])).akickoff()).raw)

    return asyncio.run(run())


@_unwarned
def stream(url: str) -> list[str]:
    crew = _crew(_agent(url, tools=[_search()], stream=True), stream=True)
    return [str(item.content) for item in crew.kickoff()]


@_unwarned
def tool_error(url: str) -> str:
    return str(_crew(_agent(url, tools=[_search(fails=True)])).kickoff().raw)


@_unwarned
def cancelled(url: str) -> None:
    crew = _crew(_agent(url, tools=[_search()]))
    asyncio.run(cancel_when_asked(crew.akickoff()))


@_unwarned
def two_agents(url: str) -> str:
    researcher = _agent(url, allow_delegation=True)
    writer = _agent(url, role="writer")
    return str(_crew(researcher, writer).kickoff().raw)
