"""OpenAI's client: chat completions, responses and embeddings, of any server that speaks them.

Public methods only. `stream()` helpers need no patch, they call `create(stream=True)`; `parse`
does not go through `create`. Responses over WebSocket (`connect`) are not seen.

Source: openai-python resources/{chat/completions,responses,embeddings} at 1.109, 2.54 and 3.52.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from msgspec.structs import replace

from agentool_otel.emit.live import begin
from agentool_otel.emit.owners import recorded_above
from agentool_otel.emit.session import guarded, session
from agentool_otel.instrumentation.kit.client_calls import Ending, observe, observe_async
from agentool_otel.instrumentation.kit.instrumentor import AgentInstrumentor, Patch, Wrapper
from agentool_otel.model.operations import Embeddings, Inference, Operation
from agentool_otel.providers import openai_chat as chat
from agentool_otel.providers import openai_embeddings as embeddings
from agentool_otel.providers import openai_responses as responses
from agentool_otel.providers.openai_values import (
    get,
    provider_of,
    server_of,
)
from agentool_otel.providers.reading import Reading

__all__ = ["OpenAIInstrumentor"]

SCOPE = __name__


class _Api(NamedTuple):
    """One kind of call: what its parameters say, and what reads its answer."""

    what: str
    operation: Callable[..., Operation]
    request: Callable[[dict[str, Any]], dict[str, Any]]
    content: Callable[[dict[str, Any]], dict[str, Any]]
    reading: Callable[[Any], Reading]


_CHAT = _Api("a chat completion", Inference, chat.request, chat.content, chat.ChatReading)
_RESPONSES = _Api(
    "a response", Inference, responses.request, responses.content, responses.ResponsesReading
)
_EMBEDDINGS = _Api(
    "embeddings", Embeddings, embeddings.request, embeddings.content, embeddings.EmbeddingsReading
)


def _begin(api: _Api, resource: Any, asked: dict[str, Any]) -> Ending | None:
    """Start the span of a call; None where it is recorded elsewhere, or not at all."""
    with guarded(f"starting the span of {api.what}"):
        if recorded_above("openai"):
            return None
        client = get(resource, "_client")
        address, port = server_of(client)
        operation = api.operation(
            provider=provider_of(address, type(client).__name__),
            server_address=address,
            server_port=port,
            **api.request(asked),
        )
        live = begin(operation, scope=SCOPE, content_follows=True)
        if live is None:
            return None
        if live.recording and session.policy.capture:
            # Taken now: the caller may change the list while the call is under way.
            with guarded(f"reading the input of {api.what}"):
                operation = replace(operation, **api.content(asked))
        live.opened(operation)
        return Ending(live, api.reading(operation), api.what)
    return None


def _sync(api: _Api) -> Wrapper:
    def call(
        wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        ending = _begin(api, instance, kwargs)
        if ending is None:
            return wrapped(*args, **kwargs)
        return observe(wrapped, args, kwargs, ending)

    return call


def _async(api: _Api) -> Wrapper:
    async def observed(
        wrapped: Callable[..., Awaitable[Any]], instance: Any, args: Any, kwargs: Any
    ) -> Any:
        ending = _begin(api, instance, kwargs)
        if ending is None:
            return await wrapped(*args, **kwargs)
        return await observe_async(wrapped, args, kwargs, ending)

    def call(
        wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return observed(wrapped, instance, args, kwargs)

    return call


def _patches(module: str, name: str, api: _Api, *, optional: bool = False) -> tuple[Patch, ...]:
    return (
        Patch(module, f"{name}.create", _sync(api), optional),
        Patch(module, f"Async{name}.create", _async(api), optional),
    )


def _parse(module: str, name: str, api: _Api) -> tuple[Patch, ...]:
    return (
        Patch(module, f"{name}.parse", _sync(api), optional=True),
        Patch(module, f"Async{name}.parse", _async(api), optional=True),
    )


class OpenAIInstrumentor(AgentInstrumentor):
    """Chat completions, responses and embeddings of the `openai` package."""

    framework = "openai"
    supports = ("openai >= 1.30",)
    patches = (
        *_patches("openai.resources.chat.completions", "Completions", _CHAT),
        *_parse("openai.resources.chat.completions", "Completions", _CHAT),
        # Where `parse` was before 1.92.
        *_parse("openai.resources.beta.chat.completions", "Completions", _CHAT),
        *_patches("openai.resources.responses.responses", "Responses", _RESPONSES, optional=True),
        *_parse("openai.resources.responses.responses", "Responses", _RESPONSES),
        *_patches("openai.resources.embeddings", "Embeddings", _EMBEDDINGS),
    )
    passed = (("openai", "OpenAI.request"), ("openai", "AsyncOpenAI.request"))
