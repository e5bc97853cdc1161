"""Langtrace, after a recording of its SDK (`spans/langtrace-*.jsonl`)."""

from __future__ import annotations

import json

from tests.dialects.spelled import event, span, spelled, text

SCOPE = "langtrace_python_sdk.instrumentation.openai.instrumentation"
TOOL = {"type": "function", "function": {"name": "look"}}


def test_the_function_inside_the_root_span_is_a_run() -> None:
    root = span({}, name="weather", scope="langtrace_python_sdk.utils.with_root_span")
    assert spelled(root) == "langtrace: workflow weather"


def test_a_model_call_is_read_without_the_tool_call_placeholder() -> None:
    requests = [
        {"role": "user", "content": "Weather?"},
        [{"id": "", "type": ""}],
        {"role": "tool", "tool_call_id": "c1", "content": "18"},
    ]
    called = span(
        {
            "langtrace.service.name": "OpenAI",
            "gen_ai.operation.name": "chat",
            "gen_ai.system": "openai",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.request.tools": json.dumps([json.dumps([TOOL])]),
            "gen_ai.usage.input_tokens": 41,
            "gen_ai.usage.cached_tokens": 16,
        },
        event("gen_ai.content.prompt", **{"gen_ai.prompt": json.dumps(requests)}),
        event(
            "gen_ai.content.completion",
            **{"gen_ai.completion": '[{"role": "assistant", "content": "It is 18."}]'},
        ),
        scope=SCOPE,
    )
    assert spelled(called) == text("""
        langtrace: chat provider=openai model=gpt-5 in=41 cached=16 tools=look
          > user: Weather?
          > tool: [result c1] "18"
          < assistant: It is 18.
    """)


def test_a_response_is_a_model_call() -> None:
    called = span(
        {
            "langtrace.service.name": "OpenAI",
            "gen_ai.operation.name": "openai.responses.create",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.request.tools": json.dumps([{"type": "function", "name": "look"}]),
            "gen_ai.response_id": "resp_1",
            "instructions": "Be brief.",
        },
        scope=SCOPE,
    )
    assert spelled(called) == text("""
        langtrace: chat model=gpt-5 response=resp_1 tools=look
            system: Be brief.
    """)


def test_embeddings_have_no_messages() -> None:
    called = span(
        {"langtrace.service.name": "OpenAI", "gen_ai.operation.name": "embed"},
        event("gen_ai.content.prompt", **{"gen_ai.prompt": '[{"role": "user", "content": "one"}]'}),
        scope=SCOPE,
    )
    assert spelled(called) == "langtrace: embeddings"


def test_any_other_span_is_not_an_operation() -> None:
    called = span({"langtrace.service.name": "Chroma", "db.system": "chromadb"}, scope=SCOPE)
    assert spelled(called) == "langtrace: unclassified"
