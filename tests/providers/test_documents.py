"""Every document that was retrieved has an id; a score only where one is known."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

import agentool_otel
from agentool_otel.providers.documents import with_id
from agentool_otel.testing.conformance import check_all


def digest(content: str) -> str:
    return f"sha256:{sha256(content.encode()).hexdigest()[:32]}"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"id": "d1", "content": "a"}, "d1"),
        ({"content": "a", "metadata": {"_id": 7}}, "7"),
        ({"content": "a", "metadata": {"id": ""}}, digest("a")),
        ({"content": "a", "metadata": None}, digest("a")),
        ({"content": {"b": 1}}, digest('{"b":1}')),
        ({"text": 1}, digest('{"text":1}')),
    ],
)
def test_an_id_is_the_documents_own_or_a_digest_of_its_content(
    document: dict[str, Any], expected: str
) -> None:
    assert with_id(document)["id"] == expected


def test_a_credential_is_not_to_be_found_by_its_digest() -> None:
    one, second = (f"password=hunter{n}hunter" for n in (2, 3))
    assert with_id({"content": one})["id"] == with_id({"content": second})["id"]


@pytest.mark.parametrize("name", ["score", "relevance_score", "similarity_score"])
def test_a_score_is_taken_from_the_metadata(name: str) -> None:
    assert with_id({"content": "a", "metadata": {name: 0.5}})["score"] == 0.5


@pytest.mark.parametrize("metadata", [{}, {"distance": 0.1}, {"score": "high"}, {"score": True}])
def test_a_score_is_never_made_up(metadata: dict[str, Any]) -> None:
    assert "score" not in with_id({"content": "a", "metadata": metadata})


def test_documents_reported_by_hand_conform(spans: Any) -> None:
    with agentool_otel.retrieval("otel", "wiki") as retrieval:
        retrieval.documents(["a text", {"score": None, "text": "b"}])
    text = spans.json("gen_ai.retrieval.documents")
    assert [item["id"] for item in text] == [digest("a text"), digest("b")]
    assert check_all(spans.finished()) == []
