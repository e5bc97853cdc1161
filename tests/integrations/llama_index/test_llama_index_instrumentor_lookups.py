"""Retrieval, engines and embeddings."""

from __future__ import annotations

import gc
import json
import threading
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.testing.turns import ToolCall, Turn
from tests.integrations.llama_index.conftest import DONE, Scene, wait


def index() -> Any:
    core = import_module("llama_index.core")
    embedding = import_module("llama_index.core.embeddings").MockEmbedding(embed_dim=3)
    documents = [core.Document(text="OTel is a standard.", metadata={"source": "a"})]
    return core.VectorStoreIndex.from_documents(documents, embed_model=embedding)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_retrieval_has_documents_and_scores(scene: Scene, asynchronous: bool) -> None:
    retriever = index().as_retriever(similarity_top_k=3)
    if asynchronous:
        wait(_aretrieve(retriever))
    else:
        retriever.retrieve("What?")
    (row,) = scene.all("retrieval")
    (document,) = json.loads(row["gen_ai.retrieval.documents"])
    assert row["gen_ai.retrieval.query.text"] == "What?"
    assert row["gen_ai.retrieval.top_k"] == 3
    assert document["content"] == "OTel is a standard."
    assert document["metadata"] == {"source": "a"}
    assert isinstance(document["score"], float)


async def _aretrieve(retriever: Any) -> Any:
    return await retriever.aretrieve("What?")


@pytest.mark.parametrize("streaming", [False, True])
def test_a_query_engine_is_a_workflow(scene: Scene, streaming: bool) -> None:
    scene.push(DONE)
    engine = index().as_query_engine(llm=scene.llm(), streaming=streaming)
    scene.stage.recorded.clear()
    result = engine.query("What?")
    if streaming:
        assert "".join(result.response_gen) == "Done."
    assert scene.names() == [
        "invoke_workflow RetrieverQueryEngine",
        "  retrieval VectorIndexRetriever",
        "    embeddings unknown",
        "  chat gpt-5",
    ]
    (run,) = scene.all("invoke_workflow")
    assert "What?" in run["gen_ai.input.messages"]
    assert "Done." in run["gen_ai.output.messages"]


def test_an_asynchronous_stream_of_an_engine_ends_it(scene: Scene) -> None:
    async def program() -> str:
        engine = index().as_query_engine(llm=scene.llm(), streaming=True, use_async=True)
        result = await engine.aquery("What?")
        pieces = result.response_gen
        if hasattr(pieces, "__anext__"):
            return "".join([item async for item in pieces])
        return "".join(pieces)

    scene.push(DONE)
    assert wait(program()) == "Done."
    (run,) = scene.all("invoke_workflow")
    assert "Done." in run["gen_ai.output.messages"]


def test_an_answer_that_nobody_reads_ends_its_engine(scene: Scene) -> None:
    index().as_query_engine(llm=scene.llm(), streaming=True).query("What?")
    gc.collect()
    (run,) = scene.all("invoke_workflow")
    assert run["agentool.interrupted"] == "closed"


@pytest.mark.parametrize("streaming", [False, True])
def test_a_chat_engine_is_a_workflow(scene: Scene, streaming: bool) -> None:
    scene.push(DONE)
    engine = index().as_chat_engine(llm=scene.llm(), chat_mode="context")
    scene.stage.recorded.clear()
    if streaming:
        assert "".join(engine.stream_chat("What?").response_gen) == "Done."
        for thread in threading.enumerate():  # which writes the answer into the memory
            if type(thread).__module__.startswith("llama_index"):
                thread.join()
    else:
        engine.chat("What?")
    assert scene.names()[0] == "invoke_workflow ContextChatEngine"
    assert scene.names()[-1] == "  chat gpt-5"
    (run,) = scene.all("invoke_workflow")
    assert "Done." in run["gen_ai.output.messages"]


def test_an_error_in_an_engine_is_its_end(scene: Scene) -> None:
    scene.push(Turn(status=400, error="on holiday"))
    with pytest.raises(Exception, match="on holiday"):
        index().as_query_engine(llm=scene.llm()).query("What?")
    (run,) = scene.all("invoke_workflow")
    assert run["error.type"] == "openai.BadRequestError"
    assert run["agentool.status"] == "error"


def test_embeddings_of_a_client_are_recorded_once(scene: Scene) -> None:
    pytest.importorskip("llama_index.embeddings.openai")

    async def program() -> None:
        await model.aget_query_embedding("a")
        await model.aget_text_embedding_batch(["a", "b"])

    model = scene.embedding()
    model.get_query_embedding("a")
    model.get_text_embedding_batch(["a", "b"])
    wait(program())
    rows = scene.rows()
    assert [row["name"] for row in rows] == ["embeddings text-embedding-ada-002"] * 4
    assert all(row["gen_ai.usage.input_tokens"] for row in rows)


def test_embeddings_without_a_client_are_recorded(scene: Scene) -> None:
    model = import_module("llama_index.core.embeddings").MockEmbedding(embed_dim=3)
    model.get_text_embedding("a")
    (row,) = scene.all("embeddings")
    assert row["gen_ai.request.model"] == "unknown"


def test_an_engine_that_is_a_tool_lies_inside_it(scene: Scene) -> None:
    tools = import_module("llama_index.core.tools")
    engine = index().as_query_engine(llm=scene.llm())
    tool = tools.QueryEngineTool.from_defaults(engine, name="look_up", description="Looks up.")
    scene.stage.recorded.clear()
    scene.push(Turn(tool_calls=(ToolCall("look_up", {"input": "OTel"}),)), "Found.", DONE)
    scene.run(scene.agent(tool), "What?")
    assert scene.names() == [
        "invoke_agent researcher",
        "  chat gpt-5",
        "  execute_tool look_up",
        "    invoke_workflow RetrieverQueryEngine",
        "      retrieval VectorIndexRetriever",
        "        embeddings unknown",
        "      chat gpt-5",
        "  chat gpt-5",
    ]
