"""Calls of Bedrock, at the method that all clients of the AWS SDK make their calls with.

Clients of other services pass: their calls are looked up in a table and left alone.

Source: botocore client.py and data/bedrock-runtime/2023-09-30 at 1.37 and 1.44; aiobotocore
client.py at 2.25.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentool_otel.ground.json_codec import loads
from agentool_otel.integrations.bedrock.instrumentor import agents, retrievals
from agentool_otel.integrations.bedrock.instrumentor.bodies import watch
from agentool_otel.model.operations import Embeddings, Inference, Operation, Usage
from agentool_otel.providers import bedrock, bedrock_models
from agentool_otel.providers.fields import get, integer, is_a, items, plain_text, record, string
from agentool_otel.providers.reading import Reading
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
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["PATCHES", "SCOPE"]

SCOPE = "agentool_otel.instrumentation.bedrock"
"""Recordings hold this name, so it stays when the module moves."""


def server_fields(client: Any) -> dict[str, Any]:
    """Return the fields that every call of a client has in common."""
    address, port = address_in(client.meta.endpoint_url)
    return {"provider": Provider.AWS_BEDROCK, "server_address": address, "server_port": port}


def _call(
    description: str,
    operation: Callable[[dict[str, Any]], Operation],
    content: Callable[[dict[str, Any]], dict[str, Any]],
    reading: Callable[[Any], Reading],
    taken: Callable[[Any, Ending], Any] | None = None,
) -> ClientCall:
    return ClientCall(
        f"{description} of Bedrock",
        SCOPE,
        lambda _, parameters: operation(parameters),
        content,
        reading,
        taken=taken,
    )


def _stream_in(name: str) -> Callable[[Any, Ending], Any]:
    """Return what takes a result that has a stream of events in one of its members."""

    def taken(result: Any, ending: Ending) -> Any:
        result[name] = ending.stream(result[name])
        return result

    return taken


def _with_body(result: Any, ending: Ending) -> Any:
    """Take a result whose body is still to be read."""
    headers = get(get(result, "ResponseMetadata"), "HTTPHeaders")
    _count(headers, ending.reading)
    watch(result["body"], ending, _whole(string(headers, "content-length")))
    return result


def _count(headers: Any, reading: Any) -> None:
    """Set the token counts in the headers of a response, which is all that some models report."""
    names = (f"x-amzn-bedrock-{side}-token-count" for side in ("input", "output"))
    reading.count(*(_whole(string(headers, name)) for name in names))


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _model_of(parameters: dict[str, Any]) -> str | None:
    """Return the name of a model; an ARN of one that AWS provides ends with it."""
    name = string(parameters, "modelId")
    if name is not None and ("foundation-model/" in name or ":inference-profile/" in name):
        return name.rpartition("/")[2]
    return name


# -------------------------------------------------------------------------------------- Converse


def _converse(parameters: dict[str, Any]) -> Inference:
    fields = bedrock.request(parameters) | {"request_model": _model_of(parameters)}
    return Inference(**fields, **parameters[""])


def _converse_stream(parameters: dict[str, Any]) -> Inference:
    fields = bedrock.request(parameters) | {"request_model": _model_of(parameters)}
    return Inference(stream=True, **fields, **parameters[""])


# ----------------------------------------------------------------------------------- InvokeModel


def _invoke(parameters: dict[str, Any], stream: bool | None = None) -> Operation:
    model, body = _model_of(parameters), parameters["body"]
    if "embed" in (model or "").lower():
        return Embeddings(
            request_model=model, dimensions=integer(body, "dimensions"), **parameters[""]
        )
    return Inference(
        request_model=model, stream=stream, **bedrock_models.request(body), **parameters[""]
    )


def _invoke_content(parameters: dict[str, Any]) -> dict[str, Any]:
    if "embed" in (_model_of(parameters) or "").lower():
        return {}
    return bedrock_models.content(parameters["body"])


def _body(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a request, empty if it is no JSON object."""
    text = _plain_body(parameters.get("body"))
    try:
        return {} if text is None else record(loads(text)) or {}
    except ValueError:
        return {}


def _plain_body(body: Any) -> bytes | str | None:
    """Return a body as the built-in type, None for one that is no text: a stream is not read."""
    if is_a(body, bytes):
        return bytes.__getitem__(body, slice(None))
    if is_a(body, bytearray):
        return bytes(bytearray.__getitem__(body, slice(None)))
    return plain_text(body)


