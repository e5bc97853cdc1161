"""Checks 62, 65, 66, 68, 70 and 73: one JSON on LangGraph and WayFlow, against a local model."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.testing.turns import ToolCall, Turn
from tests.seed_systems.agent_spec.recorded import current, lines, named
from tests.seed_systems.agent_spec.runtimes import CONFIG, RUNTIMES, ask, follow, langgraph, missing
from tests.seed_systems.agent_spec.specs import agent, flow, part, to_json

pytest.importorskip("pyagentspec", reason="pyagentspec is not installed")

QUESTION, ANSWER = "How is it in Paris?", "It is sunny."
CALL = Turn(tool_calls=(ToolCall("get_weather", {"city": "Paris"}),), input_tokens=21)
TURNS = (CALL, Turn(text=ANSWER, input_tokens=30))


@pytest.fixture(autouse=True)
def unwarned() -> Iterator[None]:
    """Ignore warnings of runtimes about their own code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def get_weather(city: str) -> str:
    """Look it up."""
    return f"sunny, in {current()}"


def fails(city: str) -> str:
    """Look it up."""
    raise ValueError("no network")


def asked(runtime: str, tool: Any = get_weather, *turns: Turn, **options: Any) -> Any:
    missing(runtime)
    with LoopbackModel(*(turns or TURNS)) as model:
        text = to_json(agent(model.base_url, human_in_the_loop=True), **options)
        return ask(runtime, text, {"get_weather": tool}, QUESTION)


@RUNTIMES
@pytest.mark.parametrize("everything", [True, False])
def test_check_62_one_agent_gives_the_same_tree_on_each_runtime(
    runtime: str, everything: bool, request: pytest.FixtureRequest
) -> None:
    spans = request.getfixturevalue("all_attached" if everything else "attached")
    with part("Trace")(name="comparison"):
        assert asked(runtime) == ANSWER
    assert lines(spans) == [
        "invoke_workflow comparison",
        "  invoke_agent weather",
        "    chat gpt-5",
        "    execute_tool get_weather",
        "    chat gpt-5",
    ]
    run = named(spans, "invoke_agent weather").attributes
    assert QUESTION in run["gen_ai.input.messages"]
    assert ANSWER in run["gen_ai.output.messages"]
    assert "gen_ai.conversation.id" in run
    tool = named(spans, "execute_tool get_weather").attributes
    assert "sunny, in execute_tool get_weather" in tool["gen_ai.tool.call.result"]


@RUNTIMES
def test_check_62_tokens_are_those_of_the_server(runtime: str, all_attached: Any) -> None:
    asked(runtime)
    chats = [item.attributes for item in all_attached.finished() if item.name == "chat gpt-5"]
    assert [chat["gen_ai.usage.input_tokens"] for chat in chats] == [21, 30]


@pytest.mark.parametrize("everything", [True, False])
def test_check_65_asynchronous_runs_give_the_same_tree(
    everything: bool, request: pytest.FixtureRequest
) -> None:
    spans = request.getfixturevalue("all_attached" if everything else "attached")
    missing("langgraph")

    async def main(url: str) -> str | None:
        graph = langgraph(to_json(agent(url)), {"get_weather": get_weather})
        await graph.ainvoke({"messages": [{"role": "user", "content": QUESTION}]}, CONFIG)
        return current()

    with LoopbackModel(*TURNS) as model:
        assert asyncio.run(main(model.base_url)) is None
    assert lines(spans) == [
        "invoke_agent weather",
        *("  chat gpt-5", "  execute_tool get_weather", "  chat gpt-5"),
    ]


def test_check_65_between_two_values_of_a_stream_nothing_is_current(attached: Any) -> None:
    missing("langgraph")

    async def main(url: str) -> list[str | None]:
        graph = langgraph(to_json(agent(url)), {"get_weather": get_weather})
        requests = {"messages": [{"role": "user", "content": QUESTION}]}
        currents = [current() async for _ in graph.astream(requests, CONFIG)]
        async for _ in graph.astream(requests, {"configurable": {"thread_id": "2"}}):
            break
        return [*currents, current()]

    with LoopbackModel(*TURNS, *TURNS) as model:
        result = asyncio.run(main(model.base_url))
    assert len(result) > 2
    assert set(result) == {None}
    runs = [item.attributes for item in attached.finished() if item.name == "invoke_agent weather"]
    assert [run["agentool.status"] for run in runs] == ["success", "in_progress"]


def test_check_65_a_stream_that_is_left_after_the_answer_is_a_success(attached: Any) -> None:
    missing("langgraph")
    requests = {"messages": [{"role": "user", "content": QUESTION}]}
    with LoopbackModel(*TURNS) as model:
        graph = langgraph(to_json(agent(model.base_url)), {"get_weather": get_weather})
        stream = graph.stream(requests, CONFIG, stream_mode="values")
        for state in stream:
            if state["messages"][-1].content == ANSWER:
                break
        stream.close()
    run = named(attached, "invoke_agent weather").attributes
    assert run["agentool.status"] == "success"
    assert "agentool.interrupted" not in run


