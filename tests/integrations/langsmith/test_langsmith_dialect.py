"""LangSmith, written from its exporter and after a recording (`spans/langsmith-*.jsonl`)."""

from __future__ import annotations

import json
from typing import Any

from tests.dialects.spelled import coverage, event, span, spelled, text

BELOW = {"parent_id": "3" * 16, "scope": "langsmith"}


def said(kind: str, inputs: Any, outputs: Any, **attributes: Any) -> dict[str, Any]:
    return {
        "langsmith.span.kind": kind,
        "gen_ai.prompt": json.dumps(inputs),
        "gen_ai.completion": json.dumps(outputs),
        **attributes,
    }


CALL = {"name": "look", "args": {"city": "Paris"}, "id": "c1", "type": "tool_call"}
ASKED = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "messages", "HumanMessage"],
    "kwargs": {"content": "Weather?", "type": "human"},
}
MADE = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "messages", "AIMessage"],
    "kwargs": {"content": "", "tool_calls": [CALL], "type": "ai"},
}
SPANS = [
    span(
        said(
            "chain",
            {"messages": [["user", "Weather?"]]},
            {
                "messages": [
                    {"type": "human", "content": "Weather?"},
                    {"type": "ai", "content": "18"},
                ]
            },
            **{
                "gen_ai.operation.name": "chain",
                "langsmith.trace.name": "LangGraph",
                "langsmith.trace.session_id": "a-project",
                "langsmith.metadata.thread_id": "t1",
            },
        ),
        name="LangGraph",
    ),
    span(
        said(
            "llm",
            {"messages": [[ASKED]]},
            {"generations": [[{"text": "", "message": MADE}]]},
            **{
                "gen_ai.operation.name": "chat",
                "gen_ai.system": "openai",
                "gen_ai.request.model": "gpt-5",
                "gen_ai.usage.input_tokens": 20,
                "gen_ai.usage.output_tokens": 6,
                "gen_ai.usage.input_token_details": '{"cache_read": 8}',
                "gen_ai.usage.output_token_details": '{"reasoning": 2}',
                "langsmith.cost.total": 0.02,
            },
        ),
        name="ChatOpenAI",
        **BELOW,
    ),
    span(
        said(
            "tool",
            {"input": '{"city": "Paris"}'},
            {"output": {"type": "tool", "tool_call_id": "c1", "name": "look", "content": "18"}},
            **{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"},
        ),
        name="look",
        **BELOW,
    ),
    span(
        said(
            "retriever",
            {"query": "Paris"},
            {"documents": [{"page_content": "A city."}]},
            **{"gen_ai.operation.name": "embeddings"},
        ),
        **BELOW,
    ),
    span(said("chain", {}, {}), name="ChannelWrite<agent>", **BELOW),
    span(said("prompt", {"q": 1}, {"messages": []}), name="ChatPromptTemplate", **BELOW),
]


def test_runs_are_read() -> None:
    assert spelled(*SPANS) == text("""
        langsmith: agent agent=LangGraph session=t1
          > user: Weather?
          < assistant: 18
        langsmith: chat provider=openai model=gpt-5 cost=0.02 in=20 out=6 cached=8 reasoning=2
          > user: Weather?
          < assistant: [call c1] look {"city":"Paris"}
        langsmith: tool look call=c1 arguments={"city":"Paris"} result="18"
        langsmith: retrieval query=Paris documents=[{"page_content":"A city."}]
        langsmith: unclassified
        langsmith: unclassified
    """)
    assert coverage(SPANS) == 0.85


def test_the_error_is_the_last_line_of_the_traceback() -> None:
    described = (
        "ValueError('no station')\n\nTraceback (most recent call last):\n"
        '  File "a.py", line 1, in look\n    raise\nValueError: no station\n'
    )
    failed = span(
        said("tool", {"city": "Rome"}, {}, **{"gen_ai.tool.name": "look"}),
        event("exception", **{"exception.type": "Exception", "exception.message": described}),
        status="ERROR",
        **BELOW,
    )
    failed.attributes["gen_ai.completion"] = '{"output":null}'
    assert spelled(failed) == text("""
        langsmith: tool look error=ValueError message=no station arguments={"city":"Rome"}
    """)


def test_usage_details_are_read_from_a_python_repr() -> None:
    called = span(
        said("llm", {}, {}, **{"gen_ai.usage.input_token_details": "{'cache_read': 8}"}), **BELOW
    )
    assert spelled(called) == "langsmith: chat cached=8"


def test_a_graph_named_after_its_agent_is_one() -> None:
    run = span(
        said(
            "chain",
            {"messages": [["user", "Weather?"]]},
            {"messages": [{"type": "ai", "content": "18"}]},
            **{"langsmith.metadata.lc_agent_name": "weather"},
        ),
        name="weather",
    )
    assert spelled(run).startswith("langsmith: agent agent=weather")


def test_the_items_of_a_response_are_one_answer() -> None:
    words = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hm."}]}
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    called = span(said("llm", {"input": "Weather?"}, {"output": [words, call]}), **BELOW)
    assert spelled(called) == text("""
        langsmith: chat
          > user: Weather?
          < assistant: Hm. | [call c1] look {}
    """)
