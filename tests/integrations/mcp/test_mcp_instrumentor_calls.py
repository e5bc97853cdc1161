"""Calls between a client and a server of the MCP SDK in one process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.tracing.capture.decorators import agent, tool
from tests.integrations.mcp import served
from tests.records import records
from tests.situations.readable import readable

pytest.importorskip("mcp.client.session")
ASKED = {"query": "OTLP"}


def use(work: Callable[[Any], Awaitable[Any]], *tools: Any, **options: Any) -> Any:
    """Give a client of a server in memory to a coroutine function; return its result."""

    async def used() -> Any:
        async with served.in_memory(served.server(*tools), **options) as client:
            return (await asyncio.gather(work(client), return_exceptions=True))[0]

    return asyncio.run(used())


def by_kind(spans: Any) -> dict[str, dict[str, Any]]:
    """The attributes of a client's and a server's span."""
    items = {item.kind.name: item for item in spans.finished()}
    assert len(items) == len(spans.finished()), spans.tree()
    if len(items) == 2:
        assert items["SERVER"].parent.span_id == items["CLIENT"].context.span_id
    return {kind: dict(value.attributes or {}) for kind, value in items.items()}


def steps(spans: Any) -> list[str]:
    text = readable(records(spans.finished()))
    return text[text.index("trajectory of ") :].splitlines()[1:]


def test_a_call_has_a_span_on_either_side_in_one_trace(spans: Any, instrumented: Any) -> None:
    use(lambda client: client.call_tool("search_web", ASKED))
    kind = by_kind(spans)
    for attributes in kind.values():
        assert attributes["mcp.method.name"] == "tools/call"
        assert attributes["gen_ai.operation.name"] == "execute_tool"
        assert attributes["gen_ai.tool.name"] == "search_web"
        assert attributes["gen_ai.tool.type"] == "extension"
        assert attributes["gen_ai.tool.call.arguments"] == '{"query":"OTLP"}'
        assert served.RESULT in attributes["gen_ai.tool.call.result"]
    assert kind["SERVER"]["jsonrpc.request.id"]
    assert {item.name for item in spans.finished()} == {"tools/call search_web"}


def test_the_id_of_a_request_that_is_sent_is_on_both_sides(spans: Any, instrumented: Any) -> None:
    options = {"mode": "legacy"} if served.VERSION == 2 else {}
    use(lambda client: client.call_tool("search_web", ASKED), **options)
    kind = by_kind(spans)
    assert kind["CLIENT"]["jsonrpc.request.id"] == kind["SERVER"]["jsonrpc.request.id"]


def test_an_object_is_recorded_as_the_tool_returned_it(spans: Any, instrumented: Any) -> None:
    use(lambda client: client.call_tool("totals", ASKED))
    for attributes in by_kind(spans).values():
        assert attributes["gen_ai.tool.call.result"] == '{"result":2}'
        assert "agentool.tool.wrapped" not in attributes


def test_a_tool_that_fails_is_no_exception(spans: Any, instrumented: Any) -> None:
    result = use(lambda client: client.call_tool("fails", ASKED))
    assert (result.is_error if served.VERSION == 2 else result.isError) is True
    for attributes in by_kind(spans).values():
        assert attributes["error.type"] == "tool_error"
    for span in spans.finished():
        assert span.status.status_code.name == "ERROR"
        assert span.status.description == result.content[0].text


def test_a_tools_error_text_is_content(spans: Any, instrumented: Any) -> None:
    spans.without_content()
    use(lambda client: client.call_tool("fails", ASKED))
    assert [item.status.description for item in spans.finished()] == [None, None]
    assert "network" not in repr([(item.attributes, item.events) for item in spans.finished()])


def test_an_error_of_the_protocol_has_its_code(spans: Any, instrumented: Any) -> None:
    error = use(lambda client: client.call_tool("refuses", ASKED))
    if not hasattr(error, "error"):
        pytest.skip("this version makes a result of an error of the protocol")
    for attributes in by_kind(spans).values():
        assert attributes["error.type"] == str(error.error.code)
        assert attributes["rpc.response.status_code"] == str(error.error.code)


async def under_way(client: Any) -> asyncio.Task[Any]:
    """Return a call that its server is working on."""
    served.waiting.clear()
    task: asyncio.Task[Any] = asyncio.ensure_future(client.call_tool("waits", ASKED))
    while not served.waiting:
        await asyncio.sleep(0.01)
    return task


def test_a_cancelled_call_is_cancelled_on_either_side(spans: Any, instrumented: Any) -> None:
    async def cancel(client: Any) -> None:
        task = await under_way(client)
        task.cancel()
        await task

    assert isinstance(use(cancel), asyncio.CancelledError)
    for attributes in by_kind(spans).values():
        assert attributes["error.type"] in ("asyncio.exceptions.CancelledError", "cancelled")


def test_a_call_that_the_client_takes_back_ends_on_the_server(
    spans: Any, instrumented: Any
) -> None:
    if served.VERSION == 2:
        pytest.skip("mcp 2 takes a call back when it is cancelled, and raises in the server")
    types = import_module("mcp.types")

    async def take_back(client: Any) -> None:
        task = await under_way(client)
        params = types.CancelledNotificationParams(requestId=client._request_id - 1)
        notification = types.CancelledNotification(params=params)
        await client.send_notification(types.ClientNotification(notification))
        await task

    use(take_back)
    assert by_kind(spans)["SERVER"]["error.type"] == "cancelled"


def test_progress_reaches_the_client(spans: Any, instrumented: Any) -> None:
    module = "mcp.server.mcpserver" if served.VERSION == 2 else "mcp.server.fastmcp"
    context: Any = import_module(module).Context
    messages: list[float] = []

    async def works(query: str, ctx: Any) -> str:
        await ctx.report_progress(1, 2)
        return "done"

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        messages.append(progress)

    works.__annotations__["ctx"] = context
    use(lambda item: item.call_tool("works", ASKED, progress_callback=progressed), works)
    assert messages == [1.0]
    assert len(by_kind(spans)) == 2


def test_prompts_and_resources_have_spans_and_are_no_steps(spans: Any, instrumented: Any) -> None:
    async def read(client: Any) -> None:
        await client.list_tools()
        await client.get_prompt("greet", {"name": "Ada"})
        await client.read_resource("notes://all")

    use(read)
    names = sorted(item.name for item in spans.finished())
    assert names == [*(["prompts/get greet"] * 2), *(["resources/read"] * 2)]
    assert "trajectory" not in readable(records(spans.finished()))


def test_a_request_object_that_is_sent_is_a_call(spans: Any, instrumented: Any) -> None:
    types = import_module("mcp_types" if served.VERSION == 2 else "mcp.types")
    params = types.CallToolRequestParams(name="search_web", arguments=ASKED)
    request = types.CallToolRequest(method="tools/call", params=params)

    async def send(client: Any) -> Any:
        session = getattr(client, "session", client)
        sent = request if served.VERSION == 2 else types.ClientRequest(request)
        return await session.send_request(sent, types.CallToolResult)

    use(send)
    assert set(by_kind(spans)) == {"CLIENT", "SERVER"}
    assert request.params is params
    assert not params.meta, "the caller's own object is as it was"


def test_a_tool_runs_below_the_span_of_its_server(spans: Any, instrumented: Any) -> None:
    @tool
    def search_web(query: str) -> str:
        return served.RESULT

    use(lambda client: client.call_tool("search_web", ASKED), search_web)
    inner, outer, _ = spans.finished()
    assert inner.name == "execute_tool search_web"
    assert inner.parent.span_id == outer.context.span_id
    assert [step.split()[0] for step in steps(spans)] == ["tool_call", "tool_result"]


def test_calls_of_an_agent_are_counted_and_in_order(spans: Any, instrumented: Any) -> None:
    @tool
    def first() -> str:
        return "one"

    @tool
    async def wrapped(client: Any) -> str:
        await client.call_tool("search_web", ASKED)
        return "three"

    async def clerk(client: Any) -> str:
        first()
        await client.call_tool("totals", ASKED)
        await wrapped(client)
        return "done"

    use(agent(clerk))
    [run] = [item for item in spans.finished() if item.name == "invoke_agent clerk"]
    assert run.attributes["agentool.metrics.tool_call_count"] == 3
    [result] = rebuild(records(spans.finished()))
    step = result.trace.to_dict()["steps"]
    called = [item["tool_call"]["name"] for item in step if item["type"] == "tool_call"]
    assert called == ["first", "totals", "wrapped"]


def test_nothing_of_a_client_stays_in_the_tasks_of_its_server(
    spans: Any, instrumented: Any
) -> None:
    from opentelemetry import trace

    current: list[Any] = []

    async def looks(query: str) -> str:
        current.append(trace.get_current_span().get_span_context())
        return "seen"

    async def twice(client: Any) -> None:
        for _ in range(2):
            await client.call_tool("looks", ASKED)

    use(twice, looks)
    servers = [item.context for item in spans.finished() if item.kind.name == "SERVER"]
    assert [item.span_id for item in current] == [server.span_id for server in servers]
    assert len({server.trace_id for server in servers}) == 2


def test_detached_nothing_is_recorded(spans: Any, instrumented: Any) -> None:
    for each in instrumented:
        each.uninstrument()
    result = use(lambda client: client.call_tool("search_web", ASKED))
    assert result.content[0].text == served.RESULT
    assert spans.finished() == []
    for each in instrumented:
        assert {item.state for item in each.attached.values()} <= {"detached", "waiting", "absent"}


def test_every_patch_fits_the_installed_version(instrumented: Any) -> None:
    use(lambda client: client.list_tools())
    [ours, *_] = instrumented
    assert {item.state for item in ours.attached.values()} <= {"attached", "waiting"}


def test_a_rebuild_with_the_users_provider_counts_calls_once(
    spans: Any, native: None, instrumented: Any
) -> None:
    options: dict[str, Any] = {"mode": "legacy"}

    @agent
    async def clerk(client: Any) -> Any:
        await client.call_tool("search_web", ASKED)
        return str((await client.call_tool("fails", ASKED)).is_error)

    use(clerk, **options)
    scopes = {item.instrumentation_scope.name for item in spans.finished()}
    assert "mcp-python-sdk" in scopes
    assert "agentool_otel.instrumentation.mcp" in scopes
    parts = sorted(step.split()[0] for step in steps(spans))
    assert parts == ["tool_call", "tool_call", "tool_result", "tool_result"]
    spans.forget()


def test_a_call_in_several_rounds_is_one_call(spans: Any, instrumented: Any) -> None:
    types = pytest.importorskip("mcp_types")
    rounds: list[str] = []

    async def asks_again(query: str) -> Any:
        rounds.append(query)
        return types.InputRequiredResult(request_state="s") if len(rounds) < 3 else "done"

    result = use(lambda client: client.call_tool("asks_again", ASKED), asks_again)
    assert result.content[0].text == "done"
    assert [item.kind.name for item in spans.finished()] == ["SERVER"] * 3 + ["CLIENT"]
    assert "done" in spans.finished()[-1].attributes["gen_ai.tool.call.result"]
    assert [step.split()[0] for step in steps(spans)] == ["tool_call", "tool_result"]
