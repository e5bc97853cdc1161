"""Conversation, user and agent on every span that LangChain, LangGraph and openai give rise to."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.testing.loopback_model import call
from agentool_otel.tracing.capture import run, session, tool
from tests.integrations.langchain.langchain_agents import (
    ASKED,
    WAYS,
    an_agent,
    chat,
    instrumented,
    run_it,
    searcher,
)

__all__ = ["chat", "instrumented"]

pytest.importorskip("langchain")
pytest.importorskip("langgraph")
pytest.importorskip("langchain_openai")

pytestmark = pytest.mark.filterwarnings("ignore:.*has been moved to `langchain.agents`")

AGENT, CONVERSATION, USER = "gen_ai.agent.name", "gen_ai.conversation.id", "user.id"
OURS = {AGENT: "helper", CONVERSATION: "s1", USER: "u1"}


def identities(spans: Any) -> dict[str, dict[str, Any]]:
    """Return conversation, user and agent of each span, by its name."""
    return {
        span.name: {key: attribute for key, attribute in span.attributes.items() if key in OURS}
        for span in spans.finished()
    }


@tool
def look(at: str) -> str:
    return at


CONFIGS: list[dict[str, Any]] = [
    {"metadata": {"thread_id": "s1", "user_id": "u1"}},
    {"metadata": {"session_id": "s1", "user_id": "u1"}},
    {"metadata": {"conversation_id": "s1", "user_id": "u1"}},
    {"configurable": {"thread_id": "s1"}, "metadata": {"user_id": "u1"}},
]


def searching(chat: Any, model: Any, way: str) -> Any:
    from langgraph.store.memory import InMemoryStore

    store = InMemoryStore()

    def body(query: str) -> str:
        store.search(("notes",), query=query)
        return look(query)

    model.push(call("search", query="OTel"), "Done.")
    return an_agent(chat, searcher(way[0] == "a", body), name="helper")


BELOW = [
    *("search_memory", "execute_tool look", "execute_tool search", "chat gpt-5"),
    "invoke_agent helper",
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda item: ",".join(item) + str(len(str(item))))
@pytest.mark.parametrize("way", WAYS)
def test_what_the_config_names_is_on_every_span_of_the_run(
    spans: Any, model: Any, chat: Any, way: str, config: dict[str, Any]
) -> None:
    run_it(searching(chat, model, way), way, ASKED, config)
    assert identities(spans) == dict.fromkeys(BELOW, OURS)


@pytest.mark.parametrize("way", WAYS)
def test_a_session_around_names_the_run_and_all_below(
    spans: Any, model: Any, chat: Any, way: str
) -> None:
    with session("s1", user_id="u1"):
        run_it(searching(chat, model, way), way, ASKED)
    assert identities(spans) == dict.fromkeys(BELOW, OURS)


def test_the_config_wins_over_the_session_around(spans: Any, model: Any, chat: Any) -> None:
    config: Any = {"configurable": {"thread_id": "s1"}}
    with session("other", user_id="u1"):
        run_it(searching(chat, model, "invoke"), "invoke", ASKED, config)
    assert identities(spans) == dict.fromkeys(BELOW, OURS)


def test_a_run_inside_a_tool_overrides_langchains_config(spans: Any, model: Any, chat: Any) -> None:
    def body(query: str) -> str:
        with run("inner", session_id="s2"):
            return str(chat.invoke(query).content)

    model.push(call("search", query="OTel"), "Inside.", "Done.")
    agent = an_agent(chat, searcher(body=body), name="helper")
    agent.invoke(ASKED, {"metadata": {"thread_id": "s1", "user_id": "u1"}})
    results = [
        (span.name, span.attributes[AGENT], span.attributes[CONVERSATION], span.attributes[USER])
        for span in spans.finished()
    ]
    assert results == [
        ("chat gpt-5", "helper", "s1", "u1"),
        ("chat gpt-5", "inner", "s2", "u1"),
        ("invoke_agent inner", "inner", "s2", "u1"),
        ("execute_tool search", "helper", "s1", "u1"),
        ("chat gpt-5", "helper", "s1", "u1"),
        ("invoke_agent helper", "helper", "s1", "u1"),
    ]


def test_a_handoff_by_command_carries_them_and_its_type(spans: Any, model: Any, chat: Any) -> None:
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.types import Command

    built: Any = StateGraph(MessagesState)
    built.add_node("planner", lambda state: Command(goto="writer"))
    built.add_node("writer", lambda state: {"messages": [chat.invoke("Write.")]})
    built.add_edge(START, "planner")
    model.push("Done.")
    config: Any = {"metadata": {"thread_id": "s1", "user_id": "u1"}}
    built.compile(name="helper").invoke(ASKED, config)
    assert identities(spans) == {
        "execute_tool transfer_to_writer": {**OURS, AGENT: "planner"},
        "chat gpt-5": OURS,
        "invoke_agent helper": OURS,
    }
    [handoff] = [item for item in spans.finished() if item.name.startswith("execute_tool")]
    assert handoff.attributes["gen_ai.tool.type"] == "function"


def test_a_model_called_alone_is_named_by_its_config(spans: Any, model: Any, chat: Any) -> None:
    model.push("Hi.")
    chat.invoke("Hello", {"metadata": {"session_id": "s1", "user_id": "u1"}})
    assert identities(spans) == {"chat gpt-5": {CONVERSATION: "s1", USER: "u1"}}


def test_a_retriever_is_named_by_its_config(spans: Any) -> None:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Shelf(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
            return []

    Shelf().invoke("q", {"metadata": {"session_id": "s1", "user_id": "u1"}})
    [result] = identities(spans).values()
    assert result == {CONVERSATION: "s1", USER: "u1"}


@pytest.mark.parametrize("stream", [False, True])
def test_calls_of_a_client_carry_them(spans: Any, model: Any, stream: bool) -> None:
    import openai

    options: Any = {"base_url": model.base_url, "api_key": "none", "max_retries": 0}
    with (
        openai.OpenAI(**options) as client,
        run("helper", session_id="s1", user_id="u1"),
    ):
        request: Any = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hello"}]}
        answer: Any = client.chat.completions.create(**request, stream=stream)
        _ = list(answer) if stream else answer
        answer = client.responses.create(model="gpt-5", input="Hello", stream=stream)
        _ = list(answer) if stream else answer
        client.embeddings.create(model="embed", input="a")
    names = ["chat gpt-5", "embeddings embed", "invoke_agent helper"]
    assert identities(spans) == dict.fromkeys(names, OURS)
    assert len(spans.finished()) == 4
