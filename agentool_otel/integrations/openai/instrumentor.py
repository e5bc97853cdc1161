"""OpenAI's client: chat completions, responses and embeddings, of any server that supports them.

Public methods only. `stream()` helpers need no patch, they call `create(stream=True)`; `parse`
does not go through `create`. Responses over WebSocket (`connect`) are not seen.

Source: openai-python resources/{chat/completions,responses,embeddings} at 1.109, 2.54 and 3.52.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentool_otel.model.operations import Embeddings, Inference, Operation
from agentool_otel.providers import openai_chat as chat
from agentool_otel.providers import openai_embeddings as embeddings
from agentool_otel.providers import openai_responses as responses
from agentool_otel.providers.fields import get
from agentool_otel.providers.servers import provider_of, server_of
from agentool_otel.tracing.instrumentation.client_calls import ClientCall, twins
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor

__all__ = ["OpenAIInstrumentor"]

_SCOPE = "agentool_otel.instrumentation.openai"
"""Recordings hold this name, so it stays when the module moves."""


def _call(
    description: str,
    kind: Callable[..., Operation],
    request: Callable[[dict[str, Any]], dict[str, Any]],
    content: Callable[[dict[str, Any]], dict[str, Any]],
    reading: Callable[[Any], Any],
) -> ClientCall:
    def operation(resource: Any, parameters: dict[str, Any]) -> Operation:
        client = get(resource, "_client")
        address, port = server_of(client)
        return kind(
            provider=provider_of(address, type(client).__name__),
            server_address=address,
            server_port=port,
            **request(parameters),
        )

    return ClientCall(description, _SCOPE, operation, content, reading)


_CHAT = _call("a chat completion", Inference, chat.request, chat.content, chat.ChatReading)
_RESPONSES = _call(
    "a response", Inference, responses.request, responses.content, responses.ResponsesReading
)
_EMBEDDINGS = _call(
    "embeddings", Embeddings, embeddings.request, embeddings.content, embeddings.EmbeddingsReading
)


_COMPLETIONS = ("openai.resources.chat.completions", "Completions")
_BEFORE_1_92 = ("openai.resources.beta.chat.completions", "Completions")
"""Location of `parse` before openai 1.92."""
_RESPONSES_OF = ("openai.resources.responses.responses", "Responses")


class OpenAIInstrumentor(AgentInstrumentor):
    """Chat completions, responses, embeddings of OpenAI's client, raw responses too: patches of
    its public methods."""

    framework = "openai"
    supports = ("openai >= 1.30",)
    patches = (
        *twins(*_COMPLETIONS, "create", _CHAT),
        *twins(*_COMPLETIONS, "parse", _CHAT, optional=True),
        *twins(*_BEFORE_1_92, "parse", _CHAT, optional=True),
        *twins(*_RESPONSES_OF, "create", _RESPONSES, optional=True),
        *twins(*_RESPONSES_OF, "parse", _RESPONSES, optional=True),
        *twins("openai.resources.embeddings", "Embeddings", "create", _EMBEDDINGS),
    )
    passed = (("openai", "OpenAI.request"), ("openai", "AsyncOpenAI.request"))
