"""Model calls through LangChain, outside of any agent, as spans."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agentool_otel.ground.json_codec import loads
from agentool_otel.integrations.langchain.instrumentor import models
from agentool_otel.loading import rebuild
from agentool_otel.testing.loopback_model import LoopbackModel, Turn, call
from agentool_otel.tracing.spans.settings import settings
from tests.integrations.langchain.langchain_agents import instrumented, no_span
from tests.records import records

__all__ = ["instrumented"]

pytest.importorskip("langchain_openai")


@pytest.fixture
def made(model: LoopbackModel) -> Callable[..., Any]:
    """Makes a chat model."""
    from langchain_openai import ChatOpenAI

    def make(**options: Any) -> Any:
        value: Any = {"model": "gpt-5", "base_url": model.base_url, "api_key": "none"}
        value.update({"max_retries": 0, **options})
        return ChatOpenAI(**value)

    return make


def ask(chat: Any, way: str, request: Any = "Hello") -> Any:
    """Call a model, or whatever runs like one, one way or another."""

    async def ainvoke() -> Any:
        answer = await chat.ainvoke(request)
        assert no_span()
        return answer

    async def astream() -> Any:
        complete: Any = None
        async for chunk in chat.astream(request):
            assert no_span()
            complete = chunk if complete is None else complete + chunk
        return complete

    def stream() -> Any:
        complete: Any = None
        for chunk in chat.stream(request):
            assert no_span()
            complete = chunk if complete is None else complete + chunk
        return complete

    match way:
        case "invoke":
            answer = chat.invoke(request)
        case "stream":
            answer = stream()
        case "ainvoke":
            answer = asyncio.run(ainvoke())
        case _:
            answer = asyncio.run(astream())
    assert no_span()
    return answer


WAYS = ("invoke", "stream", "ainvoke", "astream")


@pytest.mark.parametrize("way", WAYS)
def test_a_call_is_one_client_span(spans: Any, model: Any, made: Any, way: str) -> None:
    model.push(Turn(text="Hi.", input_tokens=41, output_tokens=12))
    ask(made(stream_usage=True), way)
    assert spans.tree() == "chat gpt-5   in=41 out=12 finish=stop"
    assert spans.only().kind.name == "CLIENT"
    assert spans.only().instrumentation_scope.name == "agentool_otel.instrumentation.langchain"


def test_parameters_of_the_request_are_attributes(spans: Any, model: Any, made: Any) -> None:
    made(
        model="gpt-4.1", temperature=0, top_p=0.9, max_tokens=50, frequency_penalty=1,
        presence_penalty=0.5, seed=7, stop_sequences=["END"], reasoning_effort="low",
    ).invoke("Hello")  # fmt: skip
    attributes = spans.attributes()
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4.1",
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.top_p": 0.9,
        "gen_ai.request.max_tokens": 50,
        "gen_ai.request.frequency_penalty": 1.0,
        "gen_ai.request.presence_penalty": 0.5,
        "gen_ai.request.seed": 7,
        "gen_ai.request.stop_sequences": ["END"],
        "gen_ai.request.reasoning.level": "low",
        "server.address": "127.0.0.1",
    }
    assert {name: attributes.get(name) for name in expected} == expected
    assert "gen_ai.request.stream" not in attributes
    assert attributes["server.port"] == int(model.base_url.rpartition(":")[2].split("/")[0])


def test_a_stream_has_its_time_to_first_chunk(spans: Any, model: Any, made: Any) -> None:
    model.push(Turn(text="A longer answer.", delay_s=0.05))
    ask(made(), "stream")
    attributes = spans.attributes()
    assert attributes["gen_ai.request.stream"] is True
    assert attributes["gen_ai.response.time_to_first_chunk"] >= 0.05
    text = spans.json("gen_ai.output.messages")
    assert text[0]["parts"] == [{"type": "text", "content": "A longer answer."}]


@pytest.mark.parametrize("way", WAYS)
def test_token_counts_have_their_subsets(spans: Any, model: Any, made: Any, way: str) -> None:
    model.push(Turn(input_tokens=100, output_tokens=50, cached_tokens=30, reasoning_tokens=20))
    ask(made(stream_usage=True), way)
    attributes = spans.attributes()
    assert attributes["gen_ai.usage.input_tokens"] == 100
    assert attributes["gen_ai.usage.output_tokens"] == 50
    assert attributes["gen_ai.usage.cache_read.input_tokens"] == 30
    assert attributes["gen_ai.usage.reasoning.output_tokens"] == 20


def test_missing_token_counts_are_not_recorded(spans: Any, made: Any) -> None:
    ask(made(), "stream")
    assert not [name for name in spans.attributes() if name.startswith("gen_ai.usage")]


def test_a_response_has_its_id_and_model(spans: Any, made: Any) -> None:
    made().invoke("Hello")
    attributes = spans.attributes()
    assert attributes["gen_ai.response.id"].startswith("chatcmpl")
    assert attributes["gen_ai.response.model"] == "gpt-5"


@pytest.mark.parametrize("way", WAYS)
def test_a_conversation_with_tools_is_recorded_completely(
    spans: Any, model: Any, made: Any, way: str
) -> None:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.tools import tool

    @tool
    def search(query: str) -> str:
        """Search the web."""
        return query

    request: Any = {"name": "search", "args": {"query": "a"}, "id": "call_1"}
    model.push(call("search", query="b"))
    values = [
        SystemMessage("Be brief."),
        HumanMessage("Find a, then b."),
        AIMessage("First a.", tool_calls=[request]),
        ToolMessage('{"hits": 1}', tool_call_id="call_1"),
    ]
    answer = ask(made().bind_tools([search]), way, values)
    assert spans.json("gen_ai.input.messages") == [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "content": "Find a, then b."}]},
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": "First a."},
                {
                    "type": "tool_call",
                    "name": "search",
                    "arguments": {"query": "a"},
                    "id": "call_1",
                },
            ],
        },
        {
            "role": "tool",
            "parts": [
                {"type": "tool_call_response", "response": {"hits": 1}, "id": "call_1"},
            ],
        },
    ]
    (text,) = spans.json("gen_ai.output.messages")
    assert text == {
        "role": "assistant",
        "parts": [
            {
                "type": "tool_call",
                "name": "search",
                "arguments": {"query": "b"},
                "id": answer.tool_calls[0]["id"],
            }
        ],
        "finish_reason": "tool_call",
    }
    (definition,) = spans.json("gen_ai.tool.definitions")
    assert definition["name"] == "search"
    assert definition["description"] == "Search the web."
    assert definition["parameters"]["required"] == ["query"]


def test_reasoning_is_a_part_of_its_own(spans: Any, model: Any, made: Any) -> None:
    model.push(Turn(text="42.", reasoning="Six times seven."))
    made(use_responses_api=True, reasoning={"effort": "low", "summary": "auto"}).invoke("6*7?")
    (text,) = spans.json("gen_ai.output.messages")
    assert text["parts"] == [
        {"type": "reasoning", "content": "Six times seven."},
        {"type": "text", "content": "42."},
    ]
    assert text["finish_reason"] == "stop"
    attributes = spans.attributes()
    assert attributes["gen_ai.request.reasoning.level"] == "low"
    assert attributes["gen_ai.response.id"].startswith("resp")


def test_arguments_that_are_not_json_are_kept_as_they_came(
    spans: Any, model: Any, made: Any
) -> None:
    from agentool_otel.testing.loopback_model import ToolCall

    model.push(Turn(tool_calls=(ToolCall("search", '{"query": ', id="call_1"),)))
    made().invoke("Hello")
    (text,) = spans.json("gen_ai.output.messages")
    assert text["parts"] == [
        {"type": "tool_call", "name": "search", "arguments": '{"query": ', "id": "call_1"}
    ]


@pytest.mark.parametrize("way", WAYS)
def test_a_call_that_fails_is_an_error(spans: Any, model: Any, made: Any, way: str) -> None:
    model.push(Turn(status=500))
    with pytest.raises(Exception, match="injected failure"):
        ask(made(), way)
    assert no_span()
    (span,) = spans.finished()
    assert span.status.status_code.name == "ERROR"
    assert span.attributes["error.type"].rpartition(".")[2] in (
        "InternalServerError",
        "OpenAIAPIError",
    )


@pytest.mark.parametrize("way", ["stream", "astream"])
def test_a_stream_that_is_cut_keeps_what_had_come(
    spans: Any, model: Any, made: Any, way: str
) -> None:
    model.push(Turn(text="A longer answer.", chunk_size=2, cut_after=4))
    with pytest.raises(Exception, match=r".*"):
        ask(made(), way)
    (text,) = spans.json("gen_ai.output.messages")
    assert "A longer answer.".startswith(text["parts"][0]["content"])
    assert spans.only().status.status_code.name == "ERROR"


def test_a_stream_that_is_left_early_is_no_error(spans: Any, model: Any, made: Any) -> None:
    model.push(Turn(text="A longer answer.", chunk_size=2))
    for _ in made().stream("Hello"):
        break
    assert no_span()
    span = spans.only()
    assert span.status.status_code.name == "UNSET"
    assert span.attributes["agentool.interrupted"] == "closed"


def test_what_the_reader_of_a_stream_does_is_not_below_it(spans: Any, made: Any) -> None:
    tracer = settings.tracer("mine")
    with tracer.start_as_current_span("reader") as reader:
        for _ in made().stream("Hello"):
            with tracer.start_as_current_span("piece"):
                pass
    pieces = [span for span in spans.finished() if span.name in ("piece", "chat gpt-5")]
    assert {span.parent.span_id for span in pieces} == {reader.get_span_context().span_id}


def test_batches_are_one_span_per_call(spans: Any, model: Any, made: Any) -> None:
    model.rule(lambda request: request.last_user)
    chat = made()
    chat.batch([f"q{n}" for n in range(4)])
    asyncio.run(chat.abatch([f"q{n}" for n in range(4)]))
    assert no_span()
    assert len(spans.finished()) == 8
    for span in spans.finished():
        content = loads(span.attributes["gen_ai.input.messages"])[0]["parts"][0]["content"]
        text = loads(span.attributes["gen_ai.output.messages"])[0]["parts"][0]["content"]
        assert content == text


@pytest.mark.parametrize("asynchronous", [False, True])
def test_of_several_conversations_one_may_fail(
    spans: Any, model: Any, made: Any, asynchronous: bool
) -> None:
    from langchain_core.messages import HumanMessage

    def fail(request: Any) -> Turn:
        return Turn(status=500) if request.last_user == "bad" else Turn(text="Hi.")

    model.rule(fail)
    values = [[HumanMessage("bad")], [HumanMessage("good")]]

    def generate() -> Any:
        chat = made()
        return asyncio.run(chat.agenerate(values)) if asynchronous else chat.generate(values)

    with pytest.raises(Exception, match="injected failure"):
        generate()
    assert no_span()
    assert len(spans.finished()) == 2


def test_several_choices_are_several_messages(spans: Any, made: Any) -> None:
    made(n=2).invoke("Hello")
    assert spans.attributes()["gen_ai.request.choice.count"] == 2
    reasons = spans.attributes()["gen_ai.response.finish_reasons"]
    assert len(spans.json("gen_ai.output.messages")) == len(reasons)


@pytest.mark.parametrize("way", WAYS)
def test_chains_around_a_model_are_no_spans(spans: Any, made: Any, way: str) -> None:
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate

    chain = ChatPromptTemplate.from_messages([("user", "{said}")]) | made() | StrOutputParser()
    ask(chain, way, {"said": "Hello"})
    assert [span.name for span in spans.finished()] == ["chat gpt-5"]


def test_a_completion_model_is_a_text_completion(spans: Any) -> None:
    from langchain_core.language_models import FakeListLLM

    FakeListLLM(responses=["Hi."]).invoke("Hello")
    assert spans.attributes()["gen_ai.operation.name"] == "text_completion"
    assert spans.json("gen_ai.output.messages")[0]["parts"][0]["content"] == "Hi."


def test_a_model_of_the_users_own_has_a_provider(spans: Any) -> None:
    from langchain_core.language_models import GenericFakeChatModel

    GenericFakeChatModel(messages=iter(["Hi."])).invoke("Hello")
    assert spans.attributes()["gen_ai.provider.name"]


@pytest.mark.filterwarnings("ignore:.* is in beta")
def test_event_streams_are_one_span_too(spans: Any, made: Any) -> None:
    chat = made()
    if not hasattr(chat, "_iter_v2_events"):
        pytest.skip("this langchain-core has no such streams")

    async def main() -> None:
        async for _ in await chat.astream_events("Hello", version="v3"):
            assert no_span()

    for _ in chat.stream_events("Hello", version="v3"):
        assert no_span()
    asyncio.run(main())
    assert [span.name for span in spans.finished()] == ["chat gpt-5"] * 2
    assert (
        spans.finished()[0].instrumentation_scope.name == "agentool_otel.instrumentation.langchain"
    )


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_retriever_records_query_and_documents(spans: Any, way: str) -> None:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Shelf(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            with settings.tracer("mine").start_as_current_span("mine"):
                return [Document("A standard.", id="d1", metadata={"score": 0.5, "page": 3})]

    ask(Shelf(), way, "otel")
    mine, span = spans.finished()
    assert span.name == "retrieval Shelf"
    assert mine.parent.span_id == span.context.span_id
    assert span.attributes["gen_ai.retrieval.query.text"] == "otel"
    assert loads(span.attributes["gen_ai.retrieval.documents"]) == [
        {
            "content": "A standard.",
            "id": "d1",
            "score": 0.5,
            "metadata": {"score": 0.5, "page": 3},
        }
    ]


def test_a_retriever_that_fails_is_an_error(spans: Any) -> None:
    from langchain_core.retrievers import BaseRetriever

    class Shelf(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
            raise LookupError(query)

    with pytest.raises(LookupError):
        Shelf().invoke("otel")
    assert spans.attributes()["error.type"] == "LookupError"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_the_server_is_the_one_the_models_client_talks_to(
    spans: Any, model: LoopbackModel, monkeypatch: pytest.MonkeyPatch, way: str, variable: str
) -> None:
    from langchain_openai import ChatOpenAI

    monkeypatch.setenv(variable, model.base_url)
    ask(ChatOpenAI(model="gpt-5", api_key="none", max_retries=0), way)  # type: ignore[arg-type]
    attributes = spans.attributes()
    port = int(model.base_url.rpartition(":")[2].split("/")[0])
    assert (attributes["server.address"], attributes["server.port"]) == ("127.0.0.1", port)


def test_the_server_is_found_without_calling_it() -> None:
    from langchain_openai import AzureChatOpenAI, ChatOpenAI, OpenAI

    chat: Any = ChatOpenAI(model="gpt-5", api_key="none")  # type: ignore[arg-type]
    assert models.server_of_model(chat) == ("api.openai.com", 443)
    text: Any = OpenAI(model="davinci", api_key="none")  # type: ignore[arg-type]
    assert models.server_of_model(text) == ("api.openai.com", 443)
    azure: Any = AzureChatOpenAI(
        api_key="none",  # type: ignore[arg-type]
        azure_endpoint="https://mine.openai.azure.com",
        api_version="2024-10-21",
        azure_deployment="d",
    )
    assert models.server_of_model(azure) == ("mine.openai.azure.com", 443)


class Untold:
    """A model without a client, or with one that shows nothing."""

    def __init__(self, client: Any = None) -> None:
        self.client = client


class Refusing:
    @property
    def base_url(self) -> str:
        raise RuntimeError("not connected")


@pytest.mark.parametrize("subject", [None, Untold(), Untold("client"), Untold({"base_url": 1})])
def test_a_model_without_client_has_no_server(subject: Any) -> None:
    assert models.server_of_model(subject) == (None, None)


def test_a_client_that_raises_costs_the_address_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "strict", False)
    assert models.server_of_model(Untold(Refusing())) == (None, None)


def test_the_address_of_a_client_may_be_text() -> None:
    client = {"base_url": "http://localhost:11434/"}
    assert models.server_of_model(Untold(client)) == ("localhost", 11434)
    assert models.server_of_model(Untold({"_client": client})) == ("localhost", 11434)


@pytest.mark.parametrize("way", WAYS)
def test_a_response_has_its_id_where_langchain_gives_it(
    spans: Any, model: Any, made: Any, way: str
) -> None:
    """Of a streamed chat completion, chunks have no id in LangChain 1.7; of a response they do."""
    ask(made(use_responses_api=True), way)
    assert spans.attributes()["gen_ai.response.id"].startswith("resp")


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("kind", ["retry", "fallback", "fallback in a chain"])
def test_failed_attempts_are_no_failed_runs(
    made: Callable[..., Any], model: LoopbackModel, spans: Any, way: str, kind: str
) -> None:
    model.push(Turn(status=500), "Fine.")
    chat: Any
    if kind == "retry":
        chat = made().with_retry(stop_after_attempt=2, wait_exponential_jitter=False)
    else:
        chat = made().with_fallbacks([made(model="spare")])
    if kind == "fallback in a chain":
        from langchain_core.runnables import RunnableLambda

        chat = RunnableLambda(lambda text: f"{text}!") | chat
    ask(chat, way)
    [run] = rebuild(records(spans.finished()))
    assert (run.trace.status, run.trace.output) == ("success", "Fine.")
