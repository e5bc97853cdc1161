"""Runs of automatic function calling, with functions and tools of MCP sessions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import agentool_otel
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn
from tests.integrations.google_genai.conftest import entered

pytest.importorskip("google.genai")

FLASH = "gemini-2.5-flash"


def search(query: str) -> str:
    """Search the web."""
    return f"found {query}"


def asks(query: str) -> Turn:
    return Turn(tool_calls=(ToolCall("search", {"query": query}),))


def by_name(spans: Any, name: str) -> list[Any]:
    return [span for span in spans.finished() if span.name == name]


def test_a_run_has_the_messages_of_its_model_calls(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    model.push(asks("x"), "Found it.")
    client.models.generate_content(
        model=FLASH, contents="Hello", config={"tools": [search], "system_instruction": "Be kind."}
    )
    [run] = by_name(spans, "invoke_agent")
    [question] = json.loads(run.attributes["gen_ai.input.messages"])
    [answer] = json.loads(run.attributes["gen_ai.output.messages"])
    assert question["parts"][0]["content"] == "Hello"
    assert answer["parts"][0]["content"] == "Found it."
    assert "Be kind." in run.attributes["gen_ai.system_instructions"]
    children = [span for span in spans.finished() if span is not run]
    assert len(children) == 3
    assert {span.parent.span_id for span in children} == {run.context.span_id}


def test_a_later_message_of_a_chat_is_the_input_of_its_own_run(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    model.push("One.", "Two.")
    chat = client.chats.create(model=FLASH, config={"tools": [search]})
    chat.send_message("First")
    chat.send_message("Second")
    second = by_name(spans, "invoke_agent")[1]
    [question] = json.loads(second.attributes["gen_ai.input.messages"])
    assert question["parts"][0]["content"] == "Second"
    call = by_name(spans, f"generate_content {FLASH}")[1]
    assert len(json.loads(call.attributes["gen_ai.input.messages"])) == 3


def test_the_runs_of_a_chat_are_one_session_unless_the_program_names_it(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    model.push(*["Answer."] * 5)
    one, other = (client.chats.create(model=FLASH, config={"tools": [search]}) for _ in range(2))
    for chat in (one, other, one):
        chat.send_message("Hello")
    with agentool_otel.session("named"):
        one.send_message("Hello")
    first, second, third, named = by_name(spans, "invoke_agent")
    assert session(first) == session(third) != session(second)
    assert session(named) is None
    calls = by_name(spans, f"generate_content {FLASH}")
    assert [session(call) for call in calls] == [
        session(run) for run in (first, second, third, named)
    ]


def session(span: Any) -> Any:
    return span.attributes.get("agentool.session.id")


def test_inside_an_agent_there_is_no_run_of_its_own(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    model.push(asks("x"), "Found it.")

    @agentool_otel.agent
    def researcher(question: str) -> str:
        chat = client.chats.create(model=FLASH, config={"tools": [search]})
        return str(chat.send_message(question).text)

    assert researcher("Hello") == "Found it."
    assert [span.name for span in spans.finished() if "invoke_agent" in span.name] == [
        "invoke_agent researcher"
    ]


def test_without_functions_or_with_calling_disabled_there_is_no_run(
    client: Any, spans: Any
) -> None:
    off = {"tools": [search], "automatic_function_calling": {"disable": True}}
    client.chats.create(model=FLASH).send_message("Hello")
    client.models.generate_content(model=FLASH, contents="Hello", config=off)
    assert by_name(spans, "invoke_agent") == []


def test_a_limit_of_calls_ends_a_run_with_a_call_that_is_not_answered(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    model.rule(lambda request: asks("again"))
    limited = {"tools": [search], "automatic_function_calling": {"maximum_remote_calls": 2}}
    client.models.generate_content(model=FLASH, contents="Hello", config=limited)
    [run] = by_name(spans, "invoke_agent")
    assert run.attributes["gen_ai.response.finish_reasons"] == ["tool_call"]


def test_equal_functions_of_one_answer_keep_their_arguments(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    calls = tuple(ToolCall("search", {"query": text}, f"id-{text}") for text in ("a", "b"))
    model.push(Turn(tool_calls=calls), "Found it.")
    client.models.generate_content(model=FLASH, contents="Hello", config={"tools": [search]})
    executed = {
        span.attributes["gen_ai.tool.call.id"]: json.loads(
            span.attributes["gen_ai.tool.call.arguments"]
        )
        for span in by_name(spans, "execute_tool search")
    }
    assert executed == {"id-a": {"query": "a"}, "id-b": {"query": "b"}}


@pytest.mark.parametrize("coroutine", [False, True])
def test_async_runs_at_once_have_their_own_steps_only(
    new_client: Callable[..., Any], model: LoopbackModel, spans: Any, coroutine: bool
) -> None:
    model.rule(lambda request: None if request.after_tool else asks(request.last_user.split()[-1]))

    async def search_async(query: str) -> str:
        """Search the web."""
        await asyncio.sleep(0)
        return f"found {query}"

    search_async.__name__ = "search"
    tool = search_async if coroutine else search

    async def ask(client: Any, number: int) -> None:
        chat = client.chats.create(model=FLASH, config={"tools": [tool]})
        await chat.send_message(f"question {number}")

    async def main() -> None:
        async with entered(new_client().aio) as client:
            await asyncio.gather(*(ask(client, number) for number in range(20)))

    asyncio.run(main())
    runs = {
        span.context.span_id: json.loads(span.attributes["gen_ai.input.messages"])
        for span in by_name(spans, "invoke_agent")
    }
    asked = {
        runs[span.parent.span_id][0]["parts"][0]["content"]: json.loads(
            span.attributes["gen_ai.tool.call.arguments"]
        )["query"]
        for span in by_name(spans, "execute_tool search")
    }
    assert asked == {f"question {number}": str(number) for number in range(20)}


def test_a_stream_that_is_left_closes_its_run(
    client: Any, model: LoopbackModel, spans: Any
) -> None:
    model.push(asks("x"), "Found it.")
    chat = client.chats.create(model=FLASH, config={"tools": [search]})
    stream = chat.send_message_stream("Hello")
    for chunk in stream:
        if chunk.text:
            break
    stream.close()
    [run] = by_name(spans, "invoke_agent")
    assert run.attributes["agentool.interrupted"] == "closed"
    assert run.attributes["agentool.status"] == "in_progress"


def test_without_content_no_text_is_recorded(client: Any, model: LoopbackModel, spans: Any) -> None:
    spans.without_content()
    model.push(asks("secret"), "Found it.")
    client.models.generate_content(model=FLASH, contents="Hello", config={"tools": [search]})
    recorded = repr([dict(span.attributes) for span in spans.finished()])
    for text in ("secret", "Found it.", "Hello"):
        assert text not in recorded
    [run] = by_name(spans, "invoke_agent")
    assert run.attributes["gen_ai.response.finish_reasons"] == ["stop"]


def test_a_decorated_function_is_one_call_in_a_rebuild(
    client: Any, model: LoopbackModel, agent_traces: Any
) -> None:
    same = Turn(
        tool_calls=(
            ToolCall("search", {"query": "x"}, "a"),
            ToolCall("search", {"query": "x"}, "b"),
        )
    )
    model.push(same, "Found it.")
    config = {"tools": [agentool_otel.tool(search)]}
    client.models.generate_content(model=FLASH, contents="Hello", config=config)
    steps = agent_traces.trace.to_dict()["steps"]
    assert [step["type"] for step in steps] == ["tool_call", "tool_result"] * 2
    assert [step["tool_result"]["output"] for step in steps[1::2]] == ["found x"] * 2


def test_a_tool_of_an_mcp_session_is_one_call(
    new_client: Callable[..., Any], model: LoopbackModel, spans: Any
) -> None:
    mcp: Any = pytest.importorskip("mcp")
    if not hasattr(mcp, "Client"):
        pytest.skip("mcp 1")
    server = import_module("mcp.server").MCPServer("server")
    server.tool()(search)
    model.push(Turn(tool_calls=(ToolCall("search", {"query": "x"}, "call-7"),)), "Found it.")

    async def main() -> None:
        async with mcp.Client(server) as session, entered(new_client().aio) as client:
            config = {"tools": [session.session]}
            await client.models.generate_content(model=FLASH, contents="Hello", config=config)

    asyncio.run(main())
    [tool] = by_name(spans, "execute_tool search")
    assert tool.attributes["gen_ai.tool.call.id"] == "call-7"
    assert "found x" in tool.attributes["gen_ai.tool.call.result"]
