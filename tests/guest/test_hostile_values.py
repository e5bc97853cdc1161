"""Whatever a user passes, their program runs as it does without us.

Every value of the corpus goes through every public entry point: the result is the same object, no
method of it was called, nothing of it was used up or kept, and a span has what can be read safely.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import Any

import pytest

import agentool_otel
from agentool_otel.content.policy import Policy
from agentool_otel.tracing.spans.settings import settings
from tests.guest.hostile import CORPUS, TOUCHED

Use = Callable[[Any], Any]
"""Something that is given a value and gives it back."""


def _tool(value: Any) -> Any:
    @agentool_otel.tool
    def give(value: Any) -> Any:
        return value

    return give(value)


def _tool_in_a_run(value: Any) -> Any:
    with agentool_otel.run("r"):
        return _tool(value)


def _async_tool(value: Any) -> Any:
    @agentool_otel.tool
    async def give(value: Any) -> Any:
        return value

    return _awaited(lambda: give(value))


def _generator_tool(value: Any) -> Any:
    @agentool_otel.tool
    def give(value: Any) -> Generator[Any, Any, None]:
        yield value

    [argument] = give(value)
    return argument


def _async_generator_tool(value: Any) -> Any:
    @agentool_otel.tool
    async def give(value: Any) -> AsyncGenerator[Any, None]:
        yield value

    async def first() -> Any:
        [argument] = [item async for item in give(value)]
        return argument

    return _awaited(first)


def _awaited(make: Callable[[], Awaitable[Any]]) -> Any:
    """Run a coroutine; its result stays out of the task, which asyncio.run shows (CPython 3.11)."""
    results: list[Any] = []

    async def keep() -> None:
        results.append(await make())

    asyncio.run(keep())
    return results[0]


def _many_arguments(value: Any) -> Any:
    @agentool_otel.tool
    def give(*values: Any, **more: Any) -> Any:
        return more["value"]

    return give(value, value, value=value)


def _agent(value: Any) -> Any:
    @agentool_otel.agent
    def give(value: Any) -> Any:
        return value

    return give(value)


def _session_id(value: Any) -> Any:
    @agentool_otel.agent
    def give(session_id: Any) -> Any:
        return session_id

    return give(value)


def _step(kind: Any) -> Use:
    def use(value: Any) -> Any:
        @agentool_otel.step(kind)
        def give(value: Any, message: Any = None, key: Any = None) -> Any:
            return value

        with agentool_otel.run("r"):
            return give(value, value, value)

    return use


def _run(report: Callable[[Any, Any], Any]) -> Use:
    def use(value: Any) -> Any:
        with agentool_otel.run("r") as run:
            report(run, value)
        return value

    return use


def _input(value: Any) -> Any:
    with agentool_otel.run("r", input=value):
        return value


def _redacted(value: Any) -> Any:
    settings.configure(policy=Policy(capture=True, redact=lambda name, text: text))
    return _tool(value)


ENTRY_POINTS: dict[str, Use] = {
    "tool": _tool,
    "tool in a run": _tool_in_a_run,
    "async tool": _async_tool,
    "generator tool": _generator_tool,
    "async generator tool": _async_generator_tool,
    "tool with any arguments": _many_arguments,
    "tool, redacted": _redacted,
    "agent": _agent,
    "session id": _session_id,
    "step reasoning": _step("reasoning"),
    "step handoff": _step("handoff"),
    "step memory_read": _step("memory_read"),
    "step memory_write": _step("memory_write"),
    "run input": _input,
    "run.output": _run(lambda run, value: setattr(run, "output", value)),
    "run.metadata": _run(lambda run, value: run.metadata.update(value=value)),
    "run.status": _run(lambda run, value: setattr(run, "status", value)),
    "run.reasoning": _run(lambda run, value: run.reasoning(value)),
    "run.tool_call": _run(lambda run, value: run.tool_call("t", value)),
    "run.tool_result": _run(lambda run, value: run.tool_result(run.tool_call("t"), value)),
    "run.handoff": _run(lambda run, value: run.handoff("b", value)),
    "run.memory_read": _run(lambda run, value: run.memory_read("q", value)),
    "run.memory_write": _run(lambda run, value: run.memory_write(value)),
}


@pytest.fixture(autouse=True)
def _nothing_touched() -> None:
    TOUCHED.clear()


@pytest.mark.parametrize("kind", CORPUS)
def test_a_tool_returns_the_same_object_without_calling_it(spans: Any, kind: str) -> None:
    value = CORPUS[kind]()
    getrefcount = sys.getrefcount(value)
    assert _tool(value) is value
    assert TOUCHED == []
    for name in ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result"):
        json.loads(spans.attributes()[name], parse_constant=pytest.fail)
    gc.collect()
    assert sys.getrefcount(value) == getrefcount, "the value is kept alive"


@pytest.mark.thorough
@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_every_entry_point_takes_any_value(spans: Any, entry: str) -> None:
    for kind, make in CORPUS.items():
        value = make()
        assert ENTRY_POINTS[entry](value) is value, kind
        assert TOUCHED == [], kind
    assert len(spans.finished()) >= len(CORPUS)


@pytest.mark.parametrize("kind", CORPUS)
def test_an_exception_that_holds_the_value_arrives_as_it_was_raised(spans: Any, kind: str) -> None:
    error = Exception(1)
    vars(error)["held"] = value = CORPUS[kind]()

    @agentool_otel.tool
    def fail(value: Any) -> None:
        raise error

    with pytest.raises(Exception) as raised:
        fail(value)
    assert raised.value is error
    assert TOUCHED == []
    assert spans.attributes()["error.type"] == "Exception"
