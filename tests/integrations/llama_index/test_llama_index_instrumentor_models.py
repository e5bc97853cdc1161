"""Model calls: once each, by the client or by LlamaIndex's events."""

from __future__ import annotations

import gc
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextvars import copy_context
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.testing.turns import ToolCall, Turn
from tests.integrations.llama_index.conftest import DONE, SEARCH, Scene, search_web, wait


def message(text: str) -> Any:
    return import_module("llama_index.core.llms").ChatMessage(role="user", content=text)


def prompt() -> Any:
    return import_module("llama_index.core.prompts").PromptTemplate("Say {word}")


def read_in_a_thread(scene: Scene) -> None:
    stream = scene.llm().stream_chat([message("Hi")])
    thread = threading.Thread(target=lambda: list(stream))
    thread.start()
    thread.join()


async def last(items: AsyncIterator[Any]) -> Any:
    return [item async for item in items][-1]


METHODS: dict[str, Callable[[Any], Any]] = {
    "chat": lambda llm: llm.chat([message("Hi")]),
    "complete": lambda llm: llm.complete("Hi"),
    "stream_chat": lambda llm: list(llm.stream_chat([message("Hi")])),
    "stream_complete": lambda llm: list(llm.stream_complete("Hi")),
    "predict": lambda llm: llm.predict(prompt(), word="Hi"),
    "stream": lambda llm: list(llm.stream(prompt(), word="Hi")),
}


async def _astream_chat(llm: Any) -> Any:
    return await last(await llm.astream_chat([message("Hi")]))


async def _astream_complete(llm: Any) -> Any:
    return await last(await llm.astream_complete("Hi"))


async def _astream(llm: Any) -> Any:
    return await last(await llm.astream(prompt(), word="Hi"))


ASYNC_METHODS: dict[str, Callable[[Any], Coroutine[Any, Any, Any]]] = {
    "achat": lambda llm: llm.achat([message("Hi")]),
    "acomplete": lambda llm: llm.acomplete("Hi"),
    "astream_chat": _astream_chat,
    "astream_complete": _astream_complete,
    "apredict": lambda llm: llm.apredict(prompt(), word="Hi"),
    "astream": _astream,
}
LIKE = {"is_chat_model": True, "is_function_calling_model": True}


def call(llm: Any, method: str) -> None:
    if method in METHODS:
        METHODS[method](llm)
    else:
        wait(_awaited(llm, method))


async def _awaited(llm: Any, method: str) -> Any:
    return await ASYNC_METHODS[method](llm)


@pytest.mark.parametrize("kind", ["openai.OpenAI", "openai_like.OpenAILike"])
@pytest.mark.parametrize("method", [*METHODS, *ASYNC_METHODS])
def test_a_call_outside_of_an_agent_is_one_span(scene: Scene, method: str, kind: str) -> None:
    if "like" in kind:
        pytest.importorskip("llama_index.llms.openai_like")
    scene.push(DONE)
    call(scene.llm(kind, **LIKE if "like" in kind else {}), method)
    (row,) = scene.rows()
    assert row["name"] == "chat gpt-5"
    assert "Hi" in row["gen_ai.input.messages"]
    assert "Done." in row["gen_ai.output.messages"]
    assert row["gen_ai.response.finish_reasons"] == ["stop"]
    streamed = "stream" in method
    assert row.get("gen_ai.usage.input_tokens") == (None if streamed else 60)
    assert ("gen_ai.response.time_to_first_chunk" in row) is streamed


def test_a_stream_has_the_usage_that_a_program_asks_for(scene: Scene) -> None:
    scene.push(DONE)
    options = {"stream_options": {"include_usage": True}}
    list(scene.llm(additional_kwargs=options).stream_chat([message("Hi")]))
    (row,) = scene.rows()
    assert row["gen_ai.usage.input_tokens"] == 60


def test_a_structured_answer_is_one_call(scene: Scene) -> None:
    answer = import_module("pydantic").create_model("Answer", __doc__="An answer.", text=(str, ...))

    def turn(request: Any) -> Turn:
        if request.body.get("tools"):
            return Turn(tool_calls=(ToolCall("Answer", {"text": "yes"}),))
        return Turn(text='{"text": "yes"}')

    scene.rules.append(turn)
    llm = scene.llm()
    assert llm.structured_predict(answer, prompt(), word="Hi").text == "yes"
    wait(_structured(llm, answer))
    assert len(scene.all("chat")) == len(scene.requests) == 2


async def _structured(llm: Any, answer: Any) -> Any:
    return await llm.as_structured_llm(answer).achat([message("Hi")])


