"""Model calls: once each, by the client or by ADK's own request and answer; and live sessions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from agentool_otel.testing.turns import Turn
from tests.integrations.adk.conftest import (
    DONE,
    SEARCH,
    Scene,
    agents,
    run_config,
    search_web,
    types,
    wait,
)


def model(*responses: Any, error: BaseException | None = None, hangs: bool = False) -> Any:
    """Return a model of the program's own."""

    async def generate_content_async(self: Any, llm_request: Any, stream: bool = False) -> Any:
        for response in responses:
            yield response
        if hangs:
            await asyncio.sleep(60)
        if error is not None:
            raise error

    base = import_module("google.adk.models.base_llm").BaseLlm
    return type("Mine", (base,), {"generate_content_async": generate_content_async})(model="mine")


def response(text: str, **options: Any) -> Any:
    content = types().Content(role="model", parts=[types().Part(text=text)])
    return import_module("google.adk.models.llm_response").LlmResponse(content=content, **options)


def whole(text: str) -> Any:
    usage = types().GenerateContentResponseUsageMetadata(
        prompt_token_count=7,
        candidates_token_count=2,
        thoughts_token_count=1,
        cached_content_token_count=3,
    )
    return response(text, finish_reason="STOP", usage_metadata=usage, model_version="mine-1")


def streaming() -> Any:
    return import_module("google.adk.agents.run_config").StreamingMode.SSE


def test_a_call_of_gemini_is_recorded_by_its_client(scene: Scene) -> None:
    scene.push(SEARCH, Turn(text="Done.", input_tokens=60, cached_tokens=50, reasoning_tokens=4))
    config = types().GenerateContentConfig(temperature=0.5, max_output_tokens=100)
    scene.run(scene.agent(search_web, generate_content_config=config))
    first, second = scene.all("generate_content")
    assert first["gen_ai.provider.name"] == "gcp.gemini"
    assert first["gen_ai.request.temperature"] == 0.5
    assert first["gen_ai.request.max_tokens"] == 100
    assert "Search." in first["gen_ai.system_instructions"]
    assert "search_web" in first["gen_ai.tool.definitions"]
    assert second["gen_ai.usage.cache_read.input_tokens"] == 50
    assert second["gen_ai.usage.reasoning.output_tokens"] == 4
    assert scene.all("chat") == []


def test_a_stream_of_gemini_is_one_call(scene: Scene) -> None:
    scene.push(DONE)
    scene.run(scene.agent(), run_config=run_config(streaming_mode=streaming()))
    (call,), (run,) = scene.all("generate_content"), scene.all("invoke_agent")
    assert "gen_ai.response.time_to_first_chunk" in call
    assert run["gen_ai.output.messages"].count("Done.") == 1


def test_a_call_of_another_client_is_recorded_by_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    pytest.importorskip("litellm")
    lite = import_module("google.adk.models.lite_llm").LiteLlm
    scene.push(SEARCH, DONE)
    llm = lite(model="openai/gpt-4o", api_base=f"{scene.url}/v1", api_key="none")
    scene.run(scene.agent(search_web, model=llm))
    assert scene.names() == [
        "invoke_agent researcher",
        "  chat gpt-4o",
        "  execute_tool search_web",
        "  chat gpt-4o",
    ]
    assert [row["gen_ai.usage.input_tokens"] for row in scene.all("chat")] == [40, 60]


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_of_a_model_of_the_programs_is_recorded(scene: Scene, stream: bool) -> None:
    pieces = [response("Do", partial=True), response("ne.", partial=True)] if stream else []
    llm = model(*pieces, whole("Done."))
    options = {"run_config": run_config(streaming_mode=streaming())} if stream else {}
    config = types().GenerateContentConfig(temperature=0.5, top_k=4, stop_sequences=["END"])
    scene.run(
        scene.agent(search_web, model=llm, generate_content_config=config),
        "What is OTel?",
        **options,
    )
    (call,) = scene.all("chat")
    assert call["name"] == "chat mine"
    assert call["gen_ai.response.model"] == "mine-1"
    assert call["gen_ai.request.temperature"] == 0.5
    assert call["gen_ai.request.top_k"] == 4
    assert call["gen_ai.request.stop_sequences"] == ["END"]
    assert call["gen_ai.response.finish_reasons"] == ["stop"]
    assert call["gen_ai.usage.input_tokens"] == 7
    assert call["gen_ai.usage.output_tokens"] == 3
    assert call["gen_ai.usage.reasoning.output_tokens"] == 1
    assert call["gen_ai.usage.cache_read.input_tokens"] == 3
    assert "What is OTel?" in call["gen_ai.input.messages"]
    assert "Search." in call["gen_ai.system_instructions"]
    assert "search_web" in call["gen_ai.tool.definitions"]
    assert call["gen_ai.output.messages"].count("Done.") == 1
    assert ("gen_ai.response.time_to_first_chunk" in call) is stream


