"""The user's own settings of the SDK's tracing, and models that no client of ours stands below."""

from __future__ import annotations

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.integrations.openai_agents.conftest import DONE, SEARCH, Scene

PLAIN = [
    "invoke_agent researcher",
    "  chat gpt-5",
    "  execute_tool search_web",
    "  chat gpt-5",
]


@pytest.mark.parametrize("how", ["run", "process", "environment"])
@pytest.mark.parametrize("streamed", [False, True])
def test_without_the_sdks_tracing_all_is_recorded(
    scene: Scene, how: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = scene.sdk.RunConfig(tracing_disabled=how == "run")
    if how == "environment":
        monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    if how == "process":
        scene.sdk.set_tracing_disabled(True)
    try:
        scene.push(SEARCH, DONE)
        (scene.stream if streamed else scene.run)(scene.agent(), run_config=config)
    finally:
        if how == "process":
            scene.sdk.set_tracing_disabled(False)
    assert scene.names() == PLAIN
    (call,) = scene.all("execute_tool")
    assert call["gen_ai.tool.call.id"] in str(scene.all("chat")[0])
    assert "found OTel" in call["gen_ai.tool.call.result"]


@pytest.mark.parametrize("how", ["run", "environment"])
def test_what_the_sdks_traces_are_not_to_hold_is_not_in_ours(
    scene: Scene, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {}
    if how == "run":
        options["run_config"] = scene.sdk.RunConfig(trace_include_sensitive_data=False)
    else:
        monkeypatch.setenv("OPENAI_AGENTS_TRACE_INCLUDE_SENSITIVE_DATA", "false")
    scene.push(SEARCH, DONE)
    scene.run(scene.agent(), **options)
    assert scene.names() == PLAIN
    recorded = repr([(span.attributes, span.events) for span in scene.stage.recorded.spans()])
    for text in ("Question", "Search.", "OTel", "Done."):
        assert text not in recorded
    assert scene.all("chat")[0]["gen_ai.usage.input_tokens"] == 40


@contextmanager
def processors(scene: Scene, *processors: Any) -> Generator[Any]:
    """Put processors in the place of those that are there, as a user does."""
    provider = importlib.import_module("agents.tracing").get_trace_provider()
    before = provider._multi_processor._processors
    scene.sdk.set_trace_processors(list(processors))
    try:
        yield provider._multi_processor
    finally:
        provider.set_processors(list(before))


def test_processors_of_the_user_are_kept(scene: Scene) -> None:
    event: list[str] = []
    base: Any = importlib.import_module("agents.tracing").TracingProcessor

    class Own(base):  # type: ignore[misc]
        def on_trace_start(self, trace: Any) -> None:
            event.append("trace")

        def on_span_start(self, span: Any) -> None:
            event.append(span.span_data.type)

        def on_trace_end(self, trace: Any) -> None: ...
        def on_span_end(self, span: Any) -> None: ...
        def shutdown(self) -> None: ...
        def force_flush(self) -> None: ...

    own = Own()
    with processors(scene, own) as value:
        scene.push(SEARCH, DONE)
        scene.run(scene.agent())
        assert value._processors == (own,)
        assert scene.names() == PLAIN
        with_us, event = event, []
        scene.stage.set(attached=False)
        scene.push(SEARCH, DONE)
        scene.run(scene.agent())
    assert event == with_us


def test_a_model_without_our_client_is_recorded_by_the_sdks_span(scene: Scene) -> None:
    types = importlib.import_module("openai.types.responses")

    class Own(scene.sdk.Model):  # type: ignore[misc,name-defined]
        async def get_response(self, *args: Any, **kwargs: Any) -> Any:
            with scene.sdk.generation_span(model="own") as span:
                span.span_data.input = [{"role": "user", "content": "Question"}]
                span.span_data.output = [{"role": "assistant", "content": "Own answer."}]
                span.span_data.usage = {"input_tokens": 3, "output_tokens": 4}
            text = types.ResponseOutputText(text="Own answer.", type="output_text", annotations=[])
            answer = types.ResponseOutputMessage(
                id="1", role="assistant", status="completed", type="message", content=[text]
            )
            usage = scene.sdk.Usage()
            return scene.sdk.ModelResponse(output=[answer], usage=usage, response_id=None)

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    scene.run(scene.agent(model=Own(), tools=[]))
    assert scene.names() == ["invoke_agent researcher", "  chat own"]
    (call,) = scene.all("chat")
    assert call["gen_ai.usage.input_tokens"] == 3
    assert "Own answer." in call["gen_ai.output.messages"]


def test_without_the_clients_instrumentor_the_sdks_span_is_the_model_call(scene: Scene) -> None:
    from agentool_otel.integrations.openai.instrumentor import OpenAIInstrumentor

    OpenAIInstrumentor().uninstrument()
    scene.push(SEARCH, DONE)
    scene.run(scene.agent(responses=True))
    assert scene.names() == PLAIN
    assert [item["gen_ai.usage.input_tokens"] for item in scene.all("chat")] == [40, 60]


def test_uninstrument_puts_everything_back(scene: Scene) -> None:
    from agentool_otel.integrations.openai_agents.instrumentor.patches import (
        OpenAIAgentsInstrumentor,
    )

    states = {item.state for item in OpenAIAgentsInstrumentor().attached.values()}
    assert states <= {"attached", "waiting", "absent", "inherited"}
    scene.stage.set(attached=False)
    runner = importlib.import_module("agents.run").AgentRunner
    spans = importlib.import_module("agents.tracing.spans")
    for owner, name in (
        (runner, "run"),
        (spans.SpanImpl, "start"),
        (spans.NoOpSpan, "finish"),
        (scene.sdk.ItemHelpers, "tool_call_output_item"),
    ):
        assert not hasattr(vars(owner)[name], "_self_wrapper")
