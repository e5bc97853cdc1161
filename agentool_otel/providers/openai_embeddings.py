"""Embeddings: requests and answers.

Source: openai-python types/embedding_create_params.py and create_embedding_response.py at 3.52.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.model.operations import Embeddings
from agentool_otel.providers.fields import get, integer, items, string
from agentool_otel.providers.openai_usage import usage_of

__all__ = ["EmbeddingsReading", "content", "request"]


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
        response = self._response
        dimensions = self._request.dimensions
        if dimensions is None and (data := items(response, "data")):
            dimensions = len(items(data[0], "embedding")) or None
        return replace(
            self._request,
            dimensions=dimensions,
            response_model=string(response, "model"),
            usage=usage_of({"prompt_tokens": integer(get(response, "usage"), "prompt_tokens")}),
        )


def request(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an `Embeddings` that the request's parameters set."""
    encoding = string(parameters, "encoding_format")
    return {
        "request_model": string(parameters, "model"),
        "dimensions": integer(parameters, "dimensions"),
        "encoding_formats": [encoding] if encoding else None,
    }


def content(parameters: dict[str, Any]) -> dict[str, Any]:
    """The conventions have no place for the texts that are embedded."""
    return {}
