"""Vercel's AI SDK: the names of versions 3 to 6, and those that version 7 adds to GenAI.

Source: vercel/ai `packages/otel/src/{legacy-open-telemetry,open-telemetry}.ts`. A call has an
outer span (`ai.generateText`), which is the run, and an inner one for each model call
(`ai.generateText.doGenerate`); both carry usage, and only the inner one's counts.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    ORIGINAL,
    OWN_ROLE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.provider_messages import messages_from, parts_from
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.messages import (
    Message,
    Part,
    message,
    reasoning,
    text,
)
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.semconv import openinference as oi

__all__ = ["VercelAI"]

_ID = "ai.operationId"
_NAME = "operation.name"
_RUNS = ("ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject", "ai.agent")
_NAMES = {
    "ai.telemetry.metadata.sessionId": gen_ai.CONVERSATION_ID,
    "ai.model.id": gen_ai.REQUEST_MODEL,
    "ai.response.model": gen_ai.RESPONSE_MODEL,
    "ai.response.id": gen_ai.RESPONSE_ID,
    "ai.settings.maxOutputTokens": gen_ai.REQUEST_MAX_TOKENS,
    "ai.settings.maxTokens": gen_ai.REQUEST_MAX_TOKENS,
    "ai.settings.temperature": gen_ai.REQUEST_TEMPERATURE,
    "ai.settings.topP": gen_ai.REQUEST_TOP_P,
    "ai.settings.topK": gen_ai.REQUEST_TOP_K,
    "ai.settings.seed": gen_ai.REQUEST_SEED,
    "ai.settings.frequencyPenalty": gen_ai.REQUEST_FREQUENCY_PENALTY,
    "ai.settings.presencePenalty": gen_ai.REQUEST_PRESENCE_PENALTY,
    "ai.settings.stopSequences": gen_ai.REQUEST_STOP_SEQUENCES,
    "ai.usage.inputTokens": gen_ai.USAGE_INPUT_TOKENS,
    "ai.usage.promptTokens": gen_ai.USAGE_INPUT_TOKENS,
    "ai.usage.tokens": gen_ai.USAGE_INPUT_TOKENS,  # of embeddings
    "ai.usage.outputTokens": gen_ai.USAGE_OUTPUT_TOKENS,
    "ai.usage.completionTokens": gen_ai.USAGE_OUTPUT_TOKENS,
    "ai.usage.totalTokens": gen_ai.USAGE_TOTAL_TOKENS,
    "ai.usage.inputTokenDetails.cacheReadTokens": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
    "ai.usage.cachedInputTokens": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
    "ai.usage.inputTokenDetails.cacheWriteTokens": gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS,
    "ai.usage.outputTokenDetails.reasoningTokens": gen_ai.USAGE_REASONING_OUTPUT_TOKENS,
    "ai.usage.reasoningTokens": gen_ai.USAGE_REASONING_OUTPUT_TOKENS,
    "ai.toolCall.name": gen_ai.TOOL_NAME,
    "ai.toolCall.id": gen_ai.TOOL_CALL_ID,
    "ai.toolCall.args": gen_ai.TOOL_CALL_ARGUMENTS,
    "ai.toolCall.result": gen_ai.TOOL_CALL_RESULT,
}
_OPENINFERENCE = ("openinference.", "llm.", "input.", "output.", "tool.", "tool_call.", "metadata.")
"""Attributes that `@arizeai/openinference-vercel` 2 adds; its calls lack ids and arguments."""


class VercelAI:
    """The dialect."""

    name = "vercel_ai"
    markers = Markers(
        keys=(_ID, _NAME, "ai.toolCall.", "ai.model."), scopes=("@ai-sdk/",), namespaces=("ai.",)
    )
    content = Content(
        attributes=(
            *("ai.prompt", "ai.prompt.", "ai.response.text", "ai.response.object"),
            *("ai.response.toolCalls", "ai.response.reasoning", "ai.response.message"),
            *("ai.response.message.", "ai.response.files", "ai.result", "ai.result."),
            *("ai.toolCall.args", "ai.toolCall.result", "ai.value", "ai.values"),
            *("ai.embedding", "ai.embeddings", "ai.documents", "ai.settings.stopSequences"),
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        if _ID in span.attributes and oi.SPAN_KIND in span.attributes:
            return Confidence(ORIGINAL, f"has {_ID}, which OpenInference's names were made from")
        if _ID in span.attributes:
            return Confidence(OWN_ROLE, f"has {_ID}")
        if str(span.attributes.get(_NAME, "")).startswith("ai."):
            return Confidence(OWN_ROLE, f"{_NAME} begins with ai.")
        if span.scope.startswith("@ai-sdk/"):
            return Confidence(EXTENDS, f"scope {span.scope}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        name = str(span.rest.get(_ID) or span.rest.get(_NAME, "")).split(" ")[0]
        if not name.startswith("ai."):
            return _read_new(span)
        onto.drop(span, _ID, _NAME)
        if oi.SPAN_KIND in span.rest:
            onto.drop(span, *(key for key in span.rest if key.startswith(_OPENINFERENCE)))
        if name == "ai.toolCall":
            onto.rename(span, _NAMES)
            return onto.as_operation(span, "execute_tool")
        if name.endswith(("doGenerate", "doStream")):
            _read_model(span)
            _read_call(span)
            return onto.as_operation(span, "chat")
        if name.endswith("doEmbed"):
            _read_model(span)
            return onto.as_operation(span, "embeddings")
        if name.startswith(_RUNS):
            _read_model(span)
            _read_run(span)
            return onto.as_operation(span, "invoke_agent")
        return onto.unclassified(span)  # around an embedding or a reranking


def _read_new(span: Reader) -> Operation:
    if span.rest.get(gen_ai.OPERATION_NAME) in ("agent_step", "rerank"):
        return onto.unclassified(span)
    if (seconds := span.number("gen_ai.execute_tool.duration")) is not None:
        onto.put(span, agentool.TOOL_DURATION_MS, seconds * 1000)
    return onto.as_operation(span)


def _read_model(span: Reader) -> None:
    provider = span.text("ai.model.provider") or span.text("gen_ai.system")
    if provider is not None:
        onto.drop(span, "gen_ai.system")
        onto.put(span, gen_ai.PROVIDER_NAME, provider.split(".")[0])  # without the kind of API
    onto.rename(span, _NAMES)
    reason = span.text("ai.response.finishReason") or span.text("ai.finishReason")
    if reason is not None:
        span.rest[gen_ai.RESPONSE_FINISH_REASONS] = [finish_reason(reason)]
    onto.move_milliseconds(span, "ai.response.msToFirstChunk", gen_ai.RESPONSE_TIME_TO_FIRST_CHUNK)


def _read_call(span: Reader) -> None:
    if "ai.prompt.messages" in span.rest:
        sent = span.json("ai.prompt.messages", keep_text=False)
        onto.put(span, gen_ai.INPUT_MESSAGES, messages_from(sent, "user") or None)
    if "ai.prompt.tools" in span.rest:
        tools = onto.definitions(span.json("ai.prompt.tools"))
        onto.put(span, gen_ai.TOOL_DEFINITIONS, tools or None)
    onto.put(span, gen_ai.OUTPUT_MESSAGES, _answer(span))


def _read_run(span: Reader) -> None:
    onto.rename(
        span,
        {"ai.telemetry.functionId": gen_ai.AGENT_NAME, "resource.name": gen_ai.AGENT_NAME},
    )
    prompt = span.json("ai.prompt")
    if isinstance(prompt, dict):
        onto.set_system(span, prompt.get("system"))
        messages = prompt.get("messages") or prompt.get("prompt")
        onto.put_input(span, messages)
    elif isinstance(prompt, str):
        onto.put_input(span, prompt)
    onto.put(span, gen_ai.OUTPUT_MESSAGES, _answer(span))


def _parts(span: Reader, prefix: str) -> list[Part]:
    parts: list[Part] = []
    thought, words = span.text(f"{prefix}.reasoning"), span.text(f"{prefix}.text")
    if thought:
        parts.append(reasoning(thought))
    if words:
        parts.append(text(words))
    calls = span.json(f"{prefix}.toolCalls")
    for call in calls if isinstance(calls, list) else ():
        parts += parts_from(call)
    structured = span.json(f"{prefix}.object")
    if structured is not onto.UNSET and structured is not None:
        words = structured if isinstance(structured, str) else onto.dumps(structured)
        parts.append(text(words))
    return parts


def _answer(span: Reader) -> list[Message] | None:
    parts = _parts(span, "ai.response")
    older = _parts(span, "ai.result")  # the only name until 3.3, and the same again in 3.4
    parts = parts or older
    onto.drop(span, "ai.finishReason")
    reasons = span.rest.get(gen_ai.RESPONSE_FINISH_REASONS)
    reason = str(reasons[0]) if isinstance(reasons, list) and reasons else None
    return [message("assistant", parts, finish_reason(reason))] if parts else None
