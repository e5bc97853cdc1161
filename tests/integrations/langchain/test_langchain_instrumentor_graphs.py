"""Graphs and handoffs of LangGraph against the loopback model, as spans."""

from __future__ import annotations

import asyncio
import re
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn, call
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
    steps_of,
    value,
)

__all__ = ["chat", "instrumented"]

pytest.importorskip("langchain")
pytest.importorskip("langgraph")
pytest.importorskip("langchain_openai")

# langgraph 1.0 warns of its own names while it is imported
pytestmark = pytest.mark.filterwarnings("ignore:.*has been moved to `langchain.agents`")


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
    assert [re.split(r"  +(?:in|finish)=", line)[0] for line in spans.tree().splitlines()] == [
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
            texts = [{"role": "user", "content": "Hello"}]
            answer = client.chat.completions.create(model="gpt-5", messages=texts)  # type: ignore[arg-type]
            return str(answer.choices[0].message.content)

    def node(_: Any) -> Any:
        return {"messages": [("ai", ask())]}

    async def anode(_: Any) -> Any:
        return {"messages": [("ai", ask())]}

    run_it(graph(writer=anode if way.startswith("a") else node), way)
    run, client_span = named(spans, "invoke_agent team"), named(spans, "chat gpt-5")
    assert client_span.parent.span_id == run.context.span_id
    assert client_span.instrumentation_scope.name == "agentool_otel.instrumentation.openai"


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
    assert [re.split(r"  +(?:in|finish)=", line)[0] for line in spans.tree().splitlines()] == [
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
    assert [re.split(r"  +(?:in|finish)=", line)[0] for line in spans.tree().splitlines()] == [
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
    assert [re.split(r"  +(?:in|finish)=", line)[0] for line in spans.tree().splitlines()] == [
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
    assert [re.split(r"  +(?:in|finish)=", line)[0] for line in spans.tree().splitlines()] == [
        "invoke_agent team",
        "  invoke_agent researcher",
        "    chat gpt-5",
        "    execute_tool search",
        "      invoke_agent helper",
        "        chat gpt-5",
        "    chat gpt-5",
    ]


def test_a_graph_without_messages_records_its_state(spans: Any) -> None:
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
    assert (
        re.split(r"  +(?:in|finish)=", spans.tree().splitlines()[1])[0] == "  invoke_agent writer"
    )


def test_batches_and_threads_keep_their_runs_apart(spans: Any, model: Any, chat: Any) -> None:
    model.rule(lambda request: request.last_user)
    agent = an_agent(chat, name="echo")
    requests = [{"messages": [("user", f"q{n}")]} for n in range(8)]
    configs: Any = [{"configurable": {"thread_id": f"t{n}"}} for n in range(8)]
    agent.batch(requests, configs)
    asyncio.run(agent.abatch(requests, configs))
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
    assert [re.split(r"  +(?:in|finish)=", line)[0] for line in spans.tree().splitlines()] == [
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
    from agentool_otel.integrations.langchain.instrumentor.patches import LangChainInstrumentor
    from agentool_otel.integrations.openai.instrumentor import OpenAIInstrumentor

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
    from agentool_otel.integrations.langchain.instrumentor.patches import LangChainInstrumentor

    states = {result.state for result in LangChainInstrumentor().attached.values()}
    assert states <= {"attached", "absent", "inherited"}
