"""Errors: the caller gets the library's own exception, and the span has its type."""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY, attach, detach, set_value

import agentool_otel
from agentool_otel.integrations.openai.instrumentor import OpenAIInstrumentor
from agentool_otel.testing.loopback_model import LoopbackModel, Turn
from agentool_otel.tracing.spans.live import OWNER_KEY
from agentool_otel.tracing.spans.suppression import CLIENTS

openai = pytest.importorskip("openai")

ASK: dict[str, Any] = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hello"}]}
has_responses = pytest.mark.skipif(
    not hasattr(openai.OpenAI, "responses"), reason="older than the Responses API"
)


def test_an_error_of_the_server_reaches_the_caller_unchanged(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(Turn(status=400, error="no such model"))
    with pytest.raises(openai.BadRequestError, match="no such model"):
        calls.chat()
    span = spans.only()
    assert spans.tree() == "chat gpt-5   error=openai.BadRequestError"
    assert span.status.description is not None
    assert "no such model" in span.status.description
    assert [event.name for event in span.events] == ["exception"]


def test_a_traceback_through_a_call_has_one_frame_of_ours(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(Turn(status=400, error="no such model"))
    with pytest.raises(openai.BadRequestError) as raised:
        calls.chat()
    package = str(Path(agentool_otel.__file__).parent)
    files = [frame.filename for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert len([name for name in files if name.startswith(package)]) == 1


def test_a_call_that_is_retried_is_one_span(calls: Any, spans: Any, model: LoopbackModel) -> None:
    busy = Turn(status=429, headers={"retry-after": "0", "retry-after-ms": "1"})
    model.push(busy, busy, Turn(input_tokens=1, output_tokens=1))
    calls.chat(client={"max_retries": 2})
    assert spans.tree() == "chat gpt-5   in=1 out=1 finish=stop"
    assert len(model.requests) == 3


def test_a_call_that_times_out_is_an_error(calls: Any, spans: Any, model: LoopbackModel) -> None:
    model.push(Turn(delay_s=1.0))
    with pytest.raises(openai.APITimeoutError):
        calls.chat(timeout=0.05)
    assert spans.tree() == "chat gpt-5   error=openai.APITimeoutError"


def test_an_answer_that_is_not_json_is_an_error(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(Turn(malformed=True))
    with pytest.raises(ValueError, match="Expecting"):
        calls.chat()
    assert spans.attributes()["error.type"] == "json.decoder.JSONDecodeError"


def test_a_raw_answer_that_is_not_json_is_an_error_too(
    client: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(Turn(malformed=True))
    raw = client.chat.completions.with_raw_response.create(**ASK)
    with pytest.raises(ValueError, match="Expecting"):
        raw.parse()
    assert spans.attributes()["error.type"] == "json.decoder.JSONDecodeError"


def test_a_stream_that_is_cut_is_an_error_with_what_came(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(Turn(text="Hello there", chunk_size=5, cut_after=2))
    with pytest.raises(Exception) as raised:  # openai.APIConnectionError since 3, httpx's before
        calls.chat(stream=True)
    attributes = spans.attributes()
    assert attributes["error.type"].endswith(type(raised.value).__name__)
    assert "gen_ai.response.finish_reasons" not in attributes
    (message,) = json.loads(attributes["gen_ai.output.messages"])
    assert message["parts"] == [{"type": "text", "content": "Hello"}]


def test_an_error_inside_a_stream_is_an_error(calls: Any, spans: Any, model: LoopbackModel) -> None:
    model.push(Turn(error_after=1, error="overloaded"))
    with pytest.raises(openai.APIError, match="overloaded"):
        calls.chat(stream=True)
    assert spans.attributes()["error.type"] == "openai.APIError"


@has_responses
def test_an_unraised_error_event_is_an_error(calls: Any, spans: Any, model: LoopbackModel) -> None:
    model.push(Turn(text="Hello there", chunk_size=5, error_after=5, error="gave up"))
    events = calls.responses(stream=True)
    assert events[-1].type == "error"
    span = spans.only()
    assert spans.attributes()["error.type"] == "server_error"
    assert span.status.description == "gave up"
    (message,) = json.loads(spans.attributes()["gen_ai.output.messages"])
    assert message["parts"] == [{"type": "text", "content": "Hello"}]


@has_responses
def test_a_response_that_is_cut_is_an_error_with_what_came(
    calls: Any, spans: Any, model: LoopbackModel
) -> None:
    model.push(Turn(text="Hello there", chunk_size=5, cut_after=5))
    with pytest.raises(Exception):  # noqa: B017 - which one, the version of the library decides
        calls.responses(stream=True)
    (message,) = json.loads(spans.attributes()["gen_ai.output.messages"])
    assert message["parts"] == [{"type": "text", "content": "Hello"}]
    assert spans.only().status.status_code.name == "ERROR"


def test_wrong_arguments_are_the_callers_error(client: Any, spans: Any) -> None:
    with pytest.raises(TypeError):
        client.chat.completions.create(model="gpt-5")
    assert spans.tree() == "chat gpt-5   error=TypeError"


def test_embeddings_that_fail_are_an_error(calls: Any, spans: Any, model: LoopbackModel) -> None:
    model.rule(lambda request: Turn(status=401, error="no key"))
    with pytest.raises(openai.AuthenticationError):
        calls.embeddings()
    assert spans.tree() == "embeddings embed   error=openai.AuthenticationError"


# ------------------------------------------------------------------------ when nothing is recorded


def test_switched_off_every_call_passes_untouched(calls: Any, spans: Any) -> None:
    OpenAIInstrumentor().uninstrument()
    calls.chat()
    chunks = calls.chat(stream=True)
    assert chunks
    assert not spans.finished()


def test_instrumenting_twice_gives_one_span(calls: Any, spans: Any) -> None:
    OpenAIInstrumentor().instrument()
    calls.chat()
    assert len(spans.finished()) == 1


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (OWNER_KEY, frozenset({CLIENTS})),
        ("opentelemetry.genai.client.inference.context", object()),
        (_SUPPRESS_INSTRUMENTATION_KEY, True),
    ],
    ids=["a framework of ours", "opentelemetry-util-genai", "the user"],
)
def test_a_call_that_is_recorded_above_has_no_span_of_its_own(
    client: Any, spans: Any, key: str, value: Any
) -> None:
    token = attach(set_value(key, value))
    try:
        client.chat.completions.create(**ASK)
        assert len(list(client.chat.completions.create(**ASK, stream=True))) > 2
    finally:
        detach(token)
    assert not spans.finished()


def test_a_call_that_is_not_sampled_costs_no_proxy(client: Any, spans: Any) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    from agentool_otel.tracing.spans.settings import settings

    settings.configure(provider=TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False))
    with client.chat.completions.create(**ASK, stream=True) as stream:
        assert type(stream) is openai.Stream
    assert not spans.finished()


def test_every_patch_finds_its_target_or_may_miss_it(client: Any) -> None:
    assert client.chat.completions is not None  # imported when it is first used
    states = {item.state for item in OpenAIInstrumentor().attached.values()}
    assert states <= {"attached", "waiting", "absent"}
    assert "attached" in states


def test_a_bug_of_ours_costs_the_telemetry_and_not_the_call(
    client: Any, spans: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentool_otel.providers.openai_chat import ChatReading
    from agentool_otel.tracing.spans.settings import settings

    def fail(*_: Any) -> None:
        raise RuntimeError("a bug of ours")

    settings.strict = False
    monkeypatch.setattr(ChatReading, "add", fail)
    monkeypatch.setattr(ChatReading, "whole", fail)
    assert client.chat.completions.create(**ASK).choices
    assert len(list(client.chat.completions.create(**ASK, stream=True))) > 2
    assert [span.name for span in spans.finished()] == ["chat gpt-5"] * 2
