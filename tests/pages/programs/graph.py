"""A LangGraph agent with a thread, a retriever below a tool, and two tools whose errors are handled
on the way to the model: by the graph and by the tool itself. Run by `tests.pages`."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import ToolException, tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


class Handbook(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [
            Document(id="doc-1", page_content="A trip needs a ticket.", metadata={"page": 7}),
            Document(id="doc-2", page_content="Night trains run all year."),
        ]


@tool
def look_up(question: str, config: RunnableConfig) -> str:
    """Look something up in the handbook."""
    result = Handbook().invoke(question, config)
    return " ".join(document.page_content for document in result)


@tool
def book(train: str) -> str:
    """Book a train."""
    raise RuntimeError(f"train {train} is sold out")


@tool
def reserve(seats: int) -> str:
    """Reserve seats."""
    raise ToolException(f"there are no {seats} seats left")


reserve.handle_tool_error = True
tools = [look_up, book, reserve]
model = ChatOpenAI(model="gpt-5", max_retries=0, streaming=True, stream_usage=True).bind_tools(
    tools
)


def call_model(state: MessagesState) -> dict[str, Any]:
    return {"messages": [model.invoke(state["messages"])]}


builder = StateGraph(MessagesState)
builder.add_node("model", call_model)
builder.add_node("tools", ToolNode(tools, handle_tool_errors=True))
builder.add_edge(START, "model")
builder.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
builder.add_edge("tools", "model")
traveller = builder.compile(name="traveller")

config: RunnableConfig = {
    "configurable": {"thread_id": "s-graph"},
    "metadata": {"user_id": "ada"},
}
asked = cast("Any", {"messages": [{"role": "user", "content": "Book me a night train."}]})
for _ in traveller.stream(asked, config):
    pass
