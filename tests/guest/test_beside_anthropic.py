"""Beside other tracers of Anthropic's client: each records each call once, nobody is in the way.

They run in an environment of their own (`python -m tests.frameworks beside-agents`).
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agentool_otel.loading import load
from tests.guest.tracers import THEIR_PROVIDER, Answer, program

pytest.importorskip("anthropic")

OURS = "import agentool_otel\nagentool_otel.instrument()"
MODULES = {
    "openinference": "openinference.instrumentation.anthropic",
    "openllmetry": "opentelemetry.instrumentation.anthropic",
}
OF_THEIRS = "Their().instrument(tracer_provider=theirs)"
_CALLS = """
import os, anthropic
os.environ["ANTHROPIC_OPEN_TELEMETRY"] = "false"
@anthropic.beta_tool
def search_web(query: str) -> str:
    "Search the web."
    return "found " + query
def ask():
    url = MODEL.removesuffix("/v1")
    with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client:
        hello = {"model": "claude", "max_tokens": 9,
                 "messages": [{"role": "user", "content": "Hello"}]}
        whole = client.messages.create(**hello)
        assert type(whole).__name__ == "Message", type(whole)
        answers = [whole.content[0].text]
        with client.messages.stream(**hello) as stream:
            answers.append("".join(stream.text_stream))
        events = list(client.messages.create(**hello, stream=True))
        answers.append([it.type for it in events])
        runner = client.beta.messages.tool_runner(tools=[search_web], **hello)
        answers.append(runner.until_done().content[0].text)
        return answers
"""
CALLS = 5
"""Of the model, in one `ask`; the run of the tool runner and its tool are two more spans."""


def their(name: str) -> str:
    return f"{THEIR_PROVIDER}from {MODULES[name]} import AnthropicInstrumentor as Their\n"


@pytest.fixture(params=sorted(MODULES))
def name(request: pytest.FixtureRequest) -> str:
    try:
        spec = importlib.util.find_spec(MODULES[request.param])
    except ModuleNotFoundError:
        spec = None
    if spec is None:
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)


@pytest.fixture(params=[True, False], ids=["ours first", "theirs first"])
def ours_first(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@cache
def run(code: str) -> Answer:
    with TemporaryDirectory() as folder:
        return program(Path(folder), code, _CALLS)


def alone(name: str) -> Answer:
    return run(f"{their(name)}{OF_THEIRS}\nsaid = ask()\ntheirs.force_flush()")


def together(name: str, ours_first: bool) -> Answer:
    """Both on, once; ours off, once more."""
    order = [OURS, OF_THEIRS] if ours_first else [OF_THEIRS, OURS]
    life = "said = [ask()]\nagentool_otel.uninstrument()\nsaid.append(ask())\ntheirs.force_flush()"
    return run("\n".join([their(name), *order, life]))


def test_the_user_gets_the_same_answers(name: str, ours_first: bool) -> None:
    assert together(name, ours_first).said == [alone(name).said] * 2


def test_no_foreign_span_is_lost_or_duplicated(name: str, ours_first: bool) -> None:
    expected = alone(name).theirs()
    assert expected
    assert together(name, ours_first).theirs() == sorted(expected * 2)


def test_ours_are_recorded_once_until_uninstrument(name: str, ours_first: bool) -> None:
    recorded = together(name, ours_first).recorded
    assert recorded.count("chat claude") == CALLS
    assert len(recorded) == CALLS + 2


def test_a_call_in_one_recording_twice_counts_once(
    tmp_path: Path, name: str, ours_first: bool
) -> None:
    """Theirs go to the global provider, which is ours: both spans are in the recording."""
    on = f"from {MODULES[name]} import AnthropicInstrumentor as Their\nTheir().instrument()"
    counted: list[tuple[int, int]] = []
    for number, others in enumerate(([], [on])):
        order = [OURS, *others] if ours_first else [*others, OURS]
        folder = tmp_path / str(number)
        folder.mkdir()
        program(
            folder, "\n".join([*order, "with agentool_otel.run('clerk'): said = ask()"]), _CALLS
        )
        [trace] = load(folder / ".agentool")
        message = trace.to_dict()
        counted.append((message["metrics"]["total_tokens"], len(message["steps"])))
    [(tokens, steps), (tokens_of_both, steps_of_both)] = counted
    # OpenLLMetry adds the number in a stream's first event to the real one, and the inner span of
    # a call is the one that knows.
    assert tokens_of_both - tokens in ((0, 1) if name == "openllmetry" else (0,))
    assert steps == steps_of_both
