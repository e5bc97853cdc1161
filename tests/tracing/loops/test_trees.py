"""The spans of plain loops: one tree for each turn, one session for each chat."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry.trace import SpanKind

import agentool_otel
from agentool_otel.ground.json_codec import loads
from agentool_otel.testing.loopback_model import LoopbackModel, Turn, call
from agentool_otel.tracing.spans.settings import settings
from tests.tracing.loops.plain_programs import (
    FUNCTIONS,
    ROUND,
    TOOLS,
    TREE,
    Program,
    client_of,
    roots,
    sessions,
    trees,
    wanted,
)


def test_a_loop_is_one_tree(client: Any, spans: Any, model: LoopbackModel) -> None:
    model.push(*ROUND, "Done.")
    assert Program(client).ask("Q") == "Done."
    assert trees(spans) == [TREE]
    assert len(sessions(spans)) == 1


def test_the_root_has_input_output_and_status(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(*ROUND, "Done.")
    Program(client).ask("Q")
    (root,) = roots(spans)
    assert root["agentool.status"] == "success"
    assert loads(root["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "Q"}]}
    ]
    assert loads(root["gen_ai.output.messages"])[0]["parts"] == [
        {"type": "text", "content": "Done."}
    ]


def test_decorated_tools_are_where_the_others_are(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(*ROUND, "Done.")
    Program(client, {name: agentool_otel.tool(each) for name, each in FUNCTIONS.items()}).ask("Q")
    assert trees(spans) == [TREE]
    assert not any(span.attributes.get("agentool.inferred") == "times" for span in spans.finished())


def test_tools_that_nobody_decorated_have_inferred_times(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(*ROUND, "Done.")
    Program(client).ask("Q")
    tools = {
        span.attributes["gen_ai.tool.call.arguments"]: span.attributes
        for span in spans.finished()
        if span.attributes.get("agentool.inferred") == "times"
    }
    assert {key: value["gen_ai.tool.name"] for key, value in tools.items()} == {
        '{"q":"a"}': "search",
        '{"q":"b"}': "search",
        '{"q":"c"}': "weather",
    }
    assert loads(tools['{"q":"a"}']["gen_ai.tool.call.result"]) == {"result": "page of a"}


def test_the_steps_of_one_answer_claim_no_order(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(ROUND[1], "Done.")
    Program(client).ask("Q")
    root = next(span for span in spans.finished() if span.name == "invoke_agent")
    kinds = [event.attributes["agentool.step.type"] for event in root.events]
    assert kinds == ["tool_call", "tool_call", "tool_result", "tool_result"]


def test_tools_that_nobody_decorated_begin_in_the_order_of_their_requests(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(ROUND[1], "Done.")
    Program(client).ask("Q")
    tools = [span for span in spans.finished() if span.name.startswith("execute_tool")]
    tools.sort(key=lambda span: span.start_time // 1_000)  # what servers keep of it
    names = [span.name for span in tools]
    assert names == ["execute_tool search", "execute_tool weather"]
    assert tools[0].start_time // 1_000 < tools[1].start_time // 1_000


@pytest.mark.parametrize("turns", [1, 3])
def test_each_turn_is_a_run_and_a_chat_a_session(
    client: Any, spans: Any, model: LoopbackModel, turns: int
) -> None:
    program = Program(client)
    for number in range(turns):
        model.push(*ROUND, f"Answer {number}.")
        program.ask(f"Question {number}")
    assert trees(spans) == [TREE] * turns
    inputs = [loads(root["gen_ai.input.messages"]) for root in roots(spans)]
    assert [[each["parts"][0]["content"] for each in item] for item in inputs] == [
        [f"Question {number}"] for number in range(turns)
    ]
    assert len(sessions(spans)) == 1


def test_a_chat_without_tools_is_bare_calls_of_one_session(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    program = Program(client)
    for number in range(3):
        model.push(f"  Answer {number}.\n")
        program.ask(f"Question {number}", tools=None)
        program.messages[-1]["content"] = program.messages[-1]["content"].strip()
    assert trees(spans) == ["chat"] * 3
    assert len(sessions(spans)) == 1


def test_chats_apart_are_sessions_apart(client: Any, spans: Any, model: LoopbackModel) -> None:
    for number in range(3):
        model.push("Hello.", f"Answer {number}.")
        program = Program(client)
        program.ask("Hi", tools=None)
        program.ask(f"Question {number}", tools=None)
    assert len(sessions(spans)) == 3
    in_order = [span.attributes["agentool.session.id"] for span in spans.finished()]
    assert in_order[0::2] == in_order[1::2]


def test_a_window_over_the_history_keeps_the_session(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    program = Program(client)
    for number in range(5):
        model.push(f"Answer {number}.")
        program.messages = program.messages[-2:]
        program.ask(f"Question {number}", tools=None)
    assert len(sessions(spans)) == 1


@pytest.mark.parametrize("stored", [True, False])
def test_responses_are_joined(client: Any, spans: Any, model: LoopbackModel, stored: bool) -> None:
    tools = [{"type": "function", "name": "search", "parameters": {"type": "object"}}]
    history: list[Any] = []
    previous = None
    for question in ("FIRST", "SECOND"):
        model.push(call("search", q="a"), f"Answer to {question}.")
        new: list[Any] = [{"role": "user", "content": question}]
        while new:
            history += new
            response = client.responses.create(
                model="m",
                tools=tools,
                input=new if stored else history,
                previous_response_id=previous if stored else None,
            )
            history += [item.model_dump(exclude_none=True) for item in response.output]
            previous = response.id
            new = [
                {"type": "function_call_output", "call_id": item.call_id, "output": "found"}
                for item in response.output
                if item.type == "function_call"
            ]
    assert trees(spans) == ["invoke_agent[chat, search, chat]"] * 2
    assert len(sessions(spans)) == 1


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_streamed_loop_is_one_tree(spans: Any, model: LoopbackModel, is_async: bool) -> None:
    model.push(call("search", q="a"), "Done.")
    messages: list[Any] = [{"role": "user", "content": "Q"}]
    options: dict[str, Any] = {"model": "m", "tools": TOOLS, "stream": True}

    async def play_async() -> None:
        async with client_of(model, "AsyncOpenAI") as client:
            for _ in range(2):
                stream = await client.chat.completions.create(messages=messages, **options)
                add(messages, [chunk async for chunk in stream])

    def play() -> None:
        with client_of(model) as client:
            for _ in range(2):
                add(messages, list(client.chat.completions.create(messages=messages, **options)))

    if is_async:
        asyncio.run(play_async())
    else:
        play()
    assert trees(spans) == ["invoke_agent[chat, search, chat]"]


def add(messages: list[Any], chunks: list[Any]) -> None:
    """Add a streamed answer, and the results of its calls."""
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
    pieces = [piece for delta in deltas for piece in delta.tool_calls or ()]
    if not pieces:
        return
    function = {
        "name": pieces[0].function.name,
        "arguments": "".join(piece.function.arguments or "" for piece in pieces),
    }
    requested = {"id": pieces[0].id, "type": "function", "function": function}
    messages.append({"role": "assistant", "content": None, "tool_calls": [requested]})
    result = FUNCTIONS["search"](**json.loads(function["arguments"]))
    messages.append({"role": "tool", "tool_call_id": requested["id"], "content": result})


def test_loops_in_turns_in_one_thread_are_apart(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    programs = [Program(client) for _ in range(3)]
    for program in programs:
        program.messages.append({"role": "user", "content": "the same"})
    for _ in range(2):
        model.push(*[Turn(tool_calls=(wanted("search", "a"),))] * 3)
        for program in programs:
            program.send(program.step())
    model.push("x", "y", "z")
    for program in programs:
        program.step()
    assert trees(spans) == ["invoke_agent[chat, search, chat, search, chat]"] * 3
    assert len(sessions(spans)) == 3


def equal_answers(model: LoopbackModel) -> None:
    """Let a model give all loops the same answers, with the same ids of calls."""

    @model.rule
    def _(request: Any) -> Turn:
        results = sum(message["role"] == "tool" for message in request.messages)
        if results < 2:
            return Turn(tool_calls=(wanted("search", "a", "call_0"),))
        return Turn(text="Done.")


def test_equal_loops_in_tasks_are_apart(spans: Any, model: LoopbackModel) -> None:
    equal_answers(model)

    async def play(client: Any) -> None:
        messages: list[Any] = [{"role": "user", "content": "the same"}]
        for _ in range(3):
            completion = await client.chat.completions.create(
                model="m", messages=messages, tools=TOOLS
            )
            message = completion.choices[0].message.model_dump(exclude_none=True)
            messages.append(message)
            for each in message.get("tool_calls") or ():
                messages.append({"role": "tool", "tool_call_id": each["id"], "content": "x"})

    async def play_all() -> None:
        async with client_of(model, "AsyncOpenAI") as client:
            await asyncio.gather(*(play(client) for _ in range(12)))

    asyncio.run(play_all())
    assert trees(spans) == ["invoke_agent[chat, search, chat, search, chat]"] * 12


def test_equal_loops_in_threads_are_apart(client: Any, spans: Any, model: LoopbackModel) -> None:
    equal_answers(model)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: Program(client).ask("the same"), range(8)))
    assert trees(spans) == ["invoke_agent[chat, search, chat, search, chat]"] * 8


def test_a_run_is_below_the_request_that_it_serves(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    assert settings.provider is not None
    tracer = settings.provider.get_tracer("web")
    for kind in (SpanKind.SERVER, SpanKind.CONSUMER):
        model.push(*ROUND, "Done.")
        with tracer.start_as_current_span("POST", kind=kind):
            Program(client).ask("Q")
    assert trees(spans) == [f"POST[{TREE}]"] * 2


def test_a_loop_over_several_requests_is_a_run_in_each(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    assert settings.provider is not None
    tracer = settings.provider.get_tracer("web")
    program = Program(client)
    program.messages.append({"role": "user", "content": "Q"})
    model.push(*ROUND, "Done.")
    for _ in range(3):
        with tracer.start_as_current_span("POST", kind=SpanKind.SERVER):
            program.send(program.step())
    assert trees(spans) == [
        "POST[invoke_agent[chat]]",
        "POST[invoke_agent[search, chat]]",
        "POST[invoke_agent[search, weather, chat]]",
    ]
    assert [root["agentool.status"] for root in roots(spans)] == [
        "in_progress",
        "in_progress",
        "success",
    ]
    assert {root.get("agentool.interrupted") for root in roots(spans)} == {"continued", None}
    ids = {root["agentool.session.id"] for root in roots(spans)}
    assert len(ids) == 1


def test_a_session_of_the_program_is_kept(client: Any, spans: Any, model: LoopbackModel) -> None:
    model.push(*ROUND, "Done.")
    with agentool_otel.session("mine"):
        Program(client).ask("Q")
    assert all("agentool.session.id" not in span.attributes for span in spans.finished())
    assert {span.attributes["gen_ai.conversation.id"] for span in spans.finished()} == {"mine"}


def test_the_run_has_the_name_of_the_agent(client: Any, spans: Any, model: LoopbackModel) -> None:
    settings.agent = "helper"
    model.push(*ROUND, "Done.")
    Program(client).ask("Q")
    assert trees(spans) == [TREE.replace("invoke_agent", "invoke_agent helper")]


def test_calls_reported_by_hand_are_a_run(spans: Any) -> None:
    messages: list[Any] = [{"role": "user", "content": "Q"}]
    for number in range(3):
        with agentool_otel.model_call(
            "m", messages=messages, tools=TOOLS, provider="own"
        ) as reported:
            if number == 2:
                reported.output("Done.")
                break
            requested = {
                "id": f"c{number}",
                "type": "function",
                "function": {"name": "search", "arguments": '{"q": "a"}'},
            }
            answer = {"role": "assistant", "content": None, "tool_calls": [requested]}
            reported.output(answer)
        messages += [answer, {"role": "tool", "tool_call_id": f"c{number}", "content": "x"}]
    assert trees(spans) == ["invoke_agent[chat, search, chat, search, chat]"]


def test_content_off_keeps_no_text(client: Any, spans: Any, model: LoopbackModel) -> None:
    spans.without_content()
    program = Program(client)
    for _ in range(2):
        model.push(*ROUND, "Done, canary.")
        program.ask("Question, canary.")
    assert trees(spans) == [TREE] * 2
    assert len(sessions(spans)) == 1
    assert "canary" not in str([dict(span.attributes) for span in spans.finished()])
    assert "page of" not in str([dict(span.attributes) for span in spans.finished()])


def test_ids_of_calls_tell_chats_apart_that_begin_alike(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    programs = [Program(client) for _ in range(2)]
    for question in ("hi", "more"):
        for number, program in enumerate(programs):
            answer = "done" if question == "hi" else f"Answer {number}"
            model.push(call("search", q="1"), answer)
            program.ask(question)
    in_order = [root["agentool.session.id"] for root in roots(spans)]
    assert in_order[:2] == in_order[2:]
    assert len(set(in_order)) == 2


def test_a_tool_that_another_request_approves_is_in_the_later_run(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    assert settings.provider is not None
    tracer = settings.provider.get_tracer("web")
    program = Program(client)
    program.messages.append({"role": "user", "content": "Q"})
    model.push(call("search", q="a"), "Done.")
    with tracer.start_as_current_span("POST", kind=SpanKind.SERVER):
        calls = program.step()
    with tracer.start_as_current_span("POST", kind=SpanKind.SERVER):
        program.send(calls)
        program.step()
    assert trees(spans) == ["POST[invoke_agent[chat]]", "POST[invoke_agent[search, chat]]"]
    for span in spans.finished():
        above = span.parent
        starts = {each.context.span_id: each.start_time for each in spans.finished()}
        assert above is None or starts.get(above.span_id, 0) <= span.start_time
