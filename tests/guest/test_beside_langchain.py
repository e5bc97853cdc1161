"""Beside other tracers of LangChain, which hang on the same callbacks: each records its own.

They run in an environment of their own (`python -m tests.frameworks beside-langchain`).
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.guest.tracers import THEIR_PROVIDER, Answer, program

pytest.importorskip("langchain")
pytest.importorskip("langchain_openai")

TRACERS = {
    "openinference": "openinference.instrumentation.langchain",
    "openllmetry": "opentelemetry.instrumentation.langchain",
}
OURS = "import agentool_otel\nagentool_otel.instrument()\n"
OUR_SPANS = ["invoke_agent weather", "chat gpt-5", "chat gpt-5", "execute_tool get_weather"]
_ASK = """
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

@tool
def get_weather(city: str) -> str:
    "The weather in a city."
    return f"18 degrees in {city}"

model = ChatOpenAI(model="gpt-5", base_url=MODEL, api_key="none", max_retries=0)
agent = create_agent(model, [get_weather], name="weather")
def ask():
    question = {"messages": [("user", "What is the weather in Paris?")]}
    return [message.text for message in agent.invoke(question)["messages"]]
"""


def on(name: str) -> str:
    return (
        f"{THEIR_PROVIDER}from {TRACERS[name]} import LangchainInstrumentor as Their\n"
        if name == "openllmetry"
        else f"{THEIR_PROVIDER}from {TRACERS[name]} import LangChainInstrumentor as Their\n"
    ) + "Their().instrument(tracer_provider=theirs)\n"


@cache
def alone(name: str) -> Answer:
    """The other one without us, two runs."""
    with TemporaryDirectory() as folder:
        return program(Path(folder), f"{on(name)}{_ASK}said = [ask(), ask()]\ntheirs.force_flush()")


@cache
def together(name: str, ours_first: bool) -> Answer:
    """Both on, one run; ours off, one more; so theirs is on for two."""
    order = OURS + on(name) if ours_first else on(name) + OURS
    life = "said = ask()\nagentool_otel.uninstrument()\nsaid = [said, ask()]\ntheirs.force_flush()"
    with TemporaryDirectory() as folder:
        return program(Path(folder), f"{order}{_ASK}{life}")


@pytest.fixture(params=sorted(TRACERS))
def name(request: pytest.FixtureRequest) -> str:
    try:
        spec = importlib.util.find_spec(TRACERS[request.param])
    except ModuleNotFoundError:
        spec = None
    if spec is None:
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)


@pytest.fixture(params=[True, False], ids=["ours first", "theirs first"])
def ours_first(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_the_user_gets_the_same_answers(name: str, ours_first: bool) -> None:
    assert together(name, ours_first).said == alone(name).said


def test_no_foreign_span_is_lost_or_duplicated(name: str, ours_first: bool) -> None:
    expected = alone(name).theirs()
    assert expected
    assert together(name, ours_first).theirs() == expected


def test_ours_are_recorded_once_until_uninstrument(name: str, ours_first: bool) -> None:
    assert sorted(together(name, ours_first).recorded) == sorted(OUR_SPANS)


def test_nothing_is_logged(name: str, ours_first: bool) -> None:
    assert "Traceback" not in together(name, ours_first).stderr
