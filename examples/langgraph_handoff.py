# /// script
# requires-python = ">=3.10"
# dependencies = [
#   "langchain>=1.0",
#   "langchain-openai>=1.0",
#   "langgraph>=1.0",
# ]
# ///
"""Two LangGraph agents: a researcher looks something up and hands over to a writer.

    uv run --with . examples/langgraph_handoff.py   no key, no network: a model server stands in
    OPENAI_API_KEY=... uv run --with . examples/langgraph_handoff.py
    agentool-otel show                              what happened, step by step

The spans are in .agentool/:

    invoke_agent newsroom
      invoke_agent researcher
        chat, execute_tool search_library, chat
        execute_tool transfer_to_writer             the handoff
      invoke_agent writer
        chat
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

import agentool_otel

LIBRARY = {
    "bees": "A worker bee visits some 2,000 flowers a day and makes a twelfth of a teaspoon of "
    "honey in her life. A colony needs about 30 kg to get through the winter.",
    "owls": "An owl turns its head 270 degrees and hears a mouse under half a metre of snow.",
}


@tool
def search_library(topic: str) -> str:
    """Return the library's entry about a topic."""
    for name, entry in LIBRARY.items():
        if name in topic.lower():
            return entry
    return "Nothing found."


@tool
def transfer_to_writer(findings: str) -> Command[Any]:
    """Hand the findings over to the writer, who writes the final answer."""
    handed = HumanMessage(f"Write two sentences for children from this: {findings}")
    return Command(goto="writer", graph=Command.PARENT, update={"messages": [handed]})


def newsroom(model: ChatOpenAI) -> Any:
    """The graph: it starts with the researcher, who decides when the writer goes on."""
    researcher = create_agent(
        model,
        [search_library, transfer_to_writer],
        system_prompt="Search the library, then transfer what you found to the writer.",
        name="researcher",
    )
    writer = create_agent(model, [], system_prompt="You write for children.", name="writer")
    graph = StateGraph(MessagesState)
    graph.add_node("researcher", researcher, destinations=("writer",))
    graph.add_node("writer", writer)
    graph.add_edge(START, "researcher")
    graph.add_edge("writer", END)
    return graph.compile(name="newsroom")


def offline(stack: ExitStack) -> dict[str, Any]:
    """Start a model server on this machine with scripted answers; return its settings."""
    from agentool_otel.testing.loopback_model import LoopbackModel, call

    server = stack.enter_context(LoopbackModel())
    server.push(
        call("search_library", topic="bees and honey"),
        call("transfer_to_writer", findings=LIBRARY["bees"]),
        "One little bee makes only a drop of honey in her whole life. Together, a hive fills "
        "thirty big jars, enough to eat all winter!",
    )
    return {"base_url": server.base_url, "api_key": "none"}


def main() -> None:
    agentool_otel.instrument()
    with ExitStack() as stack:
        settings = {} if os.environ.get("OPENAI_API_KEY") else offline(stack)
        model = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-5-mini"), **settings)
        requests = {"messages": [HumanMessage("How do bees make enough honey for the winter?")]}
        answer = newsroom(model).invoke(requests, {"configurable": {"thread_id": "letters-1"}})
        print(answer["messages"][-1].content)


if __name__ == "__main__":
    main()
