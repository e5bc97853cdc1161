"""LangGraph's store, as memory steps of the run around it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

import agentool_otel

pytest.importorskip("langgraph")

NAMESPACE = ("users", "u1")


@pytest.fixture(autouse=True)
def instrumented(spans: Any) -> Iterator[None]:
    from agentool_otel.integrations.langchain.instrumentor.patches import LangChainInstrumentor

    LangChainInstrumentor().instrument()
    yield
    LangChainInstrumentor().uninstrument()


def use(store: Any) -> None:
    store.put(NAMESPACE, "name", {"is": "Ada"})
    store.get(NAMESPACE, "name")
    store.search(("users",), query="Who?", limit=3)
    store.delete(NAMESPACE, "name")


async def ause(store: Any) -> None:
    await store.aput(NAMESPACE, "name", {"is": "Ada"})
    await store.aget(NAMESPACE, "name")
    await store.asearch(("users",), query="Who?", limit=3)
    await store.adelete(NAMESPACE, "name")


EXPECTED = ["upsert_memory", "search_memory", "search_memory", "delete_memory"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_reads_and_writes_are_memory_spans(spans: Any, asynchronous: bool) -> None:
    from langgraph.store.memory import InMemoryStore

    if asynchronous:
        asyncio.run(ause(InMemoryStore()))
    else:
        use(InMemoryStore())
    put, get, search, delete = spans.finished()
    assert [span.name for span in (put, get, search, delete)] == EXPECTED
    assert put.attributes["gen_ai.memory.store.id"] == "users/u1"
    for one in (put, get, delete):
        assert one.attributes["gen_ai.memory.record.id"] == "name"
    assert put.attributes["gen_ai.memory.records"] == '[{"content":{"is":"Ada"}}]'
    assert get.attributes["gen_ai.memory.query.text"] == "name"
    assert get.attributes["gen_ai.memory.records"] == '[{"content":{"is":"Ada"}}]'
    counts = [span.attributes["gen_ai.memory.record.count"] for span in (put, get, delete)]
    assert counts == [1, 1, 1]
    assert search.attributes["gen_ai.memory.store.id"] == "users"
    assert search.attributes["gen_ai.memory.query.text"] == "Who?"
    assert search.attributes["gen_ai.memory.record.count"] == 1
    records = search.attributes["gen_ai.memory.records"]
    assert records == '[{"content":{"is":"Ada"},"id":"name"}]'


def test_of_what_is_not_there_no_record_is_found(spans: Any) -> None:
    from langgraph.store.memory import InMemoryStore

    InMemoryStore().get(NAMESPACE, "nothing")
    assert spans.attributes()["gen_ai.memory.records"] == "[]"
    assert spans.attributes()["gen_ai.memory.record.count"] == 0


def test_a_node_that_remembers_makes_steps_of_its_run(spans: Any) -> None:
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.store.memory import InMemoryStore

    store = InMemoryStore()

    def remember(_: Any) -> Any:
        use(store)
        return {"messages": []}

    built: Any = StateGraph(MessagesState)
    built.add_node("remember", remember)
    built.add_edge(START, "remember")
    built.compile(name="keeper", store=store).invoke({"messages": []})
    assert spans.tree().splitlines() == [
        "invoke_agent keeper",
        *[f"  {name}" for name in EXPECTED],
    ]
    steps = [event.attributes["agentool.step.type"] for event in spans.finished()[-1].events]
    assert steps == ["memory_write", "memory_read", "memory_read", "memory_write"]


def test_an_override_that_calls_its_parent_is_one_span(spans: Any) -> None:
    from langgraph.store.memory import InMemoryStore

    class Mine(InMemoryStore):
        def get(self, *args: Any, **kwargs: Any) -> Any:
            return super().get(*args, **kwargs)

    Mine().get(NAMESPACE, "name")
    assert len(spans.finished()) == 1


def test_a_store_that_batches_in_the_background_is_seen_once(spans: Any) -> None:
    from langgraph.store.base.batch import AsyncBatchedBaseStore
    from langgraph.store.memory import InMemoryStore

    behind = InMemoryStore()

    class Batched(AsyncBatchedBaseStore):
        def batch(self, ops: Iterable[Any]) -> Any:
            return behind.batch(ops)

        async def abatch(self, ops: Iterable[Any]) -> Any:
            return behind.batch(ops)

    async def main() -> None:
        store = Batched()
        with agentool_otel.run("keeper"):
            await ause(store)
            await asyncio.to_thread(use, store)

    asyncio.run(main())
    *memory, run = spans.finished()
    assert [span.name for span in memory] == EXPECTED * 2
    assert {span.parent.span_id for span in memory[:4]} == {run.context.span_id}


def test_a_store_that_fails_is_an_error(spans: Any) -> None:
    from langgraph.store.memory import InMemoryStore

    with pytest.raises(ValueError, match="amespace"):
        InMemoryStore().put((), "name", {"is": "Ada"})
    assert spans.only().status.status_code.name == "ERROR"


def test_without_content_names_and_counts_are_left(spans: Any) -> None:
    from langgraph.store.memory import InMemoryStore

    spans.without_content()
    use(InMemoryStore())
    for span in spans.finished():
        assert "Ada" not in str(dict(span.attributes))
    assert spans.finished()[2].attributes["gen_ai.memory.record.count"] == 1
