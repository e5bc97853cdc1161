"""`model_call`: a model call reported by hand."""

from __future__ import annotations

from typing import Any

import pytest

import agentool_otel
from agentool_otel.loading import rebuild
from tests.records import records
from tests.tracing.capture.provider_answers import ANTHROPIC


def test_text_and_usage_are_on_the_span(spans: Any) -> None:
    with agentool_otel.model_call(
        "llama", messages="Hi", provider="own", url="http://127.0.0.1:8080/v1", temperature=0,
        stop_sequences="END", max_tokens=9, choice_count=1,
    ) as call:  # fmt: skip
        call.output("Hel")
        call.output("lo", finish_reason="max_tokens")
        call.usage(3, 4, cache_read_tokens=1, reasoning_tokens=2, cost_usd=0.5)
    attributes = spans.attributes()
    assert spans.json("gen_ai.input.messages") == [
        {"role": "user", "parts": [{"type": "text", "content": "Hi"}]}
    ]
    assert spans.json("gen_ai.output.messages") == [
        {"role": "assistant", "parts": [{"type": "text", "content": "Hello"}],
         "finish_reason": "length"}
    ]  # fmt: skip
    assert spans.tree() == "chat llama   in=3 out=4 finish=length"
    assert attributes["gen_ai.usage.cache_read.input_tokens"] == 1
    assert attributes["gen_ai.usage.reasoning.output_tokens"] == 2
    assert attributes["agentool.cost.usd"] == 0.5
    assert (attributes["server.address"], attributes["server.port"]) == ("127.0.0.1", 8080)
    assert attributes["gen_ai.request.temperature"] == 0.0
    assert attributes["gen_ai.request.stop_sequences"] == ["END"]
    assert "gen_ai.request.choice.count" not in attributes


def test_a_block_that_reports_nothing_has_no_output_usage_or_reason(spans: Any) -> None:
    with agentool_otel.model_call("m", provider="own"):
        pass
    unknown = {"gen_ai.output.messages", "gen_ai.response.finish_reasons",
               "gen_ai.usage.input_tokens", "gen_ai.request.stream"}  # fmt: skip
    assert not unknown & spans.attributes().keys()


def test_a_finish_reason_that_nobody_reports_is_absent(spans: Any) -> None:
    with agentool_otel.model_call("m", provider="own") as call:
        call.output("Hello")
    assert "finish_reason" not in spans.json("gen_ai.output.messages")[0]
    assert "gen_ai.response.finish_reasons" not in spans.attributes()


def test_the_first_chunk_is_timed_once(spans: Any) -> None:
    with agentool_otel.model_call("m", provider="own") as call:
        call.first_chunk()
        first = call._chunks.first_s
        call.first_chunk()
        call.output("Hello")
    attributes = spans.attributes()
    assert attributes["gen_ai.request.stream"] is True
    assert attributes["gen_ai.response.time_to_first_chunk"] == first


def test_reported_usage_and_finish_reason_win_over_the_response(spans: Any) -> None:
    with agentool_otel.model_call("m", provider="own") as call:
        call.usage(input_tokens=1)
        call.output(ANTHROPIC, finish_reason="stop")
    assert spans.tree() == "chat m   in=1 out=7 finish=stop"


def test_a_tool_that_the_model_requested_has_the_id_of_the_call(spans: Any) -> None:
    @agentool_otel.tool
    def search(q: str) -> str:
        return "found"

    with agentool_otel.run("a"):
        with agentool_otel.model_call("m", provider="own") as call:
            call.output(ANTHROPIC)
        search(q="otel")
    [result] = rebuild(records(spans.finished()))
    steps = result.trace.to_dict()["steps"]
    assert [step["type"] for step in steps] == [
        "reasoning",
        "reasoning",
        "tool_call",
        "tool_result",
    ]
    assert steps[3]["tool_result"]["call_id"] == "toolu_1"


def test_a_block_inside_a_block_is_the_same_call(spans: Any) -> None:
    with agentool_otel.model_call("m", provider="own") as outer:
        with agentool_otel.model_call("m", provider="own") as inner:
            inner.output("lost")
        outer.output("kept")
    assert "kept" in spans.attributes()["gen_ai.output.messages"]


def test_a_call_object_can_be_used_again(spans: Any) -> None:
    call = agentool_otel.model_call("m", provider="own")
    with call:
        call.output("first")
        call.usage(1, 1)
    with call:
        call.output("second")
    first, second = spans.finished()
    assert "first" not in second.attributes["gen_ai.output.messages"]
    assert "gen_ai.usage.input_tokens" not in second.attributes
    assert first.attributes["gen_ai.usage.input_tokens"] == 1


def test_without_content_everything_else_is_recorded(spans: Any) -> None:
    spans.without_content()
    tools = [{"type": "function", "function": {"name": "search", "description": "Look."}}]
    with agentool_otel.model_call("m", messages="Hi", tools=tools) as call:
        call.output(ANTHROPIC)
    assert spans.tree() == "chat m   in=15 out=7 finish=tool_call"
    assert not any("messages" in key or "definitions" in key for key in spans.attributes())


def test_what_is_known_at_the_start_is_on_an_open_span(spans: Any) -> None:
    """So that a call under way is found with its question after a kill."""
    from opentelemetry import trace

    from agentool_otel.tracing.spans.settings import settings

    settings.on_described = lambda _: None
    with agentool_otel.model_call("m", provider="own", messages="Hi"):
        span: Any = trace.get_current_span()
        assert "Hi" in span.attributes["gen_ai.input.messages"]
        assert span.attributes["gen_ai.request.model"] == "m"


def test_model_calls_of_inner_tools_and_agents_are_calls_of_their_own(spans: Any) -> None:
    """A server that runs tools while it streams its answer."""

    def ask(model: str) -> None:
        with agentool_otel.model_call(model, provider="own") as call:
            call.output("Hi")

    with agentool_otel.model_call("outer", provider="own"):
        ask("the same call, reported twice")
        agentool_otel.tool(name="look_up")(lambda: ask("in a tool"))()
        agentool_otel.agent(name="helper")(lambda: ask("in an agent"))()
    names = [span.name for span in spans.finished()]
    assert names == [
        "chat in a tool", "execute_tool look_up",
        "chat in an agent", "invoke_agent helper",
        "chat outer",
    ]  # fmt: skip


@pytest.mark.parametrize("sequences", ["END", ["canary"], ["a", "b"]])
def test_without_content_stop_sequences_are_not_recorded(spans: Any, sequences: Any) -> None:
    spans.without_content()
    with agentool_otel.model_call("llama", provider="own", stop_sequences=sequences):
        pass
    assert "gen_ai.request.stop_sequences" not in spans.attributes()
