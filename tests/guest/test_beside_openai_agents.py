"""Beside OpenInference's tracer of the Agents SDK, which takes the place of all other processors.

They run in an environment of their own (`python -m tests.frameworks beside-agents`).
"""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.guest.tracers import THEIR_PROVIDER, Answer, program

pytest.importorskip("agents.tracing")


def _installed() -> bool:
    try:
        spec = importlib.util.find_spec("openinference.instrumentation.openai_agents")
    except ModuleNotFoundError:
        return False
    return spec is not None


if not _installed():
    pytest.skip("openinference is not installed", allow_module_level=True)

OURS = "import agentool_otel\nagentool_otel.instrument()\n"
THEIRS = (
    f"{THEIR_PROVIDER}"
    "from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor as Their\n"
    "Their().instrument(tracer_provider=theirs)\n"
)
OUR_SPANS = ["invoke_agent weather", "chat gpt-5", "execute_tool get_weather", "chat gpt-5"]
_ASK = """
import asyncio
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI

@function_tool
def get_weather(city: str) -> str:
    "The weather in a city."
    return f"18 degrees in {city}"

def ask():
    client = AsyncOpenAI(base_url=MODEL, api_key="none", max_retries=0)
    model = OpenAIChatCompletionsModel("gpt-5", client)
    agent = Agent(name="weather", model=model, tools=[get_weather])
    return asyncio.run(Runner.run(agent, "What is the weather in Paris?")).final_output
"""


@cache
def alone() -> Answer:
    """The other one without us, two runs."""
    with TemporaryDirectory() as folder:
        return program(Path(folder), f"{THEIRS}{_ASK}said = [ask(), ask()]\ntheirs.force_flush()")


@cache
def together(ours_first: bool) -> Answer:
    """Both on, one run; ours off, one more; so theirs is on for two."""
    order = OURS + THEIRS if ours_first else THEIRS + OURS
    life = "said = ask()\nagentool_otel.uninstrument()\nsaid = [said, ask()]\ntheirs.force_flush()"
    with TemporaryDirectory() as folder:
        return program(Path(folder), f"{order}{_ASK}{life}")


@pytest.fixture(params=[True, False], ids=["ours first", "theirs first"])
def ours_first(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_the_user_gets_the_same_answers(ours_first: bool) -> None:
    assert together(ours_first).said == alone().said


def test_no_foreign_span_is_lost_or_duplicated(ours_first: bool) -> None:
    assert alone().theirs()
    assert together(ours_first).theirs() == alone().theirs()


def test_ours_are_recorded_once_until_uninstrument(ours_first: bool) -> None:
    assert sorted(together(ours_first).recorded) == sorted(OUR_SPANS)


def test_nothing_is_logged(ours_first: bool) -> None:
    assert "Traceback" not in together(ours_first).stderr


_ONE_PROVIDER = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from agentool_otel.tracing.export.in_memory import InMemory
from agentool_otel.testing.captured import AgentTraces
theirs, memory = TracerProvider(), InMemory()
theirs.add_span_processor(memory)
trace.set_tracer_provider(theirs)
"""
_REBUILT = """
ask()
spans = AgentTraces(memory).spans()
said = {
    "scopes": sorted({it.scope for it in spans}),
    "traces": [it.trace.to_dict() for it in agentool_otel.rebuild(spans)],
}
"""


def test_a_rebuild_of_both_together_counts_each_call_once(ours_first: bool) -> None:
    theirs = THEIRS.removeprefix(THEIR_PROVIDER)
    ours = OURS.replace("instrument()", "instrument(content=True)")
    order = ours + theirs if ours_first else theirs + ours
    with TemporaryDirectory() as folder:
        text: Any = program(Path(folder), f"{_ONE_PROVIDER}{order}{_ASK}{_REBUILT}").said
    assert any(scope.startswith("openinference") for scope in text["scopes"])
    (trace,) = text["traces"]
    steps = [step["type"] for step in trace["steps"]]
    assert steps == ["tool_call", "tool_result"], json.dumps(trace, indent=1)
