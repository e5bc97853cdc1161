"""Knowledge bases of Bedrock: what they find, and answers that are made of it.

Source: botocore data/bedrock-agent-runtime/2023-07-26, `RetrieveRequest`, `RetrieveResponse`,
`RetrieveAndGenerateRequest`, at 1.44.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.content.policy import jsonable
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import Inference, Retrieval
from agentool_otel.providers.fields import get, integer, items, number, string

__all__ = [
    "GenerationReading",
    "RetrievalReading",
    "generation",
    "generation_content",
    "retrieval",
    "retrieval_content",
]


def retrieval(parameters: dict[str, Any]) -> Retrieval:
    """Return what is known of a look-up at its start."""
    config = get(parameters.get("retrievalConfiguration"), "vectorSearchConfiguration")
    return Retrieval(
        data_source_id=string(parameters, "knowledgeBaseId"),
        top_k=integer(config, "numberOfResults"),
        **parameters[""],
    )


def retrieval_content(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the query of a look-up."""
    return {"query": string(parameters.get("retrievalQuery"), "text")}


class RetrievalReading:
    """Reads what was found."""

    complete = True
    has_last_event = False

    def __init__(self, request: Retrieval):
        self._request = request
        self._response: Any = None

    def add(self, chunk: Any) -> None:
        """What is found is not streamed."""

    def whole(self, response: Any) -> None:
        self._response = response

    def operation(self) -> Retrieval:
        found = [_document(item) for item in items(self._response, "retrievalResults")]
        return replace(self._request, documents=None if self._response is None else found)


def _document(item: Any) -> dict[str, Any]:
    content = get(item, "content")
    document = {
        "id": string(item, "documentId"),
        "content": string(content, "text") or jsonable(content),
        "score": number(item, "score"),
        "location": jsonable(get(item, "location")),
        "metadata": jsonable(get(item, "metadata")),
    }
    return {name: value for name, value in document.items() if value is not None}


def generation(parameters: dict[str, Any], stream: bool | None = None) -> Inference:
    """Return what is known of an answer from a knowledge base at its start."""
    config = parameters.get("retrieveAndGenerateConfiguration")
    sources = (get(config, f"{name}Configuration") for name in ("knowledgeBase", "externalSources"))
    models = (string(source, "modelArn") for source in sources)
    arn = next((model for model in models if model), None)
    return Inference(
        request_model=None if arn is None else arn.rpartition("/")[2],
        conversation_id=string(parameters, "sessionId"),
        stream=stream,
        **parameters[""],
    )


def generation_content(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the question."""
    question = string(parameters.get("input"), "text")
    return {"input": None if question is None else [message("user", [text(question)])]}


class GenerationReading:
    """Reads an answer, whole or in chunks."""

    def __init__(self, request: Inference):
        self._request = request
        self._texts: list[str] = []

    complete = has_last_event = False

    def whole(self, response: Any) -> None:
        self.add(response)

    def add(self, chunk: Any) -> None:
        words = string(get(chunk, "output"), "text")
        if words is not None:
            self._texts.append(words)

    def operation(self) -> Inference:
        answer = "".join(self._texts)
        output = [message("assistant", [text(answer)])] if answer else None
        return replace(self._request, output=output)
