"""Model calls, at the method that sends a request: its body is what the model gets, whichever way
the program wrote it, and one call of it is one request, retries included.

Source: python-genai google/genai/_api_client.py and models.py at 1.24, 2.34 and 3.6.
"""

from __future__ import annotations

from typing import Any

from opentelemetry.context import Context, create_key, get_value, set_value

from agentool_otel.ground.json_codec import loads
from agentool_otel.model.operations import Embeddings, Inference, Operation
from agentool_otel.providers import google
from agentool_otel.providers.fields import get, items, record, string
from agentool_otel.providers.google_embeddings import EmbeddingsReading, embeddings_request
from agentool_otel.providers.servers import address_in
from agentool_otel.semconv.gen_ai import Provider
from agentool_otel.tracing.instrumentation.client_calls import (
    ClientCall,
    Ending,
    calling,
    calling_async,
    start,
)
from agentool_otel.tracing.instrumentation.instrumentor import Patch

__all__ = ["PATCHES", "SCOPE", "LastCall", "server_fields"]

SCOPE = "agentool_otel.instrumentation.google_genai"
"""Recordings hold this name, so it stays when the module moves."""

_LAST_CALL = create_key("agentool-otel-google-genai-last-call")


class LastCall:
    """The first request and the last answer of the model calls in a context."""

    __slots__ = ("body", "reading")

    def __init__(self) -> None:
        self.body: dict[str, Any] | None = None
        self.reading: google.GenerateContentReading | None = None

    def within(self, context: Context) -> Context:
        """Return a context whose model calls are noted here."""
        return set_value(_LAST_CALL, self, context)


def server_fields(client: Any) -> dict[str, Any]:
    """Return the fields that every call of a client has in common."""
    address, port = address_in(string(get(client, "_http_options"), "base_url") or "")
    vertex = get(client, "vertexai") is True
    return {
        "provider": Provider.GCP_VERTEX_AI if vertex else Provider.GCP_GEMINI,
        "server_address": address,
        "server_port": port,
    }


class _Answer:
    """Reads an answer: the JSON of a whole one, or the HTTP responses of a stream."""

    has_last_event = True

    def __init__(self, operation: Inference):
        self._reading = google.GenerateContentReading(operation)
        present: Any = get_value(_LAST_CALL)
        if isinstance(present, LastCall):
            present.reading = self._reading

    @property
    def complete(self) -> bool:
        return self._reading.complete

    def whole(self, response: Any) -> None:
        self._reading.whole(response)

    def add(self, chunk: Any) -> None:
        body = string(chunk, "body")
        if body:
            self._reading.add(loads(body))

    def operation(self) -> Operation:
        return self._reading.operation()


def _taken(response: Any, ending: Ending) -> Any:
    """Take the HTTP response of a whole answer; one that is no JSON is an error for the SDK too."""
    body = string(response, "body")
    if body:
        ending.body(body.encode())
    else:
        ending.whole({})
    return response


def _inference(client: Any, parameters: dict[str, Any]) -> Inference:
    return Inference(
        request_model=parameters["model"],
        stream=True if parameters["method"].startswith("stream") else None,
        **server_fields(client),
        **google.request(parameters["body"]),
    )


def _content(parameters: dict[str, Any]) -> dict[str, Any]:
    return google.content(parameters["body"])


def _embeddings(client: Any, parameters: dict[str, Any]) -> Embeddings:
    return Embeddings(
        request_model=parameters["model"],
        **server_fields(client),
        **embeddings_request(parameters["body"]),
    )


_STREAM = ClientCall("a generateContent call", SCOPE, _inference, _content, _Answer)
_GENERATE = _STREAM._replace(taken=_taken)
_EMBED = ClientCall("embeddings", SCOPE, _embeddings, lambda _: {}, EmbeddingsReading, taken=_taken)

_CALLS = {
    "generateContent": _GENERATE,
    "streamGenerateContent": _STREAM,
    "batchEmbedContents": _EMBED,
    "embedContent": _EMBED,
}
"""By the method in the path of a request."""


def _start(client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ending | None:
    """Start the span of a request; None for one that calls no model."""
    path, body = (_argument(args, kwargs, *place) for place in ((1, "path"), (2, "request_dict")))
    if type(path) is not str:
        return None
    model, _, method = path.partition("?")[0].rpartition(":")
    fields = record(body) or {}
    call = _CALLS.get(method)
    if call is None and method == "predict" and string(_first(fields), "content") is not None:
        call = _EMBED  # of Vertex AI, where other models have the method as well
    if call is None:
        return None
    parameters = {"model": _name_of(model), "method": method, "body": fields}
    present: Any = get_value(_LAST_CALL)
    if isinstance(present, LastCall) and present.body is None:
        present.body = fields
    return start(call, client, parameters)


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], index: int, name: str) -> Any:
    return args[index] if len(args) > index else kwargs.get(name)


def _first(body: dict[str, Any]) -> Any:
    return next(iter(items(body, "instances")), None)


def _name_of(path: str) -> str:
    """Return the model's name in a path; a tuned model keeps the folder that says so."""
    for folder in ("models/", "tunedModels/"):
        before, found, name = path.rpartition(folder)
        if found and (not before or before.endswith("/")):
            return name if folder == "models/" else folder + name
    return path


_CLIENT = "google.genai._api_client"

PATCHES = (
    Patch(_CLIENT, "BaseApiClient.request", calling(_start)),
    Patch(_CLIENT, "BaseApiClient.request_streamed", calling(_start)),
    Patch(_CLIENT, "BaseApiClient.async_request", calling_async(_start)),
    Patch(_CLIENT, "BaseApiClient.async_request_streamed", calling_async(_start)),
)
