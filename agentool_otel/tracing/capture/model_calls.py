"""`model_call`: a call of a model by one's own HTTP client, reported by hand."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from msgspec.structs import replace

from agentool_otel.content.policy import jsonable, label
from agentool_otel.model.operations import Inference, Operation, Usage
from agentool_otel.providers import shapes
from agentool_otel.providers.answers import Answer
from agentool_otel.providers.fields import integer, number, plain_text, string, texts
from agentool_otel.providers.servers import address_in, provider_at
from agentool_otel.providers.tools import definitions
from agentool_otel.tracing.capture._blocks import Block
from agentool_otel.tracing.loops.placement import Place, place
from agentool_otel.tracing.spans.chunks import Chunks
from agentool_otel.tracing.spans.live import begin
from agentool_otel.tracing.spans.requested_calls import awaits_results
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan
from agentool_otel.tracing.spans.suppression import CALLBACKS, CLIENTS, MANUAL, recorded_above

__all__ = ["ModelCall", "model_call", "server"]

_OWNED = frozenset({CALLBACKS, CLIENTS, MANUAL})
"""Recorders whose spans of the same call are left out in favour of this one."""

_PARAMETERS = {
    "output_type": string,
    "previous_response_id": string,
    "reasoning_level": string,
    "temperature": number,
    "top_p": number,
    "frequency_penalty": number,
    "presence_penalty": number,
    "top_k": integer,
    "max_tokens": integer,
    "seed": integer,
    "choice_count": integer,
}
"""Fields of an `Inference` that a request has; a value of another type counts as missing."""


class ModelCall(Block):
    """One model call in progress. Use it as a context manager, `with` or `async with`."""

    _what = "a model call"

    def __init__(
        self, model: str, messages: Any, system: Any, tools: Any, parameters: dict[str, Any]
    ):
        self.model = model
        self._content = (messages, system, tools)
        self._parameters = parameters
        self._answer = Answer(Inference())
        self._usage: dict[str, Any] = {}
        self._cost: float | None = None
        self._chunks = Chunks()
        self._place: Place | None = None

    def output(self, answer: Any, finish_reason: str | None = None) -> None:
        """Report the model's answer.

        In repeated calls, text and content continue the earlier ones, messages and chunks are
        added, and a whole response replaces the one before it.

        Args:
            answer: text; a message or a list of them; content blocks or tool calls, which are one
                message's; a whole response, or the chunks of a streamed one as they arrive. In the
                shape of OpenAI's chat completions or responses, of Anthropic's messages, of
                Google's generateContent or of the conventions, as JSON or as the objects of the
                providers' SDKs. Of a response the model's name, the id, the finish reasons and the
                token counts are taken as well; of an error body, the error. Anything else is text.
            finish_reason: why the model stopped, in the provider's words or the conventions'
                (`stop`, `length`, `content_filter`, `tool_call`, `error`). It wins over what a
                response says. Where nobody says it, a call of a tool is `tool_call`.
        """
        with guarded("reading the output of a model call"):
            step = self._step
            reads = step is not None and (step.recording or self._is_followed)
            if step is not None and reads and self._answer.add(answer, finish_reason):
                self._chunks.record(self._so_far, step.context)

    def usage(
        self,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        *,
        cache_read_tokens: int | None = None,
        cache_write_tokens: int | None = None,
        reasoning_tokens: int | None = None,
        cost_usd: float | None = None,
    ) -> None:
        """Report the usage of the call. Values given here take precedence over the response's.

        Args:
            input_tokens: all of the input, what came from a cache or went to one included.
            output_tokens: all of the output, reasoning included.
            cache_read_tokens: of the input, what came from a cache.
            cache_write_tokens: of the input, what went to a cache.
            reasoning_tokens: of the output, what was reasoning.
            cost_usd: what it cost, in US dollars.
        """
        with guarded("reading the usage of a model call"):
            if not self._recording:
                return
            counts = {
                "input_tokens": input_tokens,
                "output_tokens": output_tokens,
                "cache_read_tokens": cache_read_tokens,
                "cache_write_tokens": cache_write_tokens,
                "reasoning_tokens": reasoning_tokens,
            }
            integers = {name: integer(counts, name) for name in counts}
            self._usage |= {name: count for name, count in integers.items() if count is not None}
            cost = number({"cost_usd": cost_usd}, "cost_usd")
            self._cost = self._cost if cost is None else cost

    def first_chunk(self) -> None:
        """Report the first chunk of a streamed answer; later calls have no effect."""
        if self._recording:
            self._chunks.first()

    # ---- insides
    def _begin(self) -> StepSpan | None:
        if recorded_above(MANUAL):
            return None
        operation = Inference(**_request(self.model, self._parameters))
        # Read now: the caller may change the list while the call is under way.
        content = cache(lambda: _read(*self._content))
        self._place = None
        with guarded("finding the loop of a model call"):
            self._place = place(operation, content)
        parent = None if self._place is None else self._place.context
        live = begin(operation, parent=parent, owner=_OWNED, content_follows=True)
        step = StepSpan(live, operation, self._what, parent)
        if live is not None and self._place is not None:
            live.input_key = self._place.input_key
        if live is not None and (step.recording or self._is_followed):
            if not step.wants_content and step.recording and awaits_results():
                with guarded("reading the input of a model call"):
                    live.answers_calls(content().get("input"))
            step.open(content)
            self._answer = Answer(replace(operation, **step.fields))
            self._usage, self._cost, self._chunks = {}, None, Chunks()
        return step

    @property
    def _is_followed(self) -> bool:
        """Return whether the call is part of a plain loop, which goes by what it requests even
        where it is not sampled."""
        return self._place is not None and self._place.in_loop

    def _ended(
        self, operation: Operation, error: BaseException | None, interrupted: str | None
    ) -> None:
        where, self._place = self._place, None
        if where is not None and isinstance(operation, Inference):
            where.ended(operation, error, interrupted, None)

    def _so_far(self) -> Inference:
        return self._answer.operation_so_far

    def _operation(self) -> Inference:
        operation = self._answer.operation()
        fields: dict[str, Any] = {}
        if self._usage:
            fields["usage"] = replace(operation.usage or Usage(), **self._usage)
        if self._cost is not None:
            fields["cost_usd"] = self._cost
        if self._chunks.first_s is not None:
            fields |= {"time_to_first_chunk_s": self._chunks.first_s, "stream": True}
        return replace(operation, **fields) if fields else operation

    @property
    def _complete(self) -> bool:
        return self._answer.complete


def model_call(
    model: str,
    *,
    messages: Any = None,
    system: Any = None,
    tools: Any = None,
    provider: str | None = None,
    url: str | None = None,
    operation: Literal["chat", "generate_content", "text_completion"] = "chat",
    conversation_id: str | None = None,
    previous_response_id: str | None = None,
    stream: bool | None = None,
    output_type: str | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    top_k: int | None = None,
    max_tokens: int | None = None,
    frequency_penalty: float | None = None,
    presence_penalty: float | None = None,
    stop_sequences: str | list[str] | None = None,
    seed: int | None = None,
    choice_count: int | None = None,
    reasoning_level: str | None = None,
) -> ModelCall:
    """Record a block of code as one call of a model, made with your own HTTP client.

    The span, its metrics and its place in the trace are the same as with an instrumented client. A
    call of such a client inside the block is the same call and has no span of its own; a block
    inside a call that is recorded already has none either. An exception that leaves the block makes
    the call an error and is passed on. Put only the request and the reading of its answer into the
    block: tools and further calls come after it.

    Args:
        model: the name of the model.
        messages: the input: text, or messages as OpenAI's chat completions and responses,
            Anthropic, Google or the conventions have them, JSON or objects of the SDKs.
        system: instructions that are not among the messages: text or content.
        tools: definitions of the offered tools, in any of these shapes.
        provider: `gen_ai.provider.name`, e.g. `openai`, `anthropic`, `gcp.gemini`. By default that
            of the URL's host, else that of the response's shape, else unknown.
        url: the URL of the request, as text; it gives the server's address and port.
        operation: the operation of the conventions; the span is named after it.
        conversation_id: the conversation that the call belongs to.
        previous_response_id: id of the response that this one continues.
        stream: whether the answer is streamed; `first_chunk` implies it.
        output_type: `text`, `json`, `image` or `speech`.
        temperature: as requested; likewise the following.
        top_p: nucleus sampling.
        top_k: sampling among the k likeliest tokens.
        max_tokens: the limit of output tokens.
        frequency_penalty: as requested.
        presence_penalty: as requested.
        stop_sequences: texts at which the model stops.
        seed: as requested.
        choice_count: the number of answers.
        reasoning_level: effort of reasoning, e.g. `low`.

    Returns:
        A context manager that yields the call, whose methods report its answer and usage. A block
        that reports nothing records only the request.
    """
    parameters: dict[str, Any] = {
        "provider": provider,
        "url": url,
        "operation": operation,
        "conversation_id": conversation_id,
        "previous_response_id": previous_response_id,
        "stream": stream,
        "output_type": output_type,
        "temperature": temperature,
        "top_p": top_p,
        "top_k": top_k,
        "max_tokens": max_tokens,
        "frequency_penalty": frequency_penalty,
        "presence_penalty": presence_penalty,
        "stop_sequences": stop_sequences,
        "seed": seed,
        "choice_count": choice_count,
        "reasoning_level": reasoning_level,
    }
    return ModelCall(model, messages, system, tools, parameters)


_OPERATIONS = frozenset({"chat", "generate_content", "text_completion"})


def _request(model: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an `Inference` that are known at its start, without content."""
    operation, stop = string(parameters, "operation"), parameters["stop_sequences"]
    conversation, choices = parameters["conversation_id"], integer(parameters, "choice_count")
    stops = texts(stop) if plain_text(stop) is None else [plain_text(stop)]
    return {
        **{name: read(parameters, name) for name, read in _PARAMETERS.items()},
        **server(parameters),
        "request_model": None if model is None else label(model),
        "operation": operation if operation in _OPERATIONS else "chat",
        "conversation_id": None if conversation is None else label(conversation),
        "stream": True if parameters["stream"] is True else None,
        "stop_sequences": stops or None,
        "choice_count": None if choices == 1 else choices,
    }


def server(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return provider, address and port, from the given provider and URL."""
    address, port = address_in(string(parameters, "url") or "")
    provider = string(parameters, "provider") or provider_at(address)
    return {"provider": provider, "server_address": address, "server_port": port}


def _read(messages: Any, system: Any, tools: Any) -> dict[str, Any]:
    """Return the content of a request, as copies."""
    fields: dict[str, Any] = {}
    if messages is not None:
        fields["input"] = shapes.messages_of(jsonable(messages)) or None
    if system is not None:
        fields["system"] = shapes.parts_of(jsonable(system)) or None
    if tools is not None:
        fields["tools"] = definitions(jsonable(tools))
    return fields
