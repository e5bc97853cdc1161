"""The functions of LiteLLM that call a model, and what reads their answers.

One call of a function is one model call, however many requests LiteLLM makes of it: its retries
and fallbacks are inside. The clients that it calls have no spans of their own.

Source: litellm 1.80, 1.95 and 1.110: main.py, responses/main.py, messages/, types/utils.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from agentool_otel.integrations.litellm.instrumentor.providers import fields_of, provider_name
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import Embeddings, Inference, Operation, Usage
from agentool_otel.providers import anthropic as messages
from agentool_otel.providers import openai_chat as chat
from agentool_otel.providers import openai_embeddings as embeddings
from agentool_otel.providers import openai_responses as responses
from agentool_otel.providers.fields import get, is_a, items, number, plain_text, string, texts
from agentool_otel.providers.openai_usage import usage_of
from agentool_otel.providers.reading import Reading
from agentool_otel.providers.server_sent_events import ServerSentEvents
from agentool_otel.semconv import gen_ai
from agentool_otel.tracing.instrumentation.client_calls import (
    Begin,
    ClientCall,
    Ending,
    calling,
    calling_async,
    start,
)
from agentool_otel.tracing.instrumentation.instrumentor import Patch
from agentool_otel.tracing.spans.suppression import CLIENTS

__all__ = ["PATCHES"]

_SCOPE = "agentool_otel.instrumentation.litellm"
"""Recordings hold this name, so it stays when the module moves."""


class _Answer:
    """Reads an answer with what LiteLLM has added to it: the provider it was from, its price."""

    def __init__(self, reading: Reading):
        self._reading = reading
        self._added: Any = None
        self.chunks: Any = None
        """What LiteLLM has received of a stream, with the usage that it does not pass on."""
        self._events = ServerSentEvents()

    @property
    def complete(self) -> bool:
        return self._reading.complete

    @property
    def has_last_event(self) -> bool:
        return self._reading.has_last_event

    def whole(self, response: Any) -> None:
        self._added = get(response, "_hidden_params")
        self._reading.whole(response)

    def add(self, chunk: Any) -> None:
        if is_a(chunk, bytes):  # of Anthropic's messages, as a server of LiteLLM passes them on
            for event in self._events.add(chunk):
                self._reading.add(event)
            return
        added = get(chunk, "_hidden_params")
        self._added = self._added if added is None else added
        self._reading.add(chunk)

    def operation(self) -> Operation:
        operation = self._reading.operation()
        if not isinstance(operation, (Inference, Embeddings)):
            return operation
        provider = provider_name(string(self._added, "custom_llm_provider"))
        return replace(
            operation,
            provider=operation.provider or provider,
            cost_usd=number(self._added, "response_cost"),
            usage=operation.usage or self._usage_of_stream(),
        )

    def _usage_of_stream(self) -> Usage | None:
        """Return the usage that the server sent last. Where it sends none, LiteLLM estimates it, in
        another place: that is not recorded."""
        usages = (get(chunk, "usage") for chunk in reversed(items(self.chunks)))
        return usage_of(next((usage for usage in usages if usage is not None), None))


def _taken(result: Any, ending: Ending) -> Any:
    """Take the result of a call, after a look at what only its stream has."""
    if isinstance(ending.reading, _Answer):
        ending.reading.chunks = get(result, "chunks")
    return ending.result(result)


def _call(
    description: str,
    kind: Callable[..., Operation],
    request: Callable[[dict[str, Any]], dict[str, Any]],
    content: Callable[[dict[str, Any]], dict[str, Any]],
    reading: Callable[[Any], Reading],
) -> ClientCall:
    def operation(_: Any, parameters: dict[str, Any]) -> Operation:
        known = {k: v for k, v in fields_of(parameters).items() if v is not None}
        return kind(**request(parameters) | known)

    return ClientCall(
        description,
        _SCOPE,
        operation,
        content,
        lambda operation: _Answer(reading(operation)),
        owner=frozenset({CLIENTS}),
        taken=_taken,
    )


def _text_request(parameters: dict[str, Any]) -> dict[str, Any]:
    return chat.request(parameters) | {"operation": gen_ai.OP_TEXT_COMPLETION, "extra": {}}


def _text_content(parameters: dict[str, Any]) -> dict[str, Any]:
    prompt = plain_text(parameters.get("prompt"))
    prompts = texts(parameters, "prompt") if prompt is None else [prompt]
    return {"input": [message("user", [text(each)]) for each in prompts] or None}


def _chat_request(parameters: dict[str, Any]) -> dict[str, Any]:
    """The API is the provider's own, whichever that is."""
    return chat.request(parameters) | {"extra": {}}


_CHAT = _call("a completion", Inference, _chat_request, chat.content, chat.ChatReading)
_TEXT = _call("a text completion", Inference, _text_request, _text_content, chat.ChatReading)
_RESPONSES = _call(
    "a response", Inference, responses.request, responses.content, responses.ResponsesReading
)
_MESSAGES = _call(
    "a message", Inference, messages.request, messages.content, messages.MessagesReading
)
_EMBEDDINGS = _call(
    "embeddings", Embeddings, embeddings.request, embeddings.content, embeddings.EmbeddingsReading
)


def _function(call: ClientCall, *names: str) -> Begin:
    """Return what starts the span of a function, whose first parameters have these names."""

    def begin(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ending | None:
        return start(call, None, {**dict(zip(names, args, strict=False)), **kwargs})

    return begin


def _both(module: str, name: str, call: ClientCall, *names: str) -> tuple[Patch, Patch]:
    """Return patches of a function and of its twin, which has an `a` before its name."""
    begin = _function(call, *names)
    return (
        Patch(module, name, calling(begin), optional=True),
        Patch(module, f"a{name}", calling_async(begin), optional=True),
    )


PATCHES = (
    *_both("litellm", "completion", _CHAT, "model", "messages"),
    *_both("litellm", "text_completion", _TEXT, "prompt", "model"),
    *_both("litellm", "responses", _RESPONSES, "input", "model"),
    *_both("litellm", "embedding", _EMBEDDINGS, "model", "input"),
    Patch("litellm", "anthropic_messages", calling_async(_function(_MESSAGES)), optional=True),
    # What is imported from here is not what the package has.
    *_both("litellm.main", "completion", _CHAT, "model", "messages"),
    *_both("litellm.main", "embedding", _EMBEDDINGS, "model", "input"),
)