def test_an_exception_of_a_model_is_that_of_its_call(scene: Scene) -> None:
    with pytest.raises(OSError, match="on holiday"):
        scene.run(scene.agent(model=model(error=OSError("on holiday"))))
    (call,), (run,) = scene.all("chat"), scene.all("invoke_agent")
    assert (call["error.type"], run["error.type"]) == ("OSError", "OSError")


def test_an_answer_in_the_place_of_an_exception_is_the_answer_of_the_run(scene: Scene) -> None:
    def recover(**_: Any) -> Any:
        return response("Later.")

    llm = model(error=OSError("on holiday"))
    scene.run(scene.agent(model=llm, on_model_error_callback=recover))
    (call,), (run,) = scene.all("chat"), scene.all("invoke_agent")
    assert call["error.type"] == "OSError"
    assert run["agentool.status"] == "success"
    assert "Later." in run["gen_ai.output.messages"]


def test_an_answer_with_an_error_code_is_an_error(scene: Scene) -> None:
    refusal = import_module("google.adk.models.llm_response").LlmResponse(
        error_code="BLOCKED", error_message="not this"
    )
    scene.run(scene.agent(model=model(refusal)))
    (call,), (run,) = scene.all("chat"), scene.all("invoke_agent")
    assert (call["error.type"], run["error.type"]) == ("BLOCKED", "BLOCKED")


def test_a_stream_that_is_left_early_has_what_has_come(scene: Scene) -> None:
    async def program() -> None:
        llm = model(response("Do", partial=True), hangs=True)
        runner = scene.runner(scene.agent(model=llm))
        await runner.session_service.create_session(
            app_name="search", user_id="alice", session_id="t"
        )
        events = runner.run_async(
            user_id="alice",
            session_id="t",
            new_message=types().UserContent("What?"),
            run_config=run_config(streaming_mode=streaming()),
        )
        async for _ in events:
            break
        await events.aclose()

    wait(program())
    (call,) = scene.all("chat")
    assert '"Do"' in call["gen_ai.output.messages"]
    assert scene.all("invoke_agent")[0]["agentool.interrupted"] == "closed"


# ---------------------------------------------------------------------------------- live sessions


class Connection:
    """A connection to a live model: it calls a tool, then answers."""

    def __init__(self) -> None:
        self._answered = asyncio.Event()
        self._send_content = self.send_content

    async def send_history(self, history: Any) -> None: ...

    async def send_content(self, content: Any, **_: Any) -> None:
        if content.parts[0].function_response is not None:
            self._answered.set()

    async def send_realtime(self, value: Any) -> None: ...

    async def receive(self) -> AsyncIterator[Any]:
        call = types().FunctionCall(id="call-1", name="search_web", args={"query": "OTel"})
        module = import_module("google.adk.models.llm_response")
        part = types().Part(function_call=call)
        yield module.LlmResponse(content=types().Content(role="model", parts=[part]))
        await self._answered.wait()
        yield response("Done.")
        yield module.LlmResponse(turn_complete=True)
        await asyncio.sleep(5)

    async def close(self) -> None: ...


def test_a_live_run_has_its_tools(scene: Scene) -> None:
    @asynccontextmanager
    async def connect(self: Any, llm_request: Any) -> AsyncGenerator[Any]:
        yield Connection()

    async def program() -> None:
        kind = type("Live", (type(model()),), {"connect": connect})
        runner = scene.runner(scene.agent(search_web, model=kind(model="gemini-live")))
        await runner.session_service.create_session(
            app_name="search", user_id="alice", session_id="thread-1"
        )
        queue = agents().LiveRequestQueue()
        events = runner.run_live(user_id="alice", session_id="thread-1", live_request_queue=queue)
        async for event in events:
            if event.turn_complete:
                break
        queue.close()
        await events.aclose()

    wait(program())
    (run,) = scene.all("invoke_agent")
    assert run["gen_ai.conversation.id"] == "thread-1"
    assert "Done." in run["gen_ai.output.messages"]
    assert run["agentool.interrupted"] == "closed"
    if find_spec("google.adk.agents.context"):  # since ADK 1.28 plugins see the tools
        assert scene.names() == ["invoke_agent researcher", "  execute_tool search_web"]
        assert "found OTel" in scene.all("execute_tool")[0]["gen_ai.tool.call.result"]
