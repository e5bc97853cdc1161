"""Bodies of Bedrock's InvokeModel, in the format of the model's maker.

Source: docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html, 2026-10: Anthropic,
Amazon Nova and Titan, Meta, Mistral, Cohere, AI21, DeepSeek, OpenAI.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import Inference, Usage
from agentool_otel.providers import anthropic, bedrock, shapes
from agentool_otel.providers.fields import get, integer, items, number, plain_text, string, texts
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.providers.reading import Reading
from agentool_otel.providers.tools import definitions

__all__ = ["ModelReading", "content", "request"]

_CONFIGS = ("inferenceConfig", "textGenerationConfig")
_MAX_TOKENS = ("max_tokens", "maxTokens", "max_new_tokens", "maxTokenCount", "max_gen_len")
_STOPS = ("stop_sequences", "stopSequences", "stop")
_METRICS = "amazon-bedrock-invocationMetrics"


def request(body: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an `Inference` that the body of a request sets."""
    configs = [body, *(get(body, name) for name in _CONFIGS)]

    def first(read: Any, *names: str) -> Any:
        found = (read(config, name) for config in configs for name in names)
        return next((value for value in found if value is not None), None)

    return {
        "temperature": first(number, "temperature"),
        "top_p": first(number, "top_p", "topP", "p"),
        "top_k": first(integer, "top_k", "topK", "k"),
        "max_tokens": first(integer, *_MAX_TOKENS),
        "stop_sequences": first(lambda config, name: texts(config, name) or None, *_STOPS),
    }


def content(body: dict[str, Any]) -> dict[str, Any]:
    """Return the instructions, messages and tools of a request, as copies."""
    if "anthropic_version" in body:
        return anthropic.content(body)
    if get(body, "toolConfig") is not None or get(body, "inferenceConfig") is not None:
        return bedrock.content(body)
    given = items(body, "messages") or items(body, "chat_history")
    messages = shapes.messages_of(given) if given else []
    prompts = (string(body, name) for name in ("prompt", "inputText", "message"))
    messages += [message("user", [text(prompt)]) for prompt in prompts if prompt is not None]
    return {"input": messages or None, "tools": definitions(body.get("tools"))}


class ModelReading:
    """Reads an answer in whichever format it is, whole or in chunks."""

    def __init__(self, request: Inference):
        self._request = request
        self._reading: Reading | None = None
        self._texts: list[str] = []
        self._reason: str | None = None
        self.counts: dict[str, int] = {}
        """Token counts that are beside the answer: `input` and `output`."""

    @property
    def has_last_event(self) -> bool:
        return self._reading is not None and self._reading.has_last_event

    @property
    def complete(self) -> bool:
        return self._reason is not None if self._reading is None else self._reading.complete

    def whole(self, response: Any) -> None:
        self._take(response, is_chunk=False)

    def add(self, chunk: Any) -> None:
        self._take(chunk, is_chunk=True)

    def _take(self, answer: Any, is_chunk: bool) -> None:
        metrics = get(answer, _METRICS)
        self.count(integer(metrics, "inputTokenCount"), integer(metrics, "outputTokenCount"))
        if self._reading is None:
            self._reading = self._recognised(answer)
        if self._reading is not None:
            (self._reading.add if is_chunk else self._reading.whole)(answer)
            return
        for each in (answer, *items(answer, "results"), *items(answer, "outputs")):
            self._texts += [words for name in _TEXTS if (words := string(each, name)) is not None]
            reasons = (plain_text(get(each, name)) for name in _REASONS)
            self._reason = next((finish_reason(item) for item in reasons if item), self._reason)
        inputs = (integer(answer, name) for name in ("prompt_token_count", "inputTextTokenCount"))
        counted = (integer(answer, name) for name in ("generation_token_count",))
        self.count(next(filter(None, inputs), None), next(filter(None, counted), None))

    def _recognised(self, answer: Any) -> Reading | None:
        if get(get(answer, "output"), "message") is not None or get(answer, "messageStart"):
            return bedrock.ConverseReading(self._request)
        shape = shapes.shape_of(answer)
        return None if shape is None else shape.reading(self._request)

    def count(self, input_tokens: int | None, output_tokens: int | None) -> None:
        """Set token counts that are not in the answer itself; None leaves one as it is."""
        counts = {"input": input_tokens, "output": output_tokens}
        self.counts |= {name: count for name, count in counts.items() if count is not None}

    def operation(self) -> Inference:
        counted = Usage(
            input_tokens=self.counts.get("input"), output_tokens=self.counts.get("output")
        )
        usage = None if counted == Usage() else counted
        if self._reading is not None:
            operation = self._reading.operation()
            if not isinstance(operation, Inference):
                return self._request
            return replace(operation, usage=operation.usage or usage)
        answer = "".join(self._texts)
        return replace(
            self._request,
            finish_reasons=None if self._reason is None else [self._reason],
            output=[message("assistant", [text(answer)], self._reason)] if answer else None,
            usage=usage,
        )


_TEXTS = ("generation", "outputText", "completion", "text")
_REASONS = ("stop_reason", "completionReason", "finish_reason")
