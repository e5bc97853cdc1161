"""Agents and graphs of LangChain against the loopback model, as spans."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from agentool_otel._json import loads
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn, call

pytest.importorskip("langchain")
pytest.importorskip("langgraph")
pytest.importorskip("langchain_openai")

# langgraph 1.0 warns of its own names while it is imported
pytestmark = pytest.mark.filterwarnings("ignore:.*has been moved to `langchain.agents`")

ASKED = {"messages": [{"role": "user", "content": "What is OTel?"}]}


@pytest.fixture(autouse=True)
def instrumented(spans: Any) -> Iterator[None]:
    """Both instrumentors: a model call through LangChain must still be one span."""
    from agentool_otel.instrument.langchain import LangChainInstrumentor, _runs
    from agentool_otel.instrument.openai import OpenAIInstrumentor

    LangChainInstrumentor().instrument()
    OpenAIInstrumentor().instrument()
    yield
    LangChainInstrumentor().uninstrument()
    OpenAIInstrumentor().uninstrument()
    assert len(_runs) == 0, "a run was never forgotten"


@pytest.fixture
def chat(model: LoopbackModel) -> Any:
    from langchain_openai import ChatOpenAI

    options: Any = {"base_url": model.base_url, "api_key": "none", "max_retries": 0}
    return ChatOpenAI(model="gpt-5", **options)


def searcher(asynchronous: bool = False, body: Callable[[str], Any] = "found {}".format) -> Any:
    """A tool `search`; what it gives, or raises, is up to `body`."""
    from langchain_core.tools import tool

    if asynchronous:

        @tool("search")
        async def asearch(query: str) -> Any:
            """Search the web."""
            await asyncio.sleep(0)
            return body(query)

        return asearch

    @tool("search")
    def search(query: str) -> Any:
        """Search the web."""
        return body(query)

    return search


def an_agent(chat: Any, *tools: Any, **options: Any) -> Any:
    from langchain.agents import create_agent

    return create_agent(chat, list(tools), **options)


def no_span() -> bool:
    from opentelemetry.trace import get_current_span

    return not get_current_span().get_span_context().is_valid


def run_it(agent: Any, way: str, given: Any = ASKED, config: Any = None) -> None:
    """Run an agent one way or another; nothing of it may be current outside."""

    def stream() -> None:
        for _ in agent.stream(given, config):
            assert no_span()

    async def astream() -> None:
        async for _ in agent.astream(given, config):
            assert no_span()

    async def ainvoke() -> None:
        await agent.ainvoke(given, config)
        assert no_span()

    match way:
        case "invoke":
            agent.invoke(given, config)
        case "stream":
            stream()
        case "ainvoke":
            asyncio.run(ainvoke())
        case _:
            asyncio.run(astream())
    assert no_span()


def named(spans: Any, name: str) -> Any:
    """The one span of a name."""
    (found,) = [span for span in spans.finished() if span.name == name]
    return found


def value(span: Any, attribute: str) -> Any:
    return loads(span.attributes[attribute])


WAYS = ("invoke", "stream", "ainvoke", "astream")


@pytest.mark.parametrize("way", WAYS)
def test_an_agent_with_a_tool_is_one_tree(spans: Any, model: Any, chat: Any, way: str) -> None:
    model.push(call("search", query="otel"), "A standard.")
    run_it(an_agent(chat, searcher(way.startswith("a")), name="researcher"), way)
    assert spans.tree().replace("   ", " ").splitlines()[0] == "invoke_agent researcher"
    assert [line.split("  in=")[0].rstrip() for line in spans.tree().splitlines()] == [
        "invoke_agent researcher",
        "  chat gpt-5",
        "  execute_tool search",
        "  chat gpt-5",
    ]


def test_an_agent_says_what_it_was_asked_and_what_it_answered(
    spans: Any, model: Any, chat: Any
) -> None:
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
    assert run.instrumentation_scope.name == "agentool_otel.instrument.langchain"


def test_a_tool_says_what_it_was_given_and_what_it_gave(spans: Any, model: Any, chat: Any) -> None:
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
    assert sorted(ran) == [made.id for made in calls]
    for made in calls:
        assert value(ran[str(made.id)], "gen_ai.tool.call.arguments") == made.arguments


@pytest.mark.parametrize("way", WAYS)
def test_what_a_user_traces_inside_a_tool_is_below_it(
    spans: Any, model: Any, chat: Any, way: str
) -> None:
    import agentool_otel
    from agentool_otel.emit.session import session

    def body(query: str) -> str:
        with session.tracer("mine").start_as_current_span("mine"):
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
    assert "gen_ai.tool.call.result" not in attributes


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


# ----------------------------------------------------------------------------- graphs, handoffs


def graph(name: str = "team", **nodes: Any) -> Any:
    """A graph that starts at its first node; the others are reached by commands."""
    from langgraph.graph import START, MessagesState, StateGraph

    built: Any = StateGraph(MessagesState)
    for node, body in nodes.items():
        built.add_node(node, body)
    built.add_edge(START, next(iter(nodes)))
    return built.compile(name=name)


def test_a_node_that_calls_a_model_is_no_span_of_its_own(spans: Any, model: Any, chat: Any) -> None:
    model.push("Hi.")
    built = graph(writer=lambda state: {"messages": [chat.invoke(state["messages"])]})
    built.invoke(ASKED)
    assert [line.split("  in=")[0].rstrip() for line in spans.tree().splitlines()] == [
        "invoke_agent team",
        "  chat gpt-5",
    ]


@pytest.mark.parametrize("way", WAYS)
def test_a_client_used_inside_a_node_is_below_the_run(
    spans: Any, model: LoopbackModel, way: str
) -> None:
    import openai

    def ask() -> str:
        with openai.OpenAI(base_url=model.base_url, api_key="none") as client:
            said = [{"role": "user", "content": "Hello"}]
            answer = client.chat.completions.create(model="gpt-5", messages=said)  # type: ignore[arg-type]
            return str(answer.choices[0].message.content)

    def node(_: Any) -> Any:
        return {"messages": [("ai", ask())]}

    async def anode(_: Any) -> Any:
        return {"messages": [("ai", ask())]}

    run_it(graph(writer=anode if way.startswith("a") else node), way)
    run, client_span = named(spans, "invoke_agent team"), named(spans, "chat gpt-5")
    assert client_span.parent.span_id == run.context.span_id
    assert client_span.instrumentation_scope.name == "agentool_otel.instrument.openai"


@pytest.mark.parametrize("way", WAYS)
def test_going_to_a_node_by_command_is_a_handoff(
    spans: Any, model: Any, chat: Any, way: str
) -> None:
    from langgraph.types import Command

    def first(state: Any) -> Any:
        return Command(goto="writer", update={"messages": [chat.invoke(state["messages"])]})

    def second(state: Any) -> Any:
        return Command(goto="__end__", update={"messages": [chat.invoke(state["messages"])]})

    model.push("Facts.", "Prose.")
    run_it(graph(researcher=first, writer=second), way)
    assert [line.split("  in=")[0].rstrip() for line in spans.tree().splitlines()] == [
        "invoke_agent team",
        "  chat gpt-5",
        "  execute_tool transfer_to_writer",
        "  chat gpt-5",
    ]
    handoff = named(spans, "execute_tool transfer_to_writer")
    assert handoff.attributes["agentool.transfer.target"] == "writer"
    assert handoff.attributes["gen_ai.agent.name"] == "researcher"
    assert steps_of(named(spans, "invoke_agent team")) == ["handoff"]


@pytest.mark.parametrize("way", WAYS)
def test_an_agent_that_is_handed_to_is_below_the_handoff(
    spans: Any, model: Any, chat: Any, way: str
) -> None:
    from langgraph.types import Command

    def first(state: Any) -> Any:
        return Command(goto="writer", update={"messages": [chat.invoke(state["messages"])]})

    model.push("Facts.", "Prose.")
    run_it(graph(researcher=first, writer=an_agent(chat, name="writer")), way)
    assert [line.split("  in=")[0].rstrip() for line in spans.tree().splitlines()] == [
        "invoke_agent team",
        "  chat gpt-5",
        "  execute_tool transfer_to_writer",
        "    invoke_agent writer",
        "      chat gpt-5",
    ]
    assert steps_of(named(spans, "invoke_agent team")) == ["handoff"]


@pytest.mark.parametrize("way", WAYS)
def test_a_tool_that_returns_a_command_is_the_handoff(
    spans: Any, model: Any, chat: Any, way: str
) -> None:
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import tool
    from langgraph.types import Command

    @tool
    def ask_writer() -> Any:
        """Let the writer go on."""
        handed = ToolMessage("Handed over.", tool_call_id="call_1")
        return Command(goto="writer", graph=Command.PARENT, update={"messages": [handed]})

    model.push(Turn(tool_calls=(ToolCall("ask_writer", {}, id="call_1"),)), "Prose.")
    researcher = an_agent(chat, ask_writer, name="researcher")
    run_it(graph(researcher=researcher, writer=an_agent(chat, name="writer")), way)
    assert [line.split("  in=")[0].rstrip() for line in spans.tree().splitlines()] == [
        "invoke_agent team",
        "  invoke_agent researcher",
        "    chat gpt-5",
        "    execute_tool ask_writer",
        "  invoke_agent writer",
        "    chat gpt-5",
    ]
    handoff = named(spans, "execute_tool ask_writer")
    assert handoff.attributes["agentool.transfer.target"] == "writer"
    assert value(handoff, "gen_ai.tool.call.result") == {"result": "Handed over."}
    researched = named(spans, "invoke_agent researcher")
    assert steps_of(researched) == ["handoff"]
    assert researched.attributes["agentool.interrupted"] == "ParentCommand"
    assert researched.attributes["agentool.status"] == "success"
    assert researched.attributes["agentool.metrics.tool_call_count"] == 0
    assert {span.status.status_code.name for span in spans.finished()} == {"UNSET"}


def test_a_node_of_a_subgraph_may_hand_over_in_the_graph_around_it(spans: Any) -> None:
    from langgraph.types import Command

    inner = graph("inner", deep=lambda _: Command(goto="writer", graph=Command.PARENT))
    graph(researcher=inner, writer=lambda _: {"messages": [("ai", "Prose.")]}).invoke(ASKED)
    assert spans.tree().splitlines() == [
        "invoke_agent team",
        "  invoke_agent inner",
        "    execute_tool transfer_to_writer",
    ]


@pytest.mark.parametrize("way", WAYS)
def test_agents_called_inside_nodes_and_tools_are_nested(
    spans: Any, model: Any, chat: Any, way: str
) -> None:
    inner = an_agent(chat, name="helper")

    def body(query: str) -> str:
        return str(inner.invoke({"messages": [("user", query)]})["messages"][-1].content)

    model.push(call("search", query="otel"), "From the helper.", "Done.")
    outer = an_agent(chat, searcher(way.startswith("a"), body), name="researcher")

    def ask(state: Any) -> Any:
        return outer.invoke(state)

    async def aask(state: Any) -> Any:
        return await outer.ainvoke(state)

    run_it(graph(ask=aask if way.startswith("a") else ask), way)
    assert [line.split("  in=")[0].rstrip() for line in spans.tree().splitlines()] == [
        "invoke_agent team",
        "  invoke_agent researcher",
        "    chat gpt-5",
        "    execute_tool search",
        "      invoke_agent helper",
        "        chat gpt-5",
        "    chat gpt-5",
    ]


def test_a_graph_without_messages_says_its_state(spans: Any) -> None:
    from langgraph.graph import START, StateGraph
    from typing_extensions import TypedDict

    class State(TypedDict):
        count: int

    def add(state: Any) -> Any:
        return {"count": state["count"] + 1}

    built: Any = StateGraph(State)
    built.add_node("add", add)
    built.add_edge(START, "add")
    built.compile(name="counter").invoke({"count": 1})
    assert spans.json("agentool.input") == {"count": 1}
    assert spans.json("agentool.output") == {"count": 2}


def test_a_graph_without_a_name_goes_by_its_node(spans: Any, chat: Any) -> None:
    graph(writer=an_agent(chat)).invoke(ASKED)
    assert spans.tree().splitlines()[1].split("  in=")[0].rstrip() == "  invoke_agent writer"


def test_batches_and_threads_keep_their_runs_apart(spans: Any, model: Any, chat: Any) -> None:
    model.rule(lambda request: request.last_user)
    agent = an_agent(chat, name="echo")
    asked = [{"messages": [("user", f"q{n}")]} for n in range(8)]
    configs: Any = [{"configurable": {"thread_id": f"t{n}"}} for n in range(8)]
    agent.batch(asked, configs)
    asyncio.run(agent.abatch(asked, configs))
    runs = [span for span in spans.finished() if span.name == "invoke_agent echo"]
    calls = [span for span in spans.finished() if span.name == "chat gpt-5"]
    assert (len(runs), len(calls)) == (16, 16)
    assert no_span()
    by_id = {span.context.span_id: span for span in runs}
    for each in calls:
        run = by_id[each.parent.span_id]
        thread = run.attributes["gen_ai.conversation.id"]
        assert each.attributes["gen_ai.conversation.id"] == thread
        assert value(run, "gen_ai.output.messages")[0]["parts"][0]["content"] == f"q{thread[1:]}"


def test_an_agent_joins_the_users_own_run(spans: Any, chat: Any) -> None:
    import agentool_otel

    with agentool_otel.run("mine"):
        an_agent(chat, name="helper").invoke(ASKED)
    assert [line.split("  in=")[0].rstrip() for line in spans.tree().splitlines()] == [
        "invoke_agent mine",
        "  invoke_agent helper",
        "    chat gpt-5",
    ]


def test_what_langgraph_puts_into_a_tool_is_no_argument(spans: Any, model: Any, chat: Any) -> None:
    from langchain.tools import ToolRuntime, tool

    def search(query: Any, runtime: Any) -> str:
        """Search the web."""
        return f"{query} {len(runtime.state['messages'])}"

    search.__annotations__ = {"query": str, "runtime": ToolRuntime, "return": str}
    model.push(call("search", query="otel"), "Done.")
    an_agent(chat, tool(search)).invoke(ASKED)
    tool_span = named(spans, "execute_tool search")
    assert value(tool_span, "gen_ai.tool.call.arguments") == {"query": "otel"}


def test_without_content_only_names_and_numbers_are_left(spans: Any, model: Any, chat: Any) -> None:
    spans.without_content()
    model.push(call("search", query="otel"), "Done.")
    an_agent(chat, searcher(), name="researcher").invoke(ASKED)
    assert len(spans.finished()) == 4
    for span in spans.finished():
        assert "otel" not in str(dict(span.attributes)).lower().replace("agentool_otel", "")


def test_switched_off_it_records_nothing(spans: Any, chat: Any) -> None:
    from agentool_otel.instrument.langchain import LangChainInstrumentor
    from agentool_otel.instrument.openai import OpenAIInstrumentor

    agent = an_agent(chat, name="researcher")
    LangChainInstrumentor().uninstrument()
    OpenAIInstrumentor().uninstrument()
    agent.invoke(ASKED)
    assert spans.finished() == []
    LangChainInstrumentor().instrument()
    agent.invoke(ASKED)
    assert len(spans.finished()) == 2


def test_every_patch_finds_its_target(spans: Any) -> None:
    for module in ("langchain_core.retrievers", "langgraph.store.base.batch"):
        import_module(module)
    from agentool_otel.instrument.langchain import LangChainInstrumentor

    states = {found.state for found in LangChainInstrumentor().attached.values()}
    assert states <= {"attached", "absent", "inherited"}


def steps_of(run: Any) -> list[str]:
    """The kinds of steps on a run's timeline, in order."""
    events = [event for event in run.events if event.name == "agentool.step"]
    return [str(event.attributes["agentool.step.type"]) for event in events]
