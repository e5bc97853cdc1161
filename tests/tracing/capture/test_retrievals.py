"""`retrieval` and `embeddings`: look-ups and embeddings of one's own, reported by hand."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

import agentool_otel
from agentool_otel.loading import rebuild
from tests.records import records


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:32]


EMBEDDED: dict[str, Any] = {
    "object": "list",
    "model": "embed-001",
    "data": [{"object": "embedding", "index": 0, "embedding": [0.1, 0.2, 0.3]}],
    "usage": {"prompt_tokens": 4, "total_tokens": 4},
}


def test_a_retrieval_has_its_query_and_documents(spans: Any) -> None:
    with agentool_otel.retrieval("otel", "wiki", top_k=3) as retrieval:
        retrieval.documents(["a text", {"id": 7, "score": 0.5, "text": "b"}])
        retrieval.documents([({"page_content": "c", "metadata": {"n": 1}}, 0.25)])
    assert spans.tree() == "retrieval wiki"
    assert spans.attributes()["gen_ai.retrieval.query.text"] == "otel"
    assert spans.attributes()["gen_ai.retrieval.top_k"] == 3
    assert spans.json("gen_ai.retrieval.documents") == [
        {"content": "a text", "id": f"sha256:{digest(b'a text')}"},
        {"id": "7", "score": 0.5, "content": "b"},
        {"content": "c", "metadata": {"n": 1}, "score": 0.25, "id": f"sha256:{digest(b'c')}"},
    ]


@pytest.mark.parametrize(("documents", "expected"), [([], "[]"), (None, None)])
def test_no_documents_and_unknown_documents_are_different(
    spans: Any, documents: Any, expected: str | None
) -> None:
    with agentool_otel.retrieval("otel") as retrieval:
        if documents is not None:
            retrieval.documents(documents)
    assert spans.attributes().get("gen_ai.retrieval.documents") == expected


def test_without_content_a_retrieval_has_neither_query_nor_documents(spans: Any) -> None:
    spans.without_content()
    with agentool_otel.retrieval("otel", "wiki") as retrieval:
        retrieval.documents(["a text"])
    assert not any("retrieval" in key for key in spans.attributes())


def test_an_error_of_a_retrieval_passes(spans: Any) -> None:
    with pytest.raises(LookupError), agentool_otel.retrieval("otel", "wiki"):
        raise LookupError
    assert spans.tree() == "retrieval wiki   error=LookupError"


def test_a_retrieval_inside_a_run_is_a_step_of_it(spans: Any) -> None:
    with agentool_otel.run("a"), agentool_otel.retrieval("otel", "wiki") as retrieval:
        retrieval.documents(["a text"])
    [trace] = rebuild(records(spans.finished()))
    assert [step["type"] for step in trace.trace.to_dict()["steps"]] == ["memory_read"]


def test_embeddings_have_model_server_and_usage(spans: Any) -> None:
    with agentool_otel.embeddings("embed", url="https://api.openai.com/v1/embeddings") as call:
        call.usage(input_tokens=12)
    attributes = spans.attributes()
    assert spans.tree() == "embeddings embed   in=12"
    assert attributes["gen_ai.provider.name"] == "openai"
    assert (attributes["server.address"], attributes["server.port"]) == ("api.openai.com", 443)


def test_the_response_of_embeddings_fills_in_the_rest(spans: Any) -> None:
    with agentool_otel.embeddings("embed", provider="openai") as call:
        call.output(EMBEDDED)
    attributes = spans.attributes()
    assert attributes["gen_ai.response.model"] == "embed-001"
    assert attributes["gen_ai.embeddings.dimension.count"] == 3
    assert attributes["gen_ai.usage.input_tokens"] == 4


def test_nested_embeddings_and_retrievals_are_own_calls(spans: Any) -> None:
    with (
        agentool_otel.model_call("m", provider="own"),
        agentool_otel.retrieval("otel", "wiki"),
        agentool_otel.embeddings("embed", provider="own"),
        agentool_otel.embeddings("embed", provider="own"),
    ):
        pass
    assert spans.tree().split() == ["chat", "m", "retrieval", "wiki", "embeddings", "embed"]