@RUNTIMES
@pytest.mark.parametrize("opened", [True, False])
def test_check_66_a_flow_is_its_nodes_with_their_branches(
    runtime: str, opened: bool, attached: Any
) -> None:
    with part("Trace")() if opened else nullcontext():
        out = follow(runtime, to_json(flow()), {"get_weather": get_weather}, city="Paris")
    assert out == {"result": "sunny, in execute_tool get_weather"}
    below = [line.strip() for line in lines(attached) if "Trace" not in line]
    assert below == [
        "invoke_workflow weather flow",
        *("start", "choose", "look up", "execute_tool get_weather", "end"),
    ]
    assert named(attached, "choose").attributes["agentspec.branch"] == "paris"
    assert named(attached, "look up").attributes["agentspec.node.type"] == "ToolNode"


@RUNTIMES
@pytest.mark.parametrize("opened", [True, False])
def test_check_66_a_tools_error_is_on_it_and_the_spans_it_passes(
    runtime: str, opened: bool, attached: Any
) -> None:
    missing(runtime)
    trace = part("Trace")() if opened else nullcontext()
    with pytest.raises(ValueError, match="no network"), trace:
        follow(runtime, to_json(flow()), {"get_weather": fails}, city="Paris")
    errors = {item.name: item.attributes.get("error.type") for item in attached.finished()}
    failed = {"execute_tool get_weather", "look up", "invoke_workflow weather flow"}
    passed = {"start", "choose"}
    assert {name for name, error in errors.items() if error == "ValueError"} >= failed
    assert {name for name, error in errors.items() if error is None} == passed
    recorded = [item.name for item in attached.finished() if item.events]
    assert recorded == ["execute_tool get_weather"]
    assert current() is None


def test_check_66_an_asynchronous_tool_fails_the_same_way(attached: Any) -> None:
    missing("langgraph")

    async def main(url: str) -> None:
        graph = langgraph(to_json(agent(url)), {"get_weather": fails})
        await graph.ainvoke({"messages": [{"role": "user", "content": QUESTION}]}, CONFIG)

    with LoopbackModel(*TURNS) as model, pytest.raises(ValueError, match="no network"):
        asyncio.run(main(model.base_url))
    for name in ("execute_tool get_weather", "invoke_agent weather"):
        assert named(attached, name).attributes["error.type"] == "ValueError"


@RUNTIMES
def test_check_68_the_call_is_that_which_the_model_asked_for(runtime: str, attached: Any) -> None:
    asked(runtime)
    first = next(item for item in attached.finished() if item.name == "chat gpt-5").attributes
    [message] = json.loads(first["gen_ai.output.messages"])
    [call] = [item for item in message["parts"] if item["type"] == "tool_call"]
    assert call["arguments"] == {"city": "Paris"}
    tool = named(attached, "execute_tool get_weather").attributes
    assert tool["gen_ai.tool.call.id"] == call["id"]


@RUNTIMES
def test_check_70_every_call_is_recorded_once_with_everything_attached(
    runtime: str, all_attached: Any
) -> None:
    asked(runtime)
    names = [item.name for item in all_attached.finished()]
    assert sorted(names) == [
        *("chat gpt-5", "chat gpt-5"),
        *("execute_tool get_weather", "invoke_agent weather"),
    ]


def test_check_70_a_graph_that_is_not_agent_specs_is_an_agent_inside_a_trace(
    all_attached: Any,
) -> None:
    missing("langgraph")
    graph: Any = __import__("langgraph.graph", fromlist=["StateGraph"]).StateGraph(dict)
    graph.add_node("answer", lambda state: state)
    graph.set_entry_point("answer")
    with part("Trace")(name="talk"):
        graph.compile(name="by hand").invoke({"q": QUESTION})
    assert lines(all_attached) == ["invoke_workflow talk", "  invoke_agent by hand"]


VERSIONS = ["25.4.1", "25.4.2", "26.1.0", "26.1.2", "26.3.1"]


@pytest.mark.parametrize("version", VERSIONS)
def test_check_73_every_version_of_the_language_is_recorded(version: str, attached: Any) -> None:
    versions: Any = __import__("pyagentspec.versioning", fromlist=["AgentSpecVersionEnum"])
    missing("langgraph")
    stated = versions.AgentSpecVersionEnum(version)
    with LoopbackModel(*TURNS) as model:
        text = to_json(agent(model.base_url), agentspec_version=stated)
        assert f'"agentspec_version": "{version}"' in text
        assert ask("langgraph", text, {"get_weather": get_weather}, QUESTION) == ANSWER
    assert lines(attached)[0] == "invoke_agent weather"
    assert len(attached.finished()) == 4
