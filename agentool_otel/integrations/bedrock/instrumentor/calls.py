"""Calls of Bedrock, at the method that all clients of the AWS SDK make their calls with.

Clients of other services pass: their calls are looked up in a table and left alone.

Source: botocore client.py and data/bedrock-runtime/2023-09-30 at 1.37 and 1.44; aiobotocore
client.py at 2.25.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from opentelemetry.context import attach

from agentool_otel.ground.json_codec import loads
from agentool_otel.integrations.bedrock.instrumentor import agents, retrievals
from agentool_otel.integrations.bedrock.instrumentor.bodies import watch
from agentool_otel.model.operations import Embeddings, Inference, Operation, Usage
from agentool_otel.providers import bedrock, bedrock_models
from agentool_otel.providers.fields import get, integer, is_a, items, record, string
from agentool_otel.providers.reading import Reading
from agentool_otel.providers.servers import address_in
from agentool_otel.semconv.gen_ai import Provider
from agentool_otel.tracing.instrumentation.client_calls import ClientCall, Ending, start
from agentool_otel.tracing.instrumentation.instrumentor import Patch
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["PATCHES", "SCOPE"]

SCOPE = "agentool_otel.instrumentation.bedrock"
"""Recordings hold this name, so it stays when the module moves."""


class _Kind(NamedTuple):
    """One operation of the service."""

    call: ClientCall
    stream_in: str = ""
    """Member of the result that is a stream of events."""
    body_in: str = ""
    """Member of the result that is the body of the response, still to be read."""


def server_fields(client: Any) -> dict[str, Any]:
    """Return the fields that every call of a client has in common."""
    address, port = address_in(client.meta.endpoint_url)
    return {"provider": Provider.AWS_BEDROCK, "server_address": address, "server_port": port}


def _call(
    description: str,
    operation: Callable[[dict[str, Any]], Operation],
    content: Callable[[dict[str, Any]], dict[str, Any]],
    reading: Callable[[Any], Reading],
) -> ClientCall:
    return ClientCall(
        description, SCOPE, lambda _, parameters: operation(parameters), content, reading
    )


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
    body = parameters.get("body")
    if is_a(body, bytearray):
        body = bytes(body)
    try:
        return record(loads(body)) or {} if isinstance(body, (bytes, str)) else {}
    except ValueError:
        return {}


class _ModelAnswer(bedrock_models.ModelReading):
    """Reads what InvokeModel returns: the body, or the chunks of one."""

    def add(self, chunk: Any) -> None:
        data = get(get(chunk, "chunk"), "bytes")
        if is_a(data, bytes):
            super().add(loads(data))


class _EmbeddingAnswer:
    """Reads embeddings of Titan, Nova and Cohere."""

    complete = True

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

    def operation(self, failed: bool) -> Embeddings:
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


_INVOKE = _call("InvokeModel of Bedrock", _invoke, _invoke_content, _invoked)
_INVOKE_STREAM = _call(
    "InvokeModelWithResponseStream of Bedrock",
    lambda parameters: _invoke(parameters, stream=True),
    _invoke_content,
    _ModelAnswer,
)
_AGENT = _call("InvokeAgent of Bedrock", agents.operation, agents.content, agents.AgentReading)

_KINDS: dict[tuple[str | None, str], _Kind] = {
    ("bedrock-runtime", "Converse"): _Kind(
        _call("Converse of Bedrock", _converse, bedrock.content, bedrock.ConverseReading)
    ),
    ("bedrock-runtime", "ConverseStream"): _Kind(
        _call(
            "ConverseStream of Bedrock", _converse_stream, bedrock.content, bedrock.ConverseReading
        ),
        stream_in="stream",
    ),
    ("bedrock-runtime", "InvokeModel"): _Kind(_INVOKE, body_in="body"),
    ("bedrock-runtime", "InvokeModelWithResponseStream"): _Kind(_INVOKE_STREAM, stream_in="body"),
    ("bedrock-agent-runtime", "InvokeAgent"): _Kind(_AGENT, stream_in="completion"),
    ("bedrock-agent-runtime", "InvokeInlineAgent"): _Kind(_AGENT, stream_in="completion"),
    ("bedrock-agent-runtime", "Retrieve"): _Kind(
        _call(
            "Retrieve of Bedrock",
            retrievals.retrieval,
            retrievals.retrieval_content,
            retrievals.RetrievalReading,
        )
    ),
    ("bedrock-agent-runtime", "RetrieveAndGenerate"): _Kind(
        _call(
            "RetrieveAndGenerate of Bedrock",
            retrievals.generation,
            retrievals.generation_content,
            retrievals.GenerationReading,
        )
    ),
    ("bedrock-agent-runtime", "RetrieveAndGenerateStream"): _Kind(
        _call(
            "RetrieveAndGenerateStream of Bedrock",
            lambda parameters: retrievals.generation(parameters, stream=True),
            retrievals.generation_content,
            retrievals.GenerationReading,
        ),
        stream_in="stream",
    ),
}
"""By the name of the service and of the operation."""


def _begin(
    client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[_Kind, Ending] | None:
    """Start the span of a call; None for one that is of no interest, or is not recorded."""
    # A property of botocore's, which `get` would not call.
    service = getattr(getattr(client, "_service_model", None), "service_name", None)
    operation = args[0] if args else kwargs.get("operation_name")
    kind = _KINDS.get((service, operation)) if type(operation) is str else None
    if kind is None:
        return None
    with guarded(f"starting the span of {kind.call.what}"):
        parameters = record(args[1] if len(args) > 1 else kwargs.get("api_params")) or {}
        read = {"": server_fields(client), "body": _body(parameters)}
        ending = start(kind.call, client, parameters | read)
        if ending is None:
            return None
        if isinstance(ending.reading, agents.AgentReading):
            ending.reading.context = ending.context
            ending.on_end = ending.reading.end_steps
        return kind, ending
    return None


def _taken(kind: _Kind, result: Any, ending: Ending) -> Any:
    """Take the result of a call; what is still to be read of it is watched from here on."""
    with guarded(f"reading {kind.call.what}"):
        if kind.stream_in and (stream := get(result, kind.stream_in)) is not None:
            result[kind.stream_in] = ending.stream(stream)
            return result
        if kind.body_in and (body := get(result, kind.body_in)) is not None:
            headers = get(get(result, "ResponseMetadata"), "HTTPHeaders")
            _count(headers, ending.reading)
            watch(body, ending, _whole(string(headers, "content-length")))
            return result
    ending.whole(result)
    return result


def _count(headers: Any, reading: Any) -> None:
    """Set the token counts in the headers of a response, which is all that some models report."""
    names = (f"x-amzn-bedrock-{side}-token-count" for side in ("input", "output"))
    reading.count(*(_whole(string(headers, name)) for name in names))


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _make(wrapped: Callable[..., Any], client: Any, args: Any, kwargs: Any) -> Any:
    begun = _begin(client, args, kwargs)
    if begun is None:
        return wrapped(*args, **kwargs)
    kind, ending = begun
    token = attach(ending.context)
    try:
        result = wrapped(*args, **kwargs)
    except BaseException as error:
        restore(token)
        ending.finish(error)
        raise
    restore(token)
    return _taken(kind, result, ending)


async def _make_async(wrapped: Callable[..., Any], client: Any, args: Any, kwargs: Any) -> Any:
    begun = _begin(client, args, kwargs)
    if begun is None:
        return await wrapped(*args, **kwargs)
    kind, ending = begun
    token = attach(ending.context)
    try:
        result = await wrapped(*args, **kwargs)
    except BaseException as error:
        restore(token)
        ending.finish(error)
        raise
    restore(token)
    return _taken(kind, result, ending)


PATCHES = (
    Patch("botocore.client", "BaseClient._make_api_call", _make),
    Patch("aiobotocore.client", "AioBaseClient._make_api_call", _make_async, optional=True),
)