@pytest.fixture
def without_client(scene: Scene) -> Iterator[Scene]:
    """Nothing records the calls of OpenAI's client."""
    from agentool_otel.integrations.openai.instrumentor import OpenAIInstrumentor

    OpenAIInstrumentor().uninstrument()
    yield scene
    OpenAIInstrumentor().instrument()


@pytest.mark.parametrize("streaming", [False, True])
def test_a_call_that_no_client_records_is_recorded(without_client: Scene, streaming: bool) -> None:
    scene = without_client
    if "streaming" not in type(scene.agent()).model_fields:
        pytest.skip("agents of this version always stream")
    scene.push(SEARCH, DONE)
    scene.run(scene.agent(search_web, streaming=streaming, system_prompt="Search."), "What?")
    first, second = scene.all("chat")
    assert "Search." in first["gen_ai.input.messages"]
    assert "search_web" in first["gen_ai.tool.definitions"]
    assert first["gen_ai.response.finish_reasons"] == ["tool_call"]
    assert scene.all("execute_tool")[0]["gen_ai.tool.call.id"] in first["gen_ai.output.messages"]
    assert "found OTel" in second["gen_ai.input.messages"]
    assert first["gen_ai.provider.name"] == "openai"
    assert second["gen_ai.response.id"].startswith("chatcmpl")
    assert second.get("gen_ai.usage.input_tokens") == (None if streaming else 60)


def test_an_error_of_a_model_is_recorded_once(without_client: Scene) -> None:
    scene = without_client
    scene.push(Turn(status=400, error="on holiday"))
    with pytest.raises(Exception, match="on holiday"):
        scene.llm().chat([message("Hi")])
    (row,) = scene.rows()
    assert row["error.type"] == "openai.BadRequestError"


def test_an_error_in_a_stream_is_recorded_once(without_client: Scene) -> None:
    scene = without_client
    scene.push(Turn(status=400, error="on holiday"))
    with pytest.raises(Exception, match="on holiday"):
        list(scene.llm().stream_chat([message("Hi")]))
    (row,) = scene.rows()
    assert row["error.type"] == "openai.BadRequestError"


def own_model() -> Any:
    """Return a model of a program, by LlamaIndex's base class for those."""
    llms = import_module("llama_index.core.llms")
    callback = import_module("llama_index.core.llms.callbacks").llm_completion_callback

    def complete(self: Any, prompt: str, **_: Any) -> Any:
        usage = {"usage": {"prompt_tokens": 5, "completion_tokens": 2}}
        return llms.CompletionResponse(text="Own.", raw=usage)

    def stream_complete(self: Any, prompt: str, **_: Any) -> Any:
        def pieces() -> Iterator[Any]:
            yield llms.CompletionResponse(text="Ow", delta="Ow")
            yield llms.CompletionResponse(text="Own.", delta="n.")

        return pieces()

    members = {
        "metadata": property(lambda _: llms.LLMMetadata(model_name="own")),
        "complete": callback()(complete),
        "stream_complete": callback()(stream_complete),
    }
    return type("Own", (llms.CustomLLM,), members)()


@pytest.mark.parametrize("method", ["chat", "complete", "stream_chat", "stream_complete"])
def test_a_model_of_a_program_is_recorded_once(scene: Scene, method: str) -> None:
    call(own_model(), method)
    (row,) = scene.rows()
    assert row["gen_ai.operation.name"] == "text_completion"
    assert "Own." in row["gen_ai.output.messages"]
    if "stream" not in method:
        assert row["gen_ai.usage.input_tokens"] == 5


def test_a_stream_that_is_closed_early_has_what_was_read(scene: Scene) -> None:
    stream = own_model().stream_complete("Hi")
    next(stream)
    stream.close()
    (row,) = scene.rows()
    assert row["agentool.interrupted"] == "closed"
    assert "Ow" in row["gen_ai.output.messages"]


def test_a_stream_that_another_thread_reads_is_recorded_once(scene: Scene) -> None:
    scene.push(DONE)
    copy_context().run(read_in_a_thread, scene)
    assert scene.names() == ["chat gpt-5"]


def test_streams_that_other_threads_read_are_not_kept(scene: Scene) -> None:
    models = import_module("agentool_otel.integrations.llama_index.instrumentor.models")

    def read_many() -> None:
        for _ in range(10):
            scene.push(DONE)
            read_in_a_thread(scene)

    used = copy_context()
    used.run(read_many)
    gc.collect()
    kept = [each for each in gc.get_objects() if type(each) is models.ModelCall]
    assert len(kept) <= 1, "only the last is still in the context that it began in"
