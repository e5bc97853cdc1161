"""`embeddings`: a call of an embedding model by one's own HTTP client, reported by hand."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.content.policy import jsonable, label
from agentool_otel.model.operations import Embeddings, Usage
from agentool_otel.providers.fields import get, integer, items, number, record, string
from agentool_otel.providers.openai_embeddings import EmbeddingsReading
from agentool_otel.tracing.capture._blocks import Block
from agentool_otel.tracing.capture.model_calls import server
from agentool_otel.tracing.spans.settings import SCOPE, guarded
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step
from agentool_otel.tracing.spans.suppression import CLIENTS, is_owned

__all__ = ["EmbeddingsCall", "embeddings"]

_EMBEDDED = "agentool-otel embeddings"
"""Owned by a block of these: one inside it is the same call, a model call is not."""


class EmbeddingsCall(Block):
    """One call of an embedding model in progress: a context manager, `with` or `async with`."""

    _what = "embeddings"

    def __init__(self, parameters: dict[str, Any]):
        self._parameters = parameters
        self._known = Embeddings()
        self._input_tokens: int | None = None
        self._cost: float | None = None

    def output(self, response: Any) -> None:
        """Report the response, in OpenAI's shape, as JSON or as an object of its SDK.

        The model's name, the token count and the size of the vectors are taken from it; the vectors
        are not kept.
        """
        with guarded("reading the output of embeddings"):
            if self._recording:
                reading = EmbeddingsReading(self._known)
                reading.whole(_without_vectors(response))
                self._known = reading.operation()

    def usage(self, input_tokens: int | None = None, *, cost_usd: float | None = None) -> None:
        """Report the usage of the call: tokens of the input, and the cost in US dollars."""
        with guarded("reading the usage of embeddings"):
            values = {"input_tokens": input_tokens, "cost_usd": cost_usd}
            count, cost = integer(values, "input_tokens"), number(values, "cost_usd")
            self._input_tokens = self._input_tokens if count is None else count
            self._cost = self._cost if cost is None else cost

    def _begin(self) -> StepSpan | None:
        if is_owned(_EMBEDDED):
            return None
        model, encoding = self._parameters["model"], string(self._parameters, "encoding_format")
        self._known = operation = Embeddings(
            **server(self._parameters),
            request_model=None if model is None else label(model),
            dimensions=integer(self._parameters, "dimensions"),
            encoding_formats=None if encoding is None else [encoding],
        )
        self._input_tokens = self._cost = None
        owner = frozenset({CLIENTS, _EMBEDDED})
        return start_step(operation, description=self._what, scope=SCOPE, owner=owner)

    def _operation(self) -> Embeddings:
        fields, count = self._known, self._input_tokens
        usage = fields.usage if count is None else Usage(input_tokens=count)
        return replace(fields, usage=usage, cost_usd=self._cost)


def embeddings(
    model: str,
    *,
    provider: str | None = None,
    url: str | None = None,
    dimensions: int | None = None,
    encoding_format: str | None = None,
) -> EmbeddingsCall:
    """Record a block of code as one call of an embedding model, made with your own HTTP client.

    Args:
        model: the name of the model.
        provider: `gen_ai.provider.name`; by default that of the URL's host, if it is known.
        url: the URL of the request, as text.
        dimensions: the requested size of the vectors.
        encoding_format: the requested encoding, e.g. `float` or `base64`.

    Returns:
        A context manager that yields the call. The texts are not recorded: the conventions have no
        attribute for them.
    """
    parameters: dict[str, Any] = {
        "model": model,
        "provider": provider,
        "url": url,
        "dimensions": dimensions,
        "encoding_format": encoding_format,
    }
    return EmbeddingsCall(parameters)


def _without_vectors(response: Any) -> Any:
    """Return a response as plain JSON, with its first vector alone.

    One that is JSON already is not copied whole: it may have a million numbers in it.
    """
    if type(response) is not dict:
        response = jsonable(response)
    members: dict[str, Any] = record(response) or {}
    return {
        "model": jsonable(members.get("model")),
        "usage": jsonable(members.get("usage")),
        "data": [{"embedding": get(first, "embedding")} for first in items(members, "data")[:1]
                 if type(first) is dict],
    }  # fmt: skip
