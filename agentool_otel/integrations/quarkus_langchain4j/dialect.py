"""Quarkus LangChain4j: services and tools in the names of spans, older GenAI names on model calls.

Source: spans of quarkus-langchain4j 1.10.0 (scope `io.quarkus.opentelemetry`). A prompt is the
texts of all its messages, a line each, without roles; a failure is an exception event on a
span without a status.
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
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.semconv import core, gen_ai

__all__ = ["QuarkusLangChain4j"]

_SCOPE = "io.quarkus.opentelemetry"
_SERVICE, _TOOL, _CALL = "langchain4j.aiservices.", "langchain4j.tools.", "completion "


class QuarkusLangChain4j:
    """The dialect."""

    name = "quarkus_langchain4j"
    markers = Markers(scopes=(_SCOPE,))
    content = Content()

    def recognise(self, span: SpanRecord) -> Confidence:
        if span.scope != _SCOPE:
            return NOT_MINE
        if span.name.startswith((_SERVICE, _TOOL)):
            return Confidence(EXTENDS, "scope of Quarkus and a name of LangChain4j")
        if span.name.startswith(_CALL) and gen_ai.REQUEST_MODEL in span.attributes:
            return Confidence(SCOPE, "scope of Quarkus and a model")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        name = span.span.name
        if name.startswith(_SERVICE):
            service, _, _ = name.removeprefix(_SERVICE).rpartition(".")  # the rest is the method
            onto.put(span, gen_ai.AGENT_NAME, service or None)
            return _with_failure(span, onto.as_operation(span, "invoke_agent"))
        if name.startswith(_TOOL):
            onto.put(span, gen_ai.TOOL_NAME, name.removeprefix(_TOOL))
            return _with_failure(span, onto.as_operation(span, "execute_tool"))
        if (reason := span.text(gen_ai.RESPONSE_FINISH_REASONS)) is not None:
            span.rest[gen_ai.RESPONSE_FINISH_REASONS] = [finish_reason(reason)]
        return _with_failure(span, onto.as_operation(span, "chat"))


def _with_failure(span: Reader, operation: Operation) -> Operation:
    thrown = next((event for event in span.span.events if event.name == core.EXCEPTION_EVENT), None)
    if thrown is None:
        return operation
    kind, words = (
        thrown.attributes.get(key) for key in (core.EXCEPTION_TYPE, core.EXCEPTION_MESSAGE)
    )
    return onto.failed(
        operation, str(kind) if kind else None, words if isinstance(words, str) else None
    )
