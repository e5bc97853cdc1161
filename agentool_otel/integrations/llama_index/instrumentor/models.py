"""Model calls by LlamaIndex's events, where no client's instrumentor records them.

The events have the messages, the tools, and the provider's answer, of a stream its last chunk. A
client's instrumentor sees the request and every chunk. A call whose model is implemented by another
model of LlamaIndex has events of both: the inner one is recorded, which is what the model is sent.

A stream is read after the method that starts it has returned, and perhaps in another context. So
the mark that counts the client's calls stays in the context until the stream has ended.

Source: llama-index-core llms/callbacks.py, instrumentation/events/llm.py at 0.13 and 0.14.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from time import perf_counter, time_ns
from typing import Any

from opentelemetry.context import Context, attach, create_key, get_current, set_value

from agentool_otel.content.encoding.introspection import module_name, mro
from agentool_otel.content.policy import jsonable
from agentool_otel.integrations.llama_index.instrumentor import messages
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import Inference, Usage
from agentool_otel.providers import tools
from agentool_otel.providers.fields import get, integer, items, number, plain_text, string, texts
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.providers.openai_usage import usage_of
from agentool_otel.providers.servers import address_in, provider_at
from agentool_otel.providers.shapes import shape_of
from agentool_otel.semconv.gen_ai import Provider
from agentool_otel.tracing.spans.finalizers import when_safe
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import start_step
from agentool_otel.tracing.spans.suppression import CallsBelow, note_call, recorded_above

__all__ = ["SCOPE", "STEP_KEY", "ModelCall", "provider_of_model"]

SCOPE = "agentool_otel.instrumentation.llama_index"

STEP_KEY = create_key("agentool-otel-llama-index-step")
"""Context key: the step of ours that the context is of."""
_CALL_KEY = create_key("agentool-otel-llama-index-call")

_PROVIDERS = {
    "anthropic": Provider.ANTHROPIC,
    "azure": Provider.AZURE_AI_OPENAI,
    "bedrock": Provider.AWS_BEDROCK,
    "cohere": Provider.COHERE,
    "deepseek": Provider.DEEPSEEK,
    "gemini": Provider.GCP_GEMINI,
    "genai": Provider.GCP_GEMINI,
    "groq": Provider.GROQ,
    "mistral": Provider.MISTRAL_AI,
    "openai": Provider.OPENAI,
    "perplexity": Provider.PERPLEXITY,
    "vertex": Provider.GCP_VERTEX_AI,
    "watsonx": Provider.IBM_WATSONX_AI,
}
"""Providers by a word in the class names of LlamaIndex's models."""

_CLIENTS = {
    "llama_index.llms.anthropic": "anthropic",
    "llama_index.llms.openai": "openai",
}
"""Packages of models that call a client whose calls are recorded."""


def provider_of_model(class_name: str | None, address: str | None = None) -> str | None:
    """Return the provider of a model."""
    words = (class_name or "").lower()
    named = next((item for word, item in _PROVIDERS.items() if word in words), None)
    return provider_at(address) or named or (class_name and words) or None


