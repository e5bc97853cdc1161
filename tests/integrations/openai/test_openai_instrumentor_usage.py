"""Token counts in the provider's meaning: the same from every API, streamed or not; unreported
counts are absent, never zero.
"""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.model.operations import Usage
from agentool_otel.providers.openai_usage import usage_of
from agentool_otel.testing.turns import Turn

pytest.importorskip("openai")

# OpenAI's input includes what was read from and written to the cache, its output the reasoning.
COUNTED = Turn(
    input_tokens=100, output_tokens=30, cached_tokens=64, cache_write_tokens=8, reasoning_tokens=16
)
USAGE = {
    "input_tokens": 100,
    "output_tokens": 30,
    "cache_read.input_tokens": 64,
    "cache_write.input_tokens": 8,
    "reasoning.output_tokens": 16,
}
PLAIN = Turn(input_tokens=100, output_tokens=30, details=False)


def usage(spans: Any) -> dict[str, Any]:
    prefix = "gen_ai.usage."
    attributes = spans.attributes()
    return {k.removeprefix(prefix): v for k, v in attributes.items() if k.startswith(prefix)}


def ask(calls: Any, api: str, stream: bool) -> None:
    options = {"stream_options": {"include_usage": True}} if stream and api == "chat" else {}
    getattr(calls, api)(stream=stream, **options)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize(
    ("turn", "expected"),
    [(COUNTED, USAGE), (PLAIN, {"input_tokens": 100, "output_tokens": 30})],
    ids=["with details", "without"],
)
def test_usage_is_what_the_server_counted(
    spans: Any, model: Any, calls: Any, api: str, stream: bool, turn: Turn, expected: Any
) -> None:
    model.push(turn)
    ask(calls, api, stream)
    assert usage(spans) == expected


def test_a_stream_without_usage_has_none(spans: Any, model: Any, calls: Any) -> None:
    model.push(PLAIN)
    calls.chat(stream=True)
    assert usage(spans) == {}


def test_token_counts_are_separate_by_modality() -> None:
    texts = {
        "prompt_tokens": 30,
        "completion_tokens": 20,
        "prompt_tokens_details": {"audio_tokens": 10, "cached_tokens": 0, "image_tokens": 5},
        "completion_tokens_details": {"audio_tokens": 15, "text_tokens": 0},
    }
    assert usage_of(texts) == Usage(
        input_tokens=30,
        output_tokens=20,
        audio_input_tokens=10,
        image_input_tokens=5,
        audio_output_tokens=15,
    )
