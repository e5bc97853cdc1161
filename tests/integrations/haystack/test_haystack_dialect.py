"""Haystack: cases that our recording lacks."""

from __future__ import annotations

import json
from typing import Any

from tests.dialects.spelled import span, spelled, text

THOUGHT = {"role": "assistant", "content": [{"reasoning": {"reasoning_text": "Hm."}}]}
COUNTS = {"model": "m", "finish_reason": "stop", "usage": {"prompt_tokens": 5}}


def component(kind: str, put_in: Any, put_out: Any) -> str:
    attributes = {
        "haystack.component.type": kind,
        "haystack.component.input": json.dumps(put_in),
        "haystack.component.output": json.dumps(put_out),
    }
    return spelled(span(attributes, name="haystack.component.run"))


def test_a_text_generator_is_a_model_call_with_its_metadata() -> None:
    replies = {"replies": ["Here."], "meta": [COUNTS]}
    assert component("OpenAIGenerator", {"prompt": "Where?"}, replies) == text("""
        haystack: chat answered_by=m finish=stop in=5
          > user: Where?
          < assistant: Here.
    """)


def test_thoughts_and_settings_of_a_chat_are_read() -> None:
    put_in = {"messages": [], "generation_kwargs": {"temperature": 0.5}}
    assert component("OpenAIChatGenerator", put_in, {"replies": [THOUGHT]}) == text("""
        haystack: chat temperature=0.5
          < assistant: [thinks] Hm.
    """)


def test_components_that_prepare_or_route_are_not_operations() -> None:
    assert component("PromptBuilder", {}, {}) == "haystack: unclassified"
    assert component("OpenAITextEmbedder", {"text": "x"}, {}) == "haystack: embeddings"


def test_sets_of_tools_are_their_tools() -> None:
    tools = {"type": "Toolset", "data": {"tools": [{"type": "Tool", "data": {"name": "look"}}]}}
    record = span({"haystack.agent.tools": json.dumps([tools])}, name="haystack.agent.run")
    assert spelled(record) == "haystack: agent tools=look"


def test_a_failed_tool_is_recognised_by_its_output() -> None:
    record = span(
        {
            "haystack.tool.name": "look",
            "haystack.tool.error": True,
            "haystack.agent.step.tool.output": '{"error": "no map"}',
        },
        name="haystack.agent.step.tool",
    )
    assert spelled(record) == "haystack: tool look tool_error=no map"


def test_input_and_output_beside_the_name_of_a_tool_are_read() -> None:
    record = span(
        {
            "haystack.tool.name": "look",
            "haystack.tool.input": '{"at": 1}',
            "haystack.tool.output": '"found"',
        },
        name="haystack.agent.step.tool",
    )
    assert spelled(record) == 'haystack: tool look arguments={"at":1} result="found"'


def test_without_content_a_model_call_has_nothing_but_its_name() -> None:
    assert spelled(span({}, name="haystack.agent.step.llm")) == "haystack: chat"
