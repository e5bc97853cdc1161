"""Model calls that no client's instrumentor records: those of a model of the program's own, of
Gemini's Interactions, of any other client.

ADK's own request and answers are read. A client's instrumentor sees more: the request as it is
sent, and every chunk of the answer.

Source: google-adk flows/llm_flows/base_llm_flow.py, models/ at 1.19 and 2.13.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from time import perf_counter, time_ns
from typing import Any

from opentelemetry.context import Context, get_current

from agentool_otel.integrations.adk.instrumentor.event_streams import events_of
from agentool_otel.integrations.adk.instrumentor.work import SCOPE
from agentool_otel.model.messages import text
from agentool_otel.model.operations import Inference
from agentool_otel.providers import google
from agentool_otel.providers.fields import get, integer, items, number, string, texts
from agentool_otel.providers.tools import definitions
from agentool_otel.semconv.gen_ai import Provider
from agentool_otel.tracing.instrumentation.instrumentor import Patch
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import start_step
from agentool_otel.tracing.spans.suppression import CallsBelow, note_call, recorded_above

__all__ = ["PATCHES"]

_PROVIDERS = {
    "Claude": Provider.ANTHROPIC,
    "AnthropicLlm": Provider.ANTHROPIC,
    "Gemini": Provider.GCP_GEMINI,
    "Gemma": Provider.GCP_GEMINI,
}
"""Providers by the classes of ADK's models."""


class _Call:
    """A model call; its events are ADK's answers."""

    def __init__(self, request: Any, model: str):
        """
        Args:
            request: ADK's `LlmRequest`.
            model: the class of the model.
        """
        self._request = request
        self._model = model
        self._around = get_current()
        self._below = CallsBelow(self._around)
        self.context: Context = self._below.context
        self._start_ns, self._started_s = time_ns(), perf_counter()
        self._first_s: float | None = None
        self._pieces: list[Any] = []
        self._is_streamed = False

    def saw(self, event: Any) -> None:
        if self._below.count:
            return
        if self._first_s is None:
            self._first_s = perf_counter() - self._started_s
        with guarded("reading an answer of a model of ADK"):
            is_piece = get(event, "partial") is True
            self._is_streamed = self._is_streamed or is_piece
            if not is_piece:  # it has all that the pieces have
                self._pieces.clear()
            self._pieces.append(event)

    def leaves(self) -> None:
        """Its end follows."""

    def returned(self) -> None:
        self._record()

    def raised(self, error: BaseException) -> None:
        self._record(error)

    def closed(self) -> None:
        last = self._pieces[-1] if self._pieces else None
        is_whole = last is not None and get(last, "partial") is not True
        self._record(interrupted=None if is_whole else "closed")

    def _record(self, error: BaseException | None = None, interrupted: str | None = None) -> None:
        if self._below.count:
            return
        with guarded("recording a model call of ADK"):
            operation = _inference(self._request, self._model)
            step = start_step(
                operation,
                description="a model call of ADK",
                scope=SCOPE,
                content=lambda: _content(self._request),
                parent=self._around,
                start_ns=self._start_ns,
            )
            if self._pieces:
                answer = _answer(self._pieces, operation)
                step.set(
                    response_model=answer.response_model,
                    finish_reasons=answer.finish_reasons,
                    usage=answer.usage,
                    error_type=string(self._pieces[-1], "error_code"),
                )
                step.add(
                    output=answer.output,
                    error_message=string(self._pieces[-1], "error_message"),
                )
            if self._is_streamed:
                step.set(stream=True, time_to_first_chunk_s=self._first_s)
            step.end(error, interrupted=interrupted)


def _inference(request: Any, model: str) -> Inference:
    config = get(request, "config")
    count, top_k = integer(config, "candidate_count"), number(config, "top_k")
    return Inference(
        provider=_PROVIDERS.get(model),
        request_model=string(request, "model"),
        temperature=number(config, "temperature"),
        top_p=number(config, "top_p"),
        top_k=None if top_k is None else int(top_k),
        max_tokens=integer(config, "max_output_tokens"),
        frequency_penalty=number(config, "frequency_penalty"),
        presence_penalty=number(config, "presence_penalty"),
        stop_sequences=texts(config, "stop_sequences") or None,
        seed=integer(config, "seed"),
        choice_count=None if count == 1 else count,
        output_type="json" if string(config, "response_mime_type") == "application/json" else None,
    )


def _content(request: Any) -> dict[str, Any]:
    config = get(request, "config")
    instructions = get(config, "system_instruction")
    words = string(config, "system_instruction")
    system = [text(words)] if words else google.parts_of(get(instructions, "parts"))
    return {
        "system": system or None,
        "input": [google.message_of(each) for each in items(request, "contents")] or None,
        "tools": definitions(get(config, "tools")),
    }


def _answer(pieces: list[Any], operation: Inference) -> Inference:
    reading = google.GenerateContentReading(operation)
    for piece in pieces:
        reason = get(piece, "finish_reason")
        reading.add(
            {
                "candidates": [
                    {"content": get(piece, "content"), "finishReason": string(reason, "value")}
                ],
                "usageMetadata": get(piece, "usage_metadata"),
                "modelVersion": get(piece, "model_version"),
            }
        )
    return reading.operation()


def _watched(wrapped: Callable[..., Any], _: Any, args: Any, kwargs: Any) -> Any:
    with guarded("following a model call of ADK"):
        names = ("response_generator", "invocation_context", "llm_request")
        options = dict(zip(names, args, strict=False)) | kwargs
        answers: AsyncGenerator[Any, Any] = options.pop("response_generator")
        request = options.get("llm_request")
        model, _, method = (string(answers, "__qualname__") or "").rpartition(".")
        if not method.startswith("run_live"):
            stream = events_of(lambda: answers, lambda: _begin(request, model))
            args, kwargs = (stream, *args[1:]), _without(kwargs)
    return wrapped(*args, **kwargs)


def _without(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in kwargs.items() if name != "response_generator"}


def _begin(request: Any, model: str) -> _Call | None:
    with guarded("starting a model call of ADK"):
        if recorded_above():
            return None
        note_call()  # a framework around this one leaves the call to us
        return _Call(request, model)
    return None


PATCHES = (
    Patch(
        "google.adk.flows.llm_flows.base_llm_flow", "BaseLlmFlow._run_and_handle_error", _watched
    ),
)
