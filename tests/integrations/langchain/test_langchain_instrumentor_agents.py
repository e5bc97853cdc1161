"""Agents of LangChain against the loopback model, as spans."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.testing.loopback_model import ToolCall, Turn, call
from tests.integrations.langchain.langchain_agents import (
    ASKED,
    WAYS,
    an_agent,
    chat,
    instrumented,
    named,
    no_span,
    run_it,
    searcher,
    value,
)
from tests.records import records

__all__ = ["chat", "instrumented"]

pytest.importorskip("langchain")
pytest.importorskip("langgraph")
pytest.importorskip("langchain_openai")

# langgraph 1.0 warns of its own names while it is imported
pytestmark = pytest.mark.filterwarnings("ignore:.*has been moved to `langchain.agents`")


@pytest.mark.parametrize("way", WAYS)
def test_an_agent_with_a_tool_is_one_tree(spans: Any, model: Any, chat: Any, way: str) -> None:
    model.push(call("search", query="otel"), "A standard.")
    run_it(an_agent(chat, searcher(way.startswith("a")), name="researcher"), way)
    assert spans.tree().splitlines()[0] == "invoke_agent researcher   finish=stop"
    assert [re.split(r"  +(?:in|finish)=", line)[0] for line in spans.tree().splitlines()] == [
        "invoke_agent researcher",
        "  chat gpt-5",
        "  execute_tool search",
        "  chat gpt-5",
    ]


@pytest.mark.parametrize("mode", ["updates", "values"])
@pytest.mark.parametrize(
    ("chunks", "status"), [(1, "in_progress"), (2, "in_progress"), (9, "success")]
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_agent_that_is_left_after_its_answer_is_a_success(
    spans: Any, model: Any, chat: Any, mode: str, chunks: int, status: str, asynchronous: bool
) -> None:
    def is_last(update: Any, number: int) -> bool:
        state = update.get("model", {}) if mode == "updates" else update
        return number == chunks or "A standard." in str(state.get("messages", [])[-1:])

    async def read(agent: Any) -> None:
        stream = agent.astream(ASKED, stream_mode=mode)
        number = 0
        async for update in stream:
            number += 1
            if is_last(update, number):
                break
        await stream.aclose()

    model.push(call("search", query="otel"), "A standard.")
    agent = an_agent(chat, searcher(asynchronous), name="researcher")
    if asynchronous:
        asyncio.run(read(agent))
    else:
        for number, update in enumerate(agent.stream(ASKED, stream_mode=mode), 1):
            if is_last(update, number):
                break
    run = named(spans, "invoke_agent researcher")
    assert run.attributes["agentool.status"] == status
    assert ("agentool.interrupted" in run.attributes) is (status != "success")
    if status == "success":
        assert "A standard." in run.attributes["gen_ai.output.messages"]


def test_an_agent_records_input_and_output(spans: Any, model: Any, chat: Any) -> None:
    model.push(call("search", query="otel"), "A standard.")
    agent = an_agent(chat, searcher(), name="researcher")
    agent.invoke(ASKED, {"configurable": {"thread_id": "t-1"}})
    run = named(spans, "invoke_agent researcher")
    assert value(run, "gen_ai.input.messages") == [
        {"role": "user", "parts": [{"type": "text", "content": "What is OTel?"}]}
    ]
    assert value(run, "gen_ai.output.messages") == [
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": "A standard."}],
            "finish_reason": "stop",
        }
    ]
    assert run.attributes["agentool.status"] == "success"
    assert run.attributes["agentool.metrics.tool_call_count"] == 1
    assert {span.attributes["gen_ai.conversation.id"] for span in spans.finished()} == {"t-1"}
    assert run.instrumentation_scope.name == "agentool_otel.instrumentation.langchain"


def test_a_tool_records_arguments_and_result(spans: Any, model: Any, chat: Any) -> None:
    model.push(Turn(tool_calls=(ToolCall("search", {"query": "otel"}, id="call_7"),)), "Done.")
    an_agent(chat, searcher(body=lambda q: {"hits": [q]}), name="researcher").invoke(ASKED)
    tool = named(spans, "execute_tool search")
    assert tool.attributes["gen_ai.tool.call.id"] == "call_7"
    assert tool.attributes["gen_ai.tool.description"] == "Search the web."
    assert tool.attributes["gen_ai.tool.type"] == "function"
    assert tool.attributes["gen_ai.agent.name"] == "researcher"
    assert value(tool, "gen_ai.tool.call.arguments") == {"query": "otel"}
    assert value(tool, "gen_ai.tool.call.result") == {"hits": ["otel"]}


def test_text_that_a_tool_gives_stays_text(spans: Any, model: Any, chat: Any) -> None:
    model.push(call("search", query="otel"), "Done.")
    an_agent(chat, searcher()).invoke(ASKED)
    tool = named(spans, "execute_tool search")
    assert value(tool, "gen_ai.tool.call.result") == {"result": "found otel"}
    assert list(tool.attributes["agentool.tool.wrapped"]) == ["result"]


@pytest.mark.parametrize("way", WAYS)
def test_parallel_tool_calls_are_siblings_with_the_ids_of_the_request(
    spans: Any, model: Any, chat: Any, way: str
) -> None:
    calls = [ToolCall("search", {"query": f"q{n}"}, id=f"call_{n}") for n in range(5)]
    model.push(Turn(tool_calls=tuple(calls)), "Done.")
    run_it(an_agent(chat, searcher(way.startswith("a")), name="researcher"), way)
    run = named(spans, "invoke_agent researcher")
    tools = [span for span in spans.finished() if span.name == "execute_tool search"]
    assert {span.parent.span_id for span in tools} == {run.context.span_id}
    ran = {span.attributes["gen_ai.tool.call.id"]: span for span in tools}
    assert sorted(ran) == [result.id for result in calls]
    for result in calls:
        assert value(ran[str(result.id)], "gen_ai.tool.call.arguments") == result.arguments


@pytest.mark.parametrize("way", WAYS)
def test_what_a_user_traces_inside_a_tool_is_below_it(
    spans: Any, model: Any, chat: Any, way: str
) -> None:
    import agentool_otel
    from agentool_otel.tracing.spans.settings import settings

    def body(query: str) -> str:
        with settings.tracer("mine").start_as_current_span("mine"):
            return str(rank(query))

    @agentool_otel.tool
    def rank(query: str) -> int:
        return len(query)

    model.push(call("search", query="otel"), "Done.")
    run_it(an_agent(chat, searcher(way.startswith("a"), body)), way)
    mine, tool = named(spans, "mine"), named(spans, "execute_tool search")
    assert mine.parent.span_id == tool.context.span_id
    assert named(spans, "execute_tool rank").parent.span_id == mine.context.span_id


def test_a_tool_that_fails_is_an_error_and_so_is_its_agent(
    spans: Any, model: Any, chat: Any
) -> None:
    def body(query: str) -> str:
        raise LookupError("nothing found")

    model.push(call("search", query="otel"))
    agent = an_agent(chat, searcher(body=body), name="researcher")
    with pytest.raises(LookupError):
        agent.invoke(ASKED)
    assert [span.attributes.get("error.type") for span in spans.finished()] == [
        None,
        "LookupError",
        "LookupError",
    ]
    tool = named(spans, "execute_tool search")
    assert tool.attributes["agentool.tool.error"] == "nothing found"
    events = [event.name for span in spans.finished() for event in span.events]
    assert events.count("exception") == 1
    assert named(spans, "invoke_agent researcher").attributes["agentool.status"] == "error"


def test_an_error_that_a_tool_answers_with_is_a_tool_error(spans: Any, chat: Any) -> None:
    from langchain_core.tools import ToolException, tool

    @tool
    def search(query: str) -> str:
        """Search the web."""
        raise ToolException("no such page")

    search.handle_tool_error = True
    search.invoke({"type": "tool_call", "name": "search", "args": {"query": "x"}, "id": "call_1"})
    attributes = spans.attributes()
    assert attributes["error.type"] == "tool_error"
    assert attributes["agentool.tool.error"] == "no such page"


def test_a_handled_error_is_on_status_result_and_event(spans: Any, chat: Any) -> None:
    """In the status, in the result, which goes to the model, and as an event."""
    from langchain_core.tools import ToolException, tool

    @tool
    def search(query: str) -> str:
        """Search the web."""
        raise ToolException("no such page")

    search.handle_tool_error = True
    search.invoke({"type": "tool_call", "name": "search", "args": {"query": "x"}, "id": "call_1"})
    span = spans.only()
    assert span.status.description == "no such page"
    assert spans.json("gen_ai.tool.call.result") == {"result": "no such page"}
    (event,) = [event for event in span.events if event.name == "exception"]
    assert dict(event.attributes) == {
        "exception.type": "tool_error", "exception.message": "no such page"
    }  # fmt: skip


def test_a_model_that_fails_ends_the_whole_tree(spans: Any, model: Any, chat: Any) -> None:
    model.push(Turn(status=500))
    agent = an_agent(chat, searcher(), name="researcher")
    with pytest.raises(Exception, match="injected failure"):
        agent.invoke(ASKED)
    chat_span, run = spans.finished()
    assert chat_span.name == "chat gpt-5"
    assert chat_span.attributes["error.type"] == run.attributes["error.type"]
    assert chat_span.attributes["error.type"].rpartition(".")[2] in (
        "InternalServerError",
        "OpenAIAPIError",
    )


@pytest.mark.parametrize("way", WAYS)
def test_an_interrupt_is_not_an_error(spans: Any, model: Any, chat: Any, way: str) -> None:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command, interrupt

    config = {"configurable": {"thread_id": "t-1"}}
    model.push(call("search", query="otel"), "Done.")
    agent = an_agent(
        chat,
        searcher(way.startswith("a"), lambda query: f"{query} {interrupt('May I?')}"),
        name="researcher",
        checkpointer=InMemorySaver(),
    )
    run_it(agent, way, config=config)
    tool, run = named(spans, "execute_tool search"), named(spans, "invoke_agent researcher")
    for span in (tool, run):
        assert span.status.status_code.name == "UNSET"
        assert span.attributes["agentool.interrupted"] == "GraphInterrupt"
        assert "error.type" not in span.attributes
    assert tool.attributes["agentool.tool.incomplete"] == "call_only"
    assert run.attributes["agentool.status"] == "in_progress"

    run_it(agent, way, Command(resume="yes"), config)
    resumed, again = spans.finished()[-1], spans.finished()[-3]
    assert resumed.attributes["agentool.status"] == "success"
    assert value(again, "gen_ai.tool.call.result") == {"result": "otel yes"}
    assert again.attributes["gen_ai.tool.call.id"] == tool.attributes["gen_ai.tool.call.id"]


def test_a_node_that_asks_its_user_interrupts_its_run(spans: Any) -> None:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.types import interrupt

    def ask(_: Any) -> Any:
        return {"messages": [("ai", interrupt("May I?"))]}

    built: Any = StateGraph(MessagesState)
    built.add_node("ask", ask)
    built.add_edge(START, "ask")
    asking = built.compile(name="team", checkpointer=InMemorySaver())
    asking.invoke(ASKED, {"configurable": {"thread_id": "t-1"}})
    assert spans.attributes()["agentool.interrupted"] == "GraphInterrupt"
    assert spans.only().status.status_code.name == "UNSET"


def test_a_stream_that_is_closed_early_ends_its_spans(spans: Any, model: Any, chat: Any) -> None:
    model.push(call("search", query="otel"), "Done.")
    stream = an_agent(chat, searcher(), name="researcher").stream(ASKED)
    next(stream)
    assert no_span()
    stream.close()
    run = named(spans, "invoke_agent researcher")
    assert run.attributes["agentool.interrupted"] == "closed"
    assert run.status.status_code.name == "UNSET"


def test_an_async_stream_may_be_closed_in_another_task(
    spans: Any, model: Any, chat: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        stream = an_agent(chat, searcher(True), name="researcher").astream(ASKED)
        await anext(stream)
        await asyncio.create_task(stream.aclose())
        assert no_span()

    model.push(call("search", query="otel"), "Done.")
    asyncio.run(main())
    run = named(spans, "invoke_agent researcher")
    assert run.attributes["agentool.interrupted"] == "closed"
    assert not caplog.records


def test_a_cancelled_agent_ends_as_cancelled(spans: Any, model: Any, chat: Any) -> None:
    from langchain_core.tools import tool

    started = asyncio.Event()

    @tool
    async def search(query: str) -> str:
        """Search the web."""
        started.set()
        await asyncio.sleep(60)
        return query

    async def main() -> None:
        task = asyncio.create_task(an_agent(chat, search, name="researcher").ainvoke(ASKED))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert no_span()

    model.push(call("search", query="otel"))
    asyncio.run(main())
    for name in ("execute_tool search", "invoke_agent researcher"):
        kind = named(spans, name).attributes["error.type"]
        assert kind.rpartition(".")[2] == "CancelledError"


def test_a_tool_that_times_out_leaves_nothing_behind(spans: Any) -> None:
    from langchain_core.tools import tool

    @tool
    async def search(query: str) -> str:
        """Search the web."""
        await asyncio.sleep(60)
        return query

    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(search.ainvoke({"query": "x"}), 0.01)
        assert no_span()

    asyncio.run(main())
    assert spans.only().attributes["error.type"].rpartition(".")[2] == "CancelledError"


@pytest.mark.parametrize("way", WAYS)
def test_a_providers_error_is_in_the_trace_of_the_agent(
    spans: Any, model: Any, chat: Any, way: str
) -> None:
    model.push(Turn(status=500, error="the disk is full"))
    with pytest.raises(Exception, match="the disk is full") as raised:
        run_it(an_agent(chat, searcher(way.startswith("a")), name="researcher"), way)
    [result] = rebuild(records(spans.finished()))
    error = result.trace.to_dict()["metadata"]["error"]
    assert error["type"].endswith(f".{raised.type.__name__}")
    assert "the disk is full" in error["message"]
    assert error["span_id"] == f"{named(spans, 'chat gpt-5').context.span_id:016x}"