class _ModelAnswer(bedrock_models.ModelReading):
    """Reads what InvokeModel returns: the body, or the chunks of one."""

    def add(self, chunk: Any) -> None:
        data = get(get(chunk, "chunk"), "bytes")
        if is_a(data, bytes):
            super().add(loads(data))


class _EmbeddingAnswer:
    """Reads embeddings of Titan, Nova and Cohere."""

    complete = True
    has_last_event = False

    def __init__(self, request: Embeddings):
        self._request = request
        self._response: Any = None
        self._tokens: int | None = None

    def add(self, chunk: Any) -> None:
        """Embeddings are not streamed."""

    def whole(self, response: Any) -> None:
        self._response = response

    def count(self, input_tokens: int | None, output_tokens: int | None) -> None:
        self._tokens = input_tokens

    def operation(self) -> Embeddings:
        several = get(self._response, "embeddings")
        vectors = items(several) or items(several, "float")
        first = vectors[0] if vectors else get(self._response, "embedding")
        vector = items(first, "embedding") or items(first)
        tokens = integer(self._response, "inputTextTokenCount")
        tokens = self._tokens if tokens is None else tokens
        dimensions = self._request.dimensions or len(vector) or None
        usage = None if tokens is None else Usage(input_tokens=tokens)
        return Embeddings(
            provider=self._request.provider,
            request_model=self._request.request_model,
            dimensions=dimensions,
            usage=usage,
            server_address=self._request.server_address,
            server_port=self._request.server_port,
        )


def _invoked(request: Any) -> Reading:
    return _EmbeddingAnswer(request) if isinstance(request, Embeddings) else _ModelAnswer(request)


_AGENT = _call(
    "InvokeAgent", agents.operation, agents.content, agents.AgentReading, _stream_in("completion")
)

_CALLS: dict[tuple[str | None, str], ClientCall] = {
    ("bedrock-runtime", "Converse"): _call(
        "Converse", _converse, bedrock.content, bedrock.ConverseReading
    ),
    ("bedrock-runtime", "ConverseStream"): _call(
        "ConverseStream",
        _converse_stream,
        bedrock.content,
        bedrock.ConverseReading,
        _stream_in("stream"),
    ),
    ("bedrock-runtime", "InvokeModel"): _call(
        "InvokeModel", _invoke, _invoke_content, _invoked, _with_body
    ),
    ("bedrock-runtime", "InvokeModelWithResponseStream"): _call(
        "InvokeModelWithResponseStream",
        lambda parameters: _invoke(parameters, stream=True),
        _invoke_content,
        _ModelAnswer,
        _stream_in("body"),
    ),
    ("bedrock-agent-runtime", "InvokeAgent"): _AGENT,
    ("bedrock-agent-runtime", "InvokeInlineAgent"): _AGENT,
    ("bedrock-agent-runtime", "Retrieve"): _call(
        "Retrieve",
        retrievals.retrieval,
        retrievals.retrieval_content,
        retrievals.RetrievalReading,
    ),
    ("bedrock-agent-runtime", "RetrieveAndGenerate"): _call(
        "RetrieveAndGenerate",
        retrievals.generation,
        retrievals.generation_content,
        retrievals.GenerationReading,
    ),
    ("bedrock-agent-runtime", "RetrieveAndGenerateStream"): _call(
        "RetrieveAndGenerateStream",
        lambda parameters: retrievals.generation(parameters, stream=True),
        retrievals.generation_content,
        retrievals.GenerationReading,
        _stream_in("stream"),
    ),
}
"""By the name of the service and of the operation."""


def _start(client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ending | None:
    """Start the span of a call; None for one that is of no interest, or is not recorded."""
    # A property of botocore's, which `get` would not call.
    service = getattr(getattr(client, "_service_model", None), "service_name", None)
    operation = args[0] if args else kwargs.get("operation_name")
    call = _CALLS.get((service, operation)) if type(operation) is str else None
    if call is None:
        return None
    with guarded(f"starting the span of {call.what}"):
        parameters = record(args[1] if len(args) > 1 else kwargs.get("api_params")) or {}
        read = {"": server_fields(client), "body": _body(parameters)}
        ending = start(call, client, parameters | read)
        if ending is not None and isinstance(ending.reading, agents.AgentReading):
            ending.reading.context = ending.context
            ending.on_end = ending.reading.end_steps
        return ending
    return None


PATCHES = (
    Patch("botocore.client", "BaseClient._make_api_call", calling(_start)),
    Patch("aiobotocore.client", "AioBaseClient._make_api_call", calling_async(_start), True),
)
