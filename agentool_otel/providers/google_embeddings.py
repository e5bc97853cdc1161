"""Embeddings of Google's APIs: requests and answers.

Source: ai.google.dev/api/embeddings (v1beta, `batchEmbedContents` and `embedContent`); Vertex AI
`predict` of text embedding models, 2026-10.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.model.operations import Embeddings, Usage
from agentool_otel.providers.fields import get, integer, items

__all__ = ["EmbeddingsReading", "embeddings_request"]


def embeddings_request(body: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an `Embeddings` that the body of a request sets."""
    first = next(iter(items(body, "requests")), body)
    size = integer(first, "outputDimensionality")
    vertex = integer(body.get("parameters"), "outputDimensionality")
    return {"dimensions": vertex if size is None else size}


class EmbeddingsReading:
    """Reads the answer of an embedding model."""

    complete = True
    has_last_event = False

    def __init__(self, request: Embeddings):
        self._request = request
        self._response: Any = None

    def add(self, chunk: Any) -> None:
        """Embeddings are not streamed."""

    def whole(self, response: Any) -> None:
        self._response = response

    def operation(self) -> Embeddings:
        predictions = [get(item, "embeddings") for item in items(self._response, "predictions")]
        vectors = items(self._response, "embeddings") or predictions
        vectors = vectors or [get(self._response, "embedding")]
        dimensions = self._request.dimensions
        if dimensions is None:
            dimensions = len(items(vectors[0], "values")) or None
        counts = [integer(get(item, "statistics"), "token_count") for item in vectors]
        known = [count for count in counts if count is not None]
        usage = Usage(input_tokens=sum(known)) if known else None
        return replace(self._request, dimensions=dimensions, usage=usage)
