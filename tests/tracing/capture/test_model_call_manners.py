"""`model_call` is a guest: errors, streams and values pass it as they are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentool_otel
from tests.strategies import values
from tests.tracing.capture.provider_answers import ANTHROPIC


def test_an_exception_passes_and_is_the_calls_error(spans: Any) -> None:
    def fails() -> None:
        with agentool_otel.model_call("m", provider="own"):
            raise TimeoutError("too late")

    with pytest.raises(TimeoutError, match="too late"):
        fails()
    assert spans.tree() == "chat m   error=TimeoutError"


def test_an_exception_after_the_answer_keeps_the_finish_reason(spans: Any) -> None:
    def fails() -> None:
        with agentool_otel.model_call("m", provider="own") as call:
            call.output(ANTHROPIC)
            raise KeyError("x")

    with pytest.raises(KeyError):
        fails()
    assert spans.tree() == "chat m   in=15 out=7 finish=tool_call error=KeyError"


def test_a_call_in_async_code_that_is_cancelled_ends_as_cancelled(spans: Any) -> None:
    async def forever() -> None:
        async with agentool_otel.model_call("m", provider="own"):
            await asyncio.sleep(60)

    async def main() -> None:
        task = asyncio.ensure_future(forever())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert spans.attributes()["error.type"].endswith("CancelledError")


@pytest.mark.parametrize(("whole", "mark"), [(False, "closed"), (True, None)])
def test_a_stream_that_its_consumer_closes_is_no_error(
    spans: Any, whole: bool, mark: str | None
) -> None:
    def stream() -> Iterator[str]:
        with agentool_otel.model_call("m", provider="own") as call:
            call.output("Hel", finish_reason="stop" if whole else None)
            yield "Hel"

    chunks = stream()
    next(chunks)
    del chunks
    attributes = spans.attributes()
    assert "error.type" not in attributes
    assert attributes.get("agentool.interrupted") == mark
    assert spans.json("gen_ai.output.messages")[0].get("finish_reason") == (
        "stop" if whole else None
    )


def test_an_iterator_is_not_used_up_and_no_method_is_called(spans: Any) -> None:
    class Asked(SimpleNamespace):
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"asked for {name}")

    messages = iter([{"role": "user", "content": "Hi"}])
    with agentool_otel.model_call("m", provider="own", messages=messages, tools=Asked()) as call:
        call.output(Asked())
        call.output(answer := iter(["Hello"]))
    assert (list(messages), list(answer)) == ([{"role": "user", "content": "Hi"}], ["Hello"])


shapes = st.one_of(
    values,
    st.fixed_dictionaries({"choices": values | st.lists(st.fixed_dictionaries(
        {}, optional={"message": values, "delta": values, "finish_reason": values}))}),
    st.fixed_dictionaries({"candidates": st.lists(st.fixed_dictionaries(
        {"content": st.fixed_dictionaries({"parts": values | st.lists(st.dictionaries(
            st.sampled_from(["text", "functionCall", "inlineData", "fileData", "x"]), values))})},
        optional={"finishReason": values, "index": values}))},
        optional={"usageMetadata": values}),
    st.fixed_dictionaries({"object": st.just("response"), "output": st.lists(values)},
                          optional={"usage": values, "error": values}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["message", "message_start", "content_block_start",
                                  "content_block_delta", "message_delta", "error",
                                  "response.completed", "response.output_text.delta"]),
         "content": st.lists(values), "stop_reason": values},
        optional={"message": values, "delta": values, "content_block": values, "usage": values,
                  "index": values, "response": values}),
    st.fixed_dictionaries({"role": values, "content": values | st.lists(st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "tool_use", "tool_result", "image", "thinking", "x"])},
        optional={"text": values, "content": values, "input": values, "source": values}))}),
    st.fixed_dictionaries({"role": values, "parts": st.lists(st.dictionaries(
        st.sampled_from(["type", "text", "content", "name", "functionResponse"]), values))}),
)  # fmt: skip


@given(said=st.lists(shapes, max_size=3), asked=shapes, other=values)
def test_whatever_is_reported_the_block_runs_and_the_span_ends(
    said: list[Any], asked: Any, other: Any
) -> None:
    """Under `AGENTOOL_OTEL_STRICT` an error of ours would be raised here."""
    from opentelemetry.sdk.trace import TracerProvider

    from agentool_otel.content.policy import Policy
    from agentool_otel.tracing.spans.settings import settings

    settings.reset()
    try:
        provider = TracerProvider(shutdown_on_exit=False)
        settings.configure(provider=provider, policy=Policy(capture=True))
        with agentool_otel.model_call(
            other, messages=asked, system=other, tools=[asked, other], provider=other, url=other,
            temperature=other, max_tokens=other, stop_sequences=other, conversation_id=other,
        ) as call:  # fmt: skip
            for each in said:
                call.output(each, finish_reason=other)
            call.usage(other, other, cost_usd=other)
        with agentool_otel.retrieval(other, other, other) as retrieval:
            retrieval.documents([asked, other, *said])
        with agentool_otel.embeddings(other, dimensions=other) as embedded:
            embedded.output(asked)
    finally:
        settings.reset()


def test_a_bug_of_ours_never_reaches_the_block(
    spans: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from agentool_otel.providers import answers
    from agentool_otel.tracing.spans.settings import settings

    def broken(_: Any) -> Any:
        raise ZeroDivisionError("a bug")

    settings.strict = False
    monkeypatch.setattr(answers, "shape_of", broken)
    with agentool_otel.model_call("m", provider="own") as call:
        call.output(ANTHROPIC)
        call.usage(1, 2)
    assert spans.tree() == "chat m   in=1 out=2"
    assert "reading the output of a model call" in caplog.text


def test_a_list_changed_during_the_call_is_recorded_as_it_was_before(spans: Any) -> None:
    messages = [{"role": "user", "content": "Hi"}]
    with agentool_otel.model_call("m", provider="own", messages=messages):
        messages.append({"role": "user", "content": "later"})
    assert "later" not in spans.attributes()["gen_ai.input.messages"]


def test_switched_off_nothing_is_recorded_and_nothing_is_read(spans: Any) -> None:
    from agentool_otel.tracing.spans.settings import settings

    settings.enabled = False
    with agentool_otel.model_call("m", messages="Hi") as call:
        call.output(object())
        call.usage(1, 2)
        call.first_chunk()
    assert not spans.finished()


def test_a_call_that_is_not_sampled_reads_nothing(
    spans: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    from agentool_otel.providers import answers
    from agentool_otel.tracing.capture import model_calls
    from agentool_otel.tracing.spans.settings import settings

    def read(_: Any) -> Any:
        raise AssertionError("content was read")

    monkeypatch.setattr(model_calls, "jsonable", read)
    monkeypatch.setattr(answers, "jsonable", read)
    settings.configure(provider=TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False))
    settings.infer_runs = False  # the calls of a loop say what belongs together
    with agentool_otel.model_call("m", messages=[{"role": "user", "content": "Hi"}]) as call:
        call.output(ANTHROPIC)
        call.usage(1, 2)
    assert not spans.finished()


class Asked(Exception):
    """Raised where an attribute of an object is read by the interpreter's own means."""


class Lazy:
    """An object of which every attribute, also its class, is fetched when it is read."""

    def __getattribute__(self, name: str) -> Any:
        raise Asked(name)


def test_no_attribute_of_an_output_is_read(spans: Any) -> None:
    with agentool_otel.model_call("m", messages=[], provider="p") as call:
        call.output(Lazy())
    assert spans.only().status.status_code.name == "UNSET"
