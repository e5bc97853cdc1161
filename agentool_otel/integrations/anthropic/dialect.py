"""Anthropic's SDK itself: GenAI names, and its own for a tool's result and the finish reason.

Source: anthropic 2.12.0 `_tracing.py`, `lib/_tracing/`. It writes a span for every call of its API
once a tracer provider is there, with content if enabled. Most of them are not model calls, even if
they name a model: only those of messages and of its tool runner have an operation name.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    SCOPE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.messages import only_block
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.semconv import agentool, core, gen_ai

__all__ = ["Anthropic"]

_SCOPE = "com.anthropic.sdk"
_RESULT = "anthropic.tool_result.content"
_STOPPED = "anthropic.message.stop_reason"
_SESSIONS = ("anthropic.session.thread.id", "anthropic.session.id")


class Anthropic:
    """The dialect."""

    name = "anthropic"
    markers = Markers(scopes=(_SCOPE,))
    content = Content(attributes=(_RESULT,))

    def recognise(self, span: SpanRecord) -> Confidence:
        if not span.scope.startswith(_SCOPE):
            return NOT_MINE
        level = EXTENDS if gen_ai.OPERATION_NAME in span.attributes else SCOPE
        return Confidence(level, f"scope {_SCOPE}")

    def read(self, span: Reader) -> Operation:
        onto.rename(span, dict.fromkeys(_SESSIONS, gen_ai.CONVERSATION_ID))
        if gen_ai.OPERATION_NAME not in span.rest:
            return onto.unclassified(span)
        if (reason := span.text(_STOPPED)) is not None:
            onto.put(span, gen_ai.RESPONSE_FINISH_REASONS, [finish_reason(reason)])
        if _RESULT in span.rest:
            _read_result(span)
        return onto.as_operation(span)


def _read_result(span: Reader) -> None:
    result = only_block(span.json(_RESULT))
    if span.rest.get(core.ERROR_TYPE) == "tool_error":
        onto.put(span, agentool.TOOL_ERROR, result if isinstance(result, str) else None)
    onto.set_result(span, result)
