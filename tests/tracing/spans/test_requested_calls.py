"""The model's request that the span of a tool executes."""

from __future__ import annotations

import asyncio
import contextvars
import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel import model_call, tool
from agentool_otel.model.operations import ToolExecution
from agentool_otel.tracing.spans import requested_calls
from agentool_otel.tracing.spans.live import begin
from agentool_otel.tracing.spans.settings import settings

ID, NAME = "gen_ai.tool.call.id", "gen_ai.tool.name"
ARGUMENTS = "gen_ai.tool.call.arguments"


@pytest.fixture(autouse=True)
def _no_earlier_answers() -> None:
    requested_calls._answers.set(())
    requested_calls.open_answers.clear()


@tool
def search(query: str, limit: int = 10, db: Any = None) -> str:
    return query


@tool
def lookup(request: dict[str, Any]) -> str:
    return "found"


def request(*calls: tuple[str, str, Any]) -> None:
    """Record a model call that requests tool calls: id, name and arguments of each."""
    parts = [
        {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}
        for call_id, name, arguments in calls
    ]
    with model_call("m", provider="p") as call:
        call.output([{"role": "assistant", "parts": parts}])


def ids(spans: Any) -> list[str | None]:
    """Return the id of each tool call, in the order of their start."""
    tools = [span for span in spans.finished() if NAME in span.attributes]
    return [span.attributes.get(ID) for span in sorted(tools, key=lambda item: item.start_time)]


def test_equal_arguments(spans: Any) -> None:
    request(("1", "search", {"query": "a"}), ("2", "search", {"query": "a", "limit": 3}))
    search("a", limit=3)
    search("a")
    assert ids(spans) == ["2", "1"]


def test_added_arguments_and_defaults(spans: Any) -> None:
    request(("1", "search", {"query": "a"}), ("2", "search", {"query": "b"}))
    search("b", db="handle")
    search("a", limit=3)
    assert ids(spans) == ["2", "1"]


def test_one_dict(spans: Any) -> None:
    request(("1", "lookup", {"id": 1}), ("2", "lookup", {"id": 2}))
    lookup({"id": 2})
    assert ids(spans) == ["2"]


def test_the_name_alone_if_requested_once(spans: Any) -> None:
    request(("1", "search", {"q": "a"}), ("2", "lookup", {"q": "a"}))
    search("rewritten")
    assert ids(spans) == ["1"]


def test_equal_calls_in_order(spans: Any) -> None:
    request(("1", "search", {"query": "a"}), ("2", "search", {"query": "a"}))
    search("a")
    search("a")
    search("a")
    assert ids(spans) == ["1", "2", None]


def test_no_id_where_several_requests_fit(spans: Any) -> None:
    request(("1", "search", {"q": "a"}), ("2", "search", {"q": "b"}))
    search("rewritten")
    assert ids(spans) == [None]


def test_a_retry_is_not_the_other_call(spans: Any) -> None:
    request(("1", "search", {"query": "a"}), ("2", "search", {"query": "b"}))
    search("a")
    search("a")
    search("b")
    assert ids(spans) == ["1", None, "2"]


def test_without_content(spans: Any) -> None:
    spans.without_content()
    request(("1", "search", {"query": "a"}))
    search("a")
    assert ids(spans) == ["1"]


def test_conversations_in_tasks_keep_their_own_equal_calls(spans: Any) -> None:
    async def conversation(number: int) -> None:
        request((str(number), "search", {"query": "same"}))
        await asyncio.sleep(0)
        search("same", limit=number)

    async def all_of_them() -> None:
        await asyncio.gather(*map(conversation, range(20)))

    asyncio.run(all_of_them())
    tools = [span for span in spans.finished() if NAME in span.attributes]
    results = {
        (span.attributes[ID], json.loads(span.attributes["gen_ai.tool.call.arguments"])["limit"])
        for span in tools
    }
    assert results == {(str(number), number) for number in range(20)}


def test_a_thread_without_a_context_finds_the_only_request(spans: Any) -> None:
    request(("1", "search", {"query": "a"}))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(contextvars.Context().run, search, "a").result()
    assert ids(spans) == ["1"]


def test_a_thread_without_a_context_takes_none_of_two_conversations(spans: Any) -> None:
    for number in "12":
        contextvars.Context().run(request, (number, "search", {"query": "a"}))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(contextvars.Context().run, search, "a").result()
    assert ids(spans) == [None]


def test_model_calls_inside_a_tool_do_not_take_its_siblings_requests(spans: Any) -> None:
    @tool
    def delegate(task: str) -> None:
        request(("inner", "search", {"query": task}))
        search(task)

    request(("1", "delegate", {"task": "a"}), ("2", "search", {"query": "a"}))
    delegate("a")
    search("a")
    assert ids(spans) == ["1", "inner", "2"]


def test_memory_is_bounded(spans: Any) -> None:
    for number in range(70):
        request(*((f"{number}.{index}", "unknown", {}) for index in range(257)))
    spans.forget()
    assert len(requested_calls.open_answers) == 64
    assert len(requested_calls._answers.get()) == 16
    assert all(len(item.pending) <= 256 for item in requested_calls.open_answers)


values = st.integers(0, 2) | st.sampled_from(["a", "b"])
arguments = st.dictionaries(st.sampled_from(["x", "y"]), values, max_size=2)
requests = st.lists(st.tuples(st.sampled_from(["t", "u"]), arguments), max_size=5)


@given(requests, st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=8))
def test_a_span_has_the_id_of_a_request_that_fits_and_no_id_twice(
    asked: list[tuple[str, dict[str, Any]]], executed: list[tuple[int, bool]]
) -> None:
    """Whatever is executed, in whichever order, with or without an added argument."""
    calls = [
        requested_calls.call_of(name, str(number), value)
        for number, (name, value) in enumerate(asked)
    ]
    answer = requested_calls.Answer(calls)
    taken: list[str] = []
    for number, added in executed:
        if number >= len(asked):
            continue
        name, wanted = asked[number]
        value = {**wanted, "db": "handle"} if added else wanted
        result = requested_calls.take([answer], name, partial(dict, value))
        if result is None:
            continue
        taken.append(result)
        its_name, its_arguments = asked[int(result)]
        assert its_name == name
        names = [item for item, _ in asked]
        assert its_arguments.items() <= value.items() or names.count(name) == 1
    assert len(taken) == len(set(taken))


def test_a_span_whose_id_is_known_retires_the_request(spans: Any) -> None:
    request(("1", "search", {"query": "a"}))
    live = begin(ToolExecution(name="search", call_id="1"))
    assert live is not None
    live.end(ToolExecution(name="search", call_id="1"))
    search("a")
    assert ids(spans) == ["1", None]


def test_a_model_in_another_thread_is_linked_by_its_parent(spans: Any) -> None:
    def serve(number: str) -> None:
        with served(number), ThreadPoolExecutor(1) as pool:
            context = contextvars.copy_context()
            pool.submit(context.run, request, (number, "search", {"query": "a"})).result()
            barrier.wait()
            search("a", limit=int(number))

    barrier = Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(serve, "1234"))
    tools = [span for span in spans.finished() if NAME in span.attributes]
    results = [
        (item.attributes[ID], json.loads(item.attributes[ARGUMENTS])["limit"]) for item in tools
    ]
    assert sorted(results) == [(number, int(number)) for number in "1234"]


def served(number: str) -> Any:
    """Return the span of a request to a web server, as a web framework makes it current."""
    assert settings.provider is not None
    return settings.provider.get_tracer("web").start_as_current_span(f"request {number}")
