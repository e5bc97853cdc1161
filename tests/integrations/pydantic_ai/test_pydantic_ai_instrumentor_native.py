"""pydantic-ai's own instrumentation beside ours: each call once, whichever is on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from tests.integrations.pydantic_ai.scripted import (
    agent_on,
    asks,
    instrumented,
    pydantic_ai,
    scripted,
    steps,
)
from tests.records import records

__all__ = ["instrumented"]

pytest.importorskip("pydantic_ai")

TREE = ["invoke_agent clerk", "chat scripted", "execute_tool ask_writer", "chat scripted"]
TREE[3:3] = ["invoke_agent writer", "chat scripted"]


def run() -> str:
    writer = pydantic_ai().Agent(scripted("written"), name="writer")

    async def ask_writer(topic: str) -> str:
        """Ask the writer."""
        return str((await writer.run(topic)).output)

    agent = agent_on(scripted(asks("ask_writer", topic="OTel"), "done"), ask_writer)
    return str(asyncio.run(agent.run("x")).output)


@pytest.fixture
def switched_on() -> Iterator[Any]:
    """Switches pydantic-ai's own instrumentation on, for a tracer provider."""
    agent = pydantic_ai().Agent
    settings = pydantic_ai(".models.instrumented").InstrumentationSettings

    def switch_on(provider: Any, **options: Any) -> None:
        agent.instrument_all(settings(tracer_provider=provider, **options))

    yield switch_on
    agent.instrument_all(False)


@pytest.mark.filterwarnings("ignore:Instrumentation format versions")
@pytest.mark.parametrize("version", [2, 3, 5])
def test_a_rebuild_with_the_users_provider_counts_calls_once(
    spans: Any, instrumented: Any, switched_on: Any, version: int
) -> None:
    from agentool_otel.tracing.spans.settings import settings

    run()
    alone = steps(spans), tokens(spans)
    spans.forget()
    switched_on(settings.provider, version=version)
    run()
    theirs = [item for item in spans.finished() if item.instrumentation_scope.name == "pydantic-ai"]
    assert len(theirs) == len(TREE), "theirs are all written"
    assert len(spans.finished()) == 2 * len(TREE)
    assert (steps(spans), tokens(spans)) == alone
    spans.forget()


def tokens(spans: Any) -> list[Any]:
    traces = [item.trace.to_dict() for item in rebuild(records(spans.finished()))]
    counted = ("total_tokens", "tool_call_count", "step_count")
    return [[trace["metrics"].get(name) for name in counted] for trace in traces]


def test_our_provider_replaces_the_sdks_spans(instrumented: Any, switched_on: Any) -> None:
    from agentool_otel.content.policy import Policy
    from agentool_otel.testing.captured import AgentTraces
    from agentool_otel.tracing.export.in_memory import InMemory
    from agentool_otel.tracing.setup.own_provider import OwnProvider
    from agentool_otel.tracing.spans.settings import settings

    provider, memory = OwnProvider(shutdown_on_exit=False), InMemory()
    provider.add_span_processor(memory)
    settings.configure(provider=provider, policy=Policy(capture=True))
    switched_on(provider)
    run()
    recorded = AgentTraces(memory).spans()
    assert len(recorded) == len(TREE)
    assert {item.scope.partition(".")[0] for item in recorded} == {"agentool_otel"}
    span_ids = {item.span_id for item in recorded}
    assert sum(item.parent_id not in span_ids for item in recorded) == 1
    instrumented.uninstrument()
    memory.forget()
    run()
    assert {span.scope for span in AgentTraces(memory).spans()} == {"pydantic-ai"}


def test_uninstrument_leaves_no_trace(instrumented: Any) -> None:
    agent, stream = pydantic_ai().Agent, pydantic_ai(".models").StreamedResponse
    instrumented.uninstrument()
    for each in (vars(agent)["iter"], vars(stream).get("time_to_first_chunk")):
        assert not type(each).__module__.startswith("wrapt")
    assert all(item.state in ("detached", "absent") for item in instrumented.attached.values())


def test_the_sdks_spans_are_the_same_with_ours(
    spans: Any, instrumented: Any, switched_on: Any
) -> None:
    from agentool_otel.tracing.spans.settings import settings

    refused = pydantic_ai(".exceptions").ModelHTTPError(500, "one", "broken")
    fallback = pydantic_ai(".models.fallback").FallbackModel

    def theirs() -> list[tuple[str, list[str]]]:
        run()
        chain = fallback(scripted(refused, name="one"), scripted("fine", name="two"))
        asyncio.run(agent_on(chain).run("x"))
        finished = [
            item for item in spans.finished() if item.instrumentation_scope.name == "pydantic-ai"
        ]
        spans.forget()
        return [(item.name, sorted(item.attributes)) for item in finished]

    switched_on(settings.provider)
    with_ours = theirs()
    instrumented.uninstrument()
    assert theirs() == with_ours
