"""LiteLLM, after a recording of its callback (`spans/litellm-*.jsonl`)."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.dialects import classify
from agentool_otel.model.operations import Embeddings, Inference, Unclassified
from tests.dialects.spelled import span, spelled, text

CALL = {
    "litellm.call_id": "call-1",
    "llm.request.type": "acompletion",
    "llm.is_streaming": "False",
    "gen_ai.request.model": "gpt-5",
    "gen_ai.system": "openai",
    "gen_ai.response.id": "chatcmpl-1",
    "gen_ai.usage.input_tokens": 41,
    "gen_ai.usage.output_tokens": 23,
    "gen_ai.cost.total_cost": 0.25,
    "metadata.usage_object": "{'prompt_tokens_details': {'cached_tokens': 16}, "
    "'completion_tokens_details': {'reasoning_tokens': 5, 'audio_tokens': None}}",
    "llm.request.functions.0.name": "look",
    "llm.request.functions.0.parameters": '{"type": "object"}',
    "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]',
    "gen_ai.output.messages": (
        '[{"role": "assistant", "parts": [{"type": "text", "content": "I look."}]}]'
    ),
    "gen_ai.completion.0.function_call.name": "look",
    "gen_ai.completion.0.function_call.arguments": '{"city": "Paris"}',
}
RAW = {
    "llm.openai.messages": "[{'role': 'user', 'content': \"What's up?\"}]",
    "llm.openai.max_completion_tokens": 200,
    "llm.openai.tools": "[{'type': 'function', 'function': {'name': 'look'}}]",
    "llm.openai.id": "chatcmpl-1",
    "llm.openai.model": "gpt-5-2026",
    "llm.openai.moderation": "",
    "llm.openai.choices": "[{'index': 0, 'logprobs': None, 'message': {'role': 'assistant', "
    "'content': 'I look.', 'tool_calls': [{'id': 'c1', 'type': 'function', 'function': "
    "{'name': 'look', 'arguments': '{\"city\": \"Paris\"}'}}]}}]",
    "llm.openai.usage": "{'completion_tokens': 23, 'prompt_tokens': 41, 'total_tokens': 64}",
}


def read(attributes: dict[str, Any]) -> Any:
    dialect, operation = classify(span(attributes, scope="litellm"))
    assert dialect == "litellm"
    return operation


def test_a_call_has_its_cost_its_tools_and_its_requested_calls() -> None:
    assert spelled(span(CALL, scope="litellm")) == text("""
        litellm: chat provider=openai model=gpt-5 response=chatcmpl-1 cost=0.25 stream=False
            in=41 out=23 cached=16 reasoning=5 tools=look
          > user: Hi
          < assistant: I look. | [call None] look {"city":"Paris"}
    """)


def test_the_request_to_the_provider_is_read_from_a_python_repr() -> None:
    assert spelled(span(RAW, scope="litellm", name="raw_gen_ai_request")) == text("""
        litellm: chat answered_by=gpt-5-2026 response=chatcmpl-1 max_tokens=200 in=41 out=23
            total=64 tools=look
          > user: What's up?
          < assistant: I look. | [call c1] look {"city":"Paris"}
    """)


def test_a_raw_span_without_an_answer_is_not_a_call() -> None:
    attributes = {"llm.None.model": "text-embedding-3-small", "llm.None.input": "['one']"}
    assert read(attributes) == Unclassified(extra=attributes)


def test_a_response_has_its_answer_even_without_its_request() -> None:
    output = "[{'type': 'message', 'role': 'assistant', 'content': [{'type': 'output_text', "
    operation = read(
        {
            "llm.None.instructions": "Be brief.",
            "llm.None.output": output + "'text': 'Yes.'}]}]",
            "llm.None.temperature": 1.0,
        }
    )
    assert operation.input is None
    assert operation.output[0]["parts"] == [{"type": "text", "content": "Yes."}]
    assert operation.system == [{"type": "text", "content": "Be brief."}]


@pytest.mark.parametrize(
    ("called", "cls"),
    [
        ("completion", Inference),
        ("aresponses", Inference),
        ("aembedding", Embeddings),
        ("image_generation", Unclassified),
    ],
)
def test_the_called_function_decides_the_operation(called: str, cls: type) -> None:
    attributes = {"litellm.call_id": "call-1", "llm.request.type": called}
    assert type(read({**attributes, "gen_ai.request.model": "m"})) is cls


def test_a_call_of_an_older_release_has_no_id() -> None:
    without = {key: value for key, value in CALL.items() if key != "litellm.call_id"}
    assert read(without).cost_usd == 0.25


def test_the_id_of_a_litellm_call_is_not_a_response_id() -> None:
    assert read({**CALL, "gen_ai.response.id": "call-1"}).response_id is None
