"""Model calls in CrewAI's events, in the shape that each provider's LLM class emits."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.integrations.crewai.instrumentor.models import calls_in, usage_of
from agentool_otel.integrations.crewai.instrumentor.values import coworker
from agentool_otel.model.messages import tool_call
from agentool_otel.model.operations import Usage


@pytest.mark.parametrize(
    "requested",
    [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
        {"id": "c1", "name": "f", "arguments": '{"a": 1}'},
        {"id": "c1", "type": "tool_use", "name": "f", "input": {"a": 1}},
        {"toolUseId": "c1", "name": "f", "input": {"a": 1}},
        {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}},
    ],
    ids=["chat", "responses", "anthropic", "bedrock", "gemini"],
)
def test_a_tool_call_in_any_providers_shape(requested: dict[str, Any]) -> None:
    assert calls_in([requested]) == [tool_call("f", {"a": 1}, "c1")]


@pytest.mark.parametrize(
    "counts",
    [
        {"prompt_tokens": 9, "completion_tokens": 4, "cached_prompt_tokens": 3},
        {"input_tokens": 9, "output_tokens": 4, "cached_prompt_tokens": 3},
        {"prompt_token_count": 9, "candidates_token_count": 1, "completion_tokens": 4,
         "cached_prompt_tokens": 3},
        {"inputTokens": 6, "outputTokens": 4, "cacheReadInputTokens": 3},
    ],
    ids=["openai", "anthropic", "gemini", "bedrock"],
)  # fmt: skip
def test_token_counts_under_any_providers_names(counts: dict[str, int]) -> None:
    assert usage_of(counts) == Usage(input_tokens=9, output_tokens=4, cache_read_tokens=3)


@pytest.mark.parametrize("counts", [None, {}, {"total_tokens": 0}])
def test_unknown_token_counts_are_not_zero(counts: Any) -> None:
    assert usage_of(counts) is None


@pytest.mark.parametrize(
    ("named", "role"),
    [("Senior  Writer", "senior writer"), ('"senior writer"', "senior writer"),
     ("[Senior writer, other]", "senior writer"), ("nobody", None), ("", None)],
)  # fmt: skip
def test_coworkers_are_found_as_crewai_finds_them(named: str, role: str | None) -> None:
    source = {"crew": {"agents": [{"role": "researcher"}, {"role": "senior writer\n"}]}}
    assert coworker(source, "Delegate work to coworker", {"coworker": named}) == role
    assert coworker(source, "search_web", {"coworker": named}) is None
