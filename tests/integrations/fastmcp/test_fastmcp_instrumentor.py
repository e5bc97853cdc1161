"""FastMCP's clients and servers, which stand on those of the SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.tracing.capture.decorators import agent
from tests.integrations.mcp import served
from tests.records import records

pytest.importorskip("fastmcp")
ASKED = {"query": "OTLP"}


def server(name: str = "web") -> Any:
    fast_mcp = import_module("fastmcp").FastMCP(name)
    fast_mcp.add_middleware(import_module("fastmcp.server.middleware").Middleware())
    fast_mcp.tool(served.search_web)
    fast_mcp.tool(served.fails)
    return fast_mcp


def use(served_by: Any, work: Callable[[Any], Awaitable[Any]]) -> Any:
    async def used() -> Any:
        async with import_module("fastmcp").Client(served_by) as client:
            return (await asyncio.gather(work(client), return_exceptions=True))[0]

    return asyncio.run(used())


def test_a_call_has_one_span_on_either_side(spans: Any, instrumented: Any) -> None:
    use(server(), lambda client: client.call_tool("search_web", ASKED))
    inner, outer = spans.finished()
    assert (outer.kind.name, inner.kind.name) == ("CLIENT", "SERVER")
    assert inner.parent.span_id == outer.context.span_id


def test_a_tool_that_fails_is_an_exception_of_the_program_only(
    spans: Any, instrumented: Any
) -> None:
    error = use(server(), lambda client: client.call_tool("fails", ASKED))
    assert type(error).__name__ == "ToolError"
    assert [item.attributes["error.type"] for item in spans.finished()] == ["tool_error"] * 2


def test_a_mounted_server_is_part_of_the_request(spans: Any, instrumented: Any) -> None:
    outer = import_module("fastmcp").FastMCP("outer")
    outer.mount(server("inner"), namespace="inner")
    use(outer, lambda client: client.call_tool("inner_search_web", ASKED))
    assert len(spans.finished()) == 2


def test_a_server_that_is_called_directly_has_one_span(spans: Any, instrumented: Any) -> None:
    asyncio.run(server().call_tool("search_web", ASKED))
    attributes = spans.attributes()
    assert spans.only().kind.name == "SERVER"
    assert served.RESULT in attributes["gen_ai.tool.call.result"]


@pytest.mark.parametrize("mode", ["native", "propagation_only", "off"])
def test_beside_its_own_spans_a_rebuild_counts_each_call_once(
    spans: Any, native: None, instrumented: Any, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("fastmcp").settings, "telemetry_mode", mode)

    @agent
    async def clerk(client: Any) -> str:
        for _ in range(2):
            await client.call_tool("search_web", ASKED)
        return "done"

    use(server(), clerk)
    scopes = {item.instrumentation_scope.name for item in spans.finished()}
    assert ("fastmcp" in scopes) == (mode == "native")
    [result] = rebuild(records(spans.finished()))
    assert [step.type for step in result.trace.steps] == ["tool_call", "tool_result"] * 2
    spans.forget()


@pytest.mark.parametrize("attached", [True, False])
def test_under_a_provider_of_ours_its_own_spans_are_replaced(
    instrumented: Any, attached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from opentelemetry import trace

    from agentool_otel.content.policy import Policy
    from agentool_otel.testing.captured import AgentTraces
    from agentool_otel.tracing.export.in_memory import InMemory
    from agentool_otel.tracing.setup.own_provider import OwnProvider
    from agentool_otel.tracing.spans.settings import settings

    provider, memory = OwnProvider(shutdown_on_exit=False), InMemory()
    provider.add_span_processor(memory)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    tracer = provider.get_tracer("mcp-python-sdk")
    monkeypatch.setattr(import_module("mcp.shared._otel"), "_tracer", tracer)
    settings.reset()
    settings.configure(provider=provider, policy=Policy(capture=True))
    for each in instrumented:
        if not attached:
            each.uninstrument()
    use(server(), lambda client: client.call_tool("search_web", ASKED))
    scopes = {span.scope for span in AgentTraces(memory).spans()}
    settings.reset()
    if attached:
        assert scopes == {"agentool_otel.instrumentation.mcp"}
    else:
        assert scopes == {"fastmcp"} or scopes == {"fastmcp", "mcp-python-sdk"}