class ModelCall:
    """A model call that has begun."""

    __slots__ = (
        "_below",
        "_chunk_s",
        "_event",
        "_finish",
        "_has_client",
        "_is_recorded",
        "_last",
        "_start_ns",
        "_started_s",
        "around",
        "context",
        "ended",
        "streamed",
    )

    def __init__(self, event: Any, model: Any):
        """
        Args:
            event: that a chat or a completion has started.
            model: the model, if it is known.
        """
        self._event = event
        self._start_ns = time_ns()
        self._started_s = perf_counter()
        self._chunk_s: float | None = None
        self._finish: str | None = None
        self._last: Any = None
        self.ended = False
        self._has_client = _has_client(model)
        self._is_recorded = recorded_above()
        self.streamed = False
        note_call()  # a call around this one is the same call
        self.around = _without_ended_calls(get_current())
        self._below = CallsBelow(self.around)
        self.context = set_value(_CALL_KEY, self, self._below.context)
        attach(self.context)

    def chunk(self, response: Any) -> None:
        """Take a piece of a stream."""
        if self._chunk_s is None:
            self._chunk_s = perf_counter() - self._started_s
        self._last = response
        if not self._below.count:
            first = next(iter(items(get(response, "raw"), "choices")), None)
            self._finish = string(first, "finish_reason") or self._finish

    def end(self, response: Any = None, error: BaseException | None = None) -> None:
        """Record the call, unless a client has.

        Args:
            response: the model's answer, of a stream the last piece.
            error: why it failed.
        """
        if self.ended:
            return
        if response is not None:
            self._last = response
        self.ended = True
        current = get_current()
        counted = current.get(_CALL_KEY) is self
        self.around = _without_ended_calls(self.around)
        if current is self.context:
            attach(self.around)
        # A client's call is recorded by its instrumentor, which may not be counted where a program
        # reads the stream in a context of its own.
        recorded = self._below.count or (self.streamed and self._has_client and not counted)
        if recorded or self._is_recorded:
            return
        if isinstance(error, GeneratorExit):  # perhaps of the garbage collector
            when_safe(self._record, error)
        else:
            self._record(error)

    def _record(self, error: BaseException | None) -> None:
        response = self._last
        closed = isinstance(error, GeneratorExit)
        with guarded("recording a model call of LlamaIndex"):
            step = start_step(
                self._request(),
                description="a model call of LlamaIndex",
                scope=SCOPE,
                content=self._asked,
                parent=self.around,
                start_ns=self._start_ns,
            )
            if response is not None:
                step.set(**self._facts(response, step.operation))
                step.add(lambda: {"output": self._answer(response)})
            step.end(None if closed else error, interrupted="closed" if closed else None)

    def _request(self) -> Inference:
        model = get(self._event, "model_dict")
        options = get(self._event, "additional_kwargs")
        address, port = address_in(string(model, "api_base") or string(model, "base_url") or "")
        is_chat = get(self._event, "messages") is not None
        return Inference(
            operation="chat" if is_chat else "text_completion",
            provider=provider_of_model(string(model, "class_name"), address),
            server_address=address,
            server_port=port,
            request_model=string(model, "model") or string(model, "model_name"),
            stream=True if self.streamed else None,
            temperature=_either(number, options, model, "temperature"),
            top_p=_either(number, options, model, "top_p"),
            max_tokens=_either(integer, options, model, "max_tokens"),
            frequency_penalty=_either(number, options, model, "frequency_penalty"),
            presence_penalty=_either(number, options, model, "presence_penalty"),
            seed=_either(integer, options, model, "seed"),
            stop_sequences=texts(options, "stop") or None,
        )

    def _asked(self) -> Mapping[str, Any]:
        sent, prompt = get(self._event, "messages"), string(self._event, "prompt")
        return {
            "input": messages.conversation(sent)
            if prompt is None
            else [message("user", [text(prompt)])],
            "tools": tools.definitions(get(get(self._event, "additional_kwargs"), "tools")),
        }

    def _facts(self, response: Any, operation: Any) -> dict[str, Any]:
        """Return the data of an answer, from the provider's own where its shape is known."""
        facts: dict[str, Any] = {}
        raw = jsonable(get(response, "raw"))
        shape = shape_of(raw)
        if shape is not None:
            reading = shape.begin(operation)
            (reading.add if self.streamed else reading.whole)(raw)
            read = reading.operation()
            if isinstance(read, Inference):
                facts = {
                    "response_id": read.response_id,
                    "response_model": read.response_model,
                    "finish_reasons": read.finish_reasons,
                    "usage": read.usage,
                }
        if facts.get("finish_reasons") is None and self._finish is not None:
            facts["finish_reasons"] = [finish_reason(self._finish)]
        if facts.get("usage") is None:
            facts["usage"] = _usage(raw, response)
        if self._chunk_s is not None:
            facts |= {"stream": True, "time_to_first_chunk_s": self._chunk_s}
        return facts

    def _answer(self, response: Any) -> list[dict[str, Any]]:
        answer = get(response, "message")
        if answer is not None:
            return [messages.message_of(answer)]
        return [message("assistant", [text(plain_text(get(response, "text")) or "")])]


def _without_ended_calls(context: Context) -> Context:
    """Return the context around the calls that have ended in another one, where their streams were
    read. A call that kept them would keep all calls before it."""
    call = context.get(_CALL_KEY)
    while isinstance(call, ModelCall) and call.ended and call.context is context:
        context = call.around
        call = context.get(_CALL_KEY)
    return context


def _has_client(model: Any) -> bool:
    """Return whether a model calls a client whose calls are recorded, if that is imported."""
    modules = (module_name(base) or "" for base in mro(type(model)))
    return any(
        name.startswith(package) and client in sys.modules
        for name in modules
        for package, client in _CLIENTS.items()
    )


def _either(read: Any, options: Any, model: Any, name: str) -> Any:
    value = read(options, name)
    return read(model, name) if value is None else value


def _usage(raw: Any, response: Any) -> Usage | None:
    """Return token counts under the names of OpenAI, or of Ollama."""
    usage = usage_of(get(raw, "usage")) or usage_of(get(response, "additional_kwargs"))
    if usage is not None:
        return usage
    counts = Usage(
        input_tokens=integer(raw, "prompt_eval_count"), output_tokens=integer(raw, "eval_count")
    )
    return None if counts == Usage() else counts
