"""A model call from CrewAI's events: recorded where no client's instrumentor records it.

The events have the messages, the tools, the answer without what came beside it, and the usage in
the words of each provider. A client's instrumentor sees the request and the response themselves.

Source: crewai events/types/llm_events.py, llms/base_llm.py, llms/providers at 1.14 and 1.15.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter, time_ns
from typing import Any

from opentelemetry.context import attach, get_current

from agentool_otel.content.policy import as_text, jsonable
from agentool_otel.model.messages import Message, Part, message, reasoning, text
from agentool_otel.model.operations import Inference, Usage
from agentool_otel.providers import bedrock, tools
from agentool_otel.providers.calls import call_part
from agentool_otel.providers.fields import (
    get,
    integer,
    items,
    join_texts,
    number,
    plain_text,
    string,
    texts,
)
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.providers.servers import address_in, provider_at
from agentool_otel.providers.shapes import messages_of, parts_of
from agentool_otel.semconv.gen_ai import Provider
from agentool_otel.tracing.spans.step_spans import start_step
from agentool_otel.tracing.spans.suppression import CallsBelow

__all__ = ["ModelCall", "calls_in", "usage_of"]

SCOPE = "agentool_otel.instrumentation.crewai"

_PROVIDERS = {
    "azure": Provider.AZURE_AI_INFERENCE,
    "bedrock": Provider.AWS_BEDROCK,
    "gemini": Provider.GCP_GEMINI,
    "google": Provider.GCP_GEMINI,
    "mistral": Provider.MISTRAL_AI,
    "vertex_ai": Provider.GCP_VERTEX_AI,
    "watsonx": Provider.IBM_WATSONX_AI,
    "xai": Provider.X_AI,
}
"""CrewAI's and LiteLLM's names of providers that the conventions call otherwise."""

_COUNTS = {
    "input_tokens": ("prompt_tokens", "input_tokens", "prompt_token_count"),
    "output_tokens": ("completion_tokens", "output_tokens"),
    "cache_read_tokens": ("cached_prompt_tokens",),
    "cache_write_tokens": ("cache_creation_tokens",),
    "reasoning_tokens": ("reasoning_tokens",),
}
_SUBSETS = ("cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class ModelCall:
    """A model call that has begun."""

    __slots__ = (
        "_around",
        "_below",
        "_chunk_s",
        "_event",
        "_source",
        "_start_ns",
        "_started_s",
        "_thoughts",
    )

    def __init__(self, source: Any, event: Any):
        self._source = source
        self._event = event
        self._start_ns = time_ns()
        self._started_s = perf_counter()
        self._chunk_s: float | None = None
        self._thoughts: list[str | None] = []
        self._around = get_current()
        self._below = CallsBelow(self._around)
        # Also outside any frame: if nobody tells of the end, what stays is not current as a span.
        attach(self._below.context)

    def chunk(self, kind: str, event: Any) -> None:
        """Take a piece of a stream."""
        if self._chunk_s is None:
            self._chunk_s = perf_counter() - self._started_s
        if kind == "llm_thinking_chunk":
            self._thoughts.append(string(event, "chunk"))

    def abandon(self) -> None:
        """Forget a call whose end was not reported."""

    def end(self, event: Any, error: BaseException | None) -> None:
        """Record the call, unless a client has.

        Args:
            event: that it has been completed, or that it has failed.
            error: why it failed, if the exception is known.
        """
        if get_current() is self._below.context:
            attach(self._around)
        if self._below.count:
            return
        step = start_step(
            self._request(),
            description="a model call of CrewAI",
            scope=SCOPE,
            content=self._asked,
            parent=self._around,
            start_ns=self._start_ns,
        )
        if string(event, "type") == "llm_call_completed":
            step.set(**self._facts(event))
            step.add(lambda: {"output": self._answer(event)})
        elif error is None:
            step.set(error_type="_OTHER", error_message=string(event, "error"))
        step.end(error)

    def _request(self) -> Inference:
        event, source = self._event, self._source
        address, port = address_in(string(source, "base_url") or "")
        provider = string(source, "provider")
        model = string(event, "model") or string(source, "model")
        return Inference(
            provider=provider_at(address) or _PROVIDERS.get(provider or "", provider),
            server_address=address,
            server_port=port,
            request_model=model,
            stream=True if get(event, "stream") is True else None,
            temperature=number(event, "temperature"),
            top_p=number(event, "top_p"),
            max_tokens=integer(event, "max_tokens"),
            frequency_penalty=number(event, "frequency_penalty"),
            presence_penalty=number(event, "presence_penalty"),
            seed=integer(event, "seed"),
            stop_sequences=texts(event, "stop_sequences") or None,
            choice_count=None if (count := integer(event, "n")) == 1 else count,
        )

    def _asked(self) -> Mapping[str, Any]:
        return {
            "input": _conversation(get(self._event, "messages")),
            "tools": tools.definitions(get(self._event, "tools")),
        }

    def _facts(self, event: Any) -> Mapping[str, Any]:
        reason = finish_reason(string(event, "finish_reason"))
        facts: dict[str, Any] = {
            "response_id": string(event, "response_id"),
            "usage": usage_of(get(event, "usage")),
            "finish_reasons": None if reason is None else [reason],
        }
        if self._chunk_s is not None:
            facts |= {"stream": True, "time_to_first_chunk_s": self._chunk_s}
        return facts

    def _answer(self, event: Any) -> list[Message] | None:
        response = get(event, "response")
        calls = string(get(event, "call_type"), "value") == "tool_call"
        if calls and plain_text(response) is not None:
            return None  # the model's own class has run the tool: this is what that returned
        parts: list[Part] = calls_in(response) if calls else [_text(response)]
        if thoughts := join_texts(self._thoughts):
            parts.insert(0, reasoning(thoughts))
        return [message("assistant", parts, finish_reason(string(event, "finish_reason")))]


def _text(response: Any) -> Part:
    return text(as_text(response))


def _conversation(messages: Any) -> list[Message] | None:
    return None if messages is None else messages_of(jsonable(messages)) or None


def calls_in(response: Any) -> list[Part]:
    """Return a model's requests for tools, in the shape of its provider."""
    requested = jsonable(response)
    return [part for item in items(requested) or [requested] for part in _call(item)]


def _call(requested: Any) -> list[Part]:
    function = get(requested, "function")
    source = requested if function is None else function
    arguments = get(source, "arguments")
    if arguments is None:
        arguments = get(source, "input")
    name = string(source, "name")
    if name is None or arguments is None:
        return parts_of([requested])
    return [call_part(name, arguments, string(requested, "id") or string(requested, "toolUseId"))]


def usage_of(usage: Any) -> Usage | None:
    """Return token counts under whatever names a provider's class has them."""
    if (of_bedrock := bedrock.usage_of(usage)) is not None:
        return of_bedrock
    counts: dict[str, int | None] = {}
    for field, names in _COUNTS.items():
        counts[field] = next(
            (item for name in names if (item := integer(usage, name)) is not None), None
        )
    for field in _SUBSETS:
        counts[field] = counts[field] or None
    result = Usage(**counts)
    return None if result == Usage() else result
