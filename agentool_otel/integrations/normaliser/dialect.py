"""Spans whose names a collector has reduced to those of the GenAI conventions.

Source: opentelemetry-collector-contrib `processor/genainormalizerprocessor/internal`. Where it
keeps the original names beside its own, those say more, and the dialects `openinference` and
`traceloop` read both. Here they are gone, and the span is recognised by its messages, which are the
input and output of a function, in the wrapper of LangChain's callbacks.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import EXTENDS, NOT_MINE, Confidence, Content, Markers
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import read_call
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["Normaliser"]

_KINDS = ("openinference.span.kind", "traceloop.span.kind")
_SCOPES = ("openinference.instrumentation.", "opentelemetry.instrumentation.")
_ENVELOPES = ("inputs", "kwargs", "outputs", "input_str")
_INPUT, _OUTPUT = gen_ai.INPUT_MESSAGES, gen_ai.OUTPUT_MESSAGES


class Normaliser:
    """The dialect."""

    name = "normaliser"
    markers = Markers(scopes=_SCOPES)
    content = Content()

    def recognise(self, span: SpanRecord) -> Confidence:
        attributes = span.attributes
        if not span.scope.startswith(_SCOPES):
            return NOT_MINE
        if gen_ai.OPERATION_NAME not in attributes or any(key in attributes for key in _KINDS):
            return NOT_MINE
        if _is_envelope(attributes.get(_INPUT)) or _is_envelope(attributes.get(_OUTPUT)):
            return Confidence(EXTENDS, "its messages are a function's input or output")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        for key in (_INPUT, _OUTPUT):
            if _is_envelope(span.rest.get(key)):
                envelope = json_or_text(span.rest[key])
                inner = next(envelope[name] for name in _ENVELOPES if name in envelope)
                span.rest[key] = onto.dumps(inner)
        operation = span.text(gen_ai.OPERATION_NAME)
        if operation == "invoke_agent" and not isinstance(span.rest.get(gen_ai.AGENT_NAME), str):
            return onto.unclassified(span)  # made of a step of a chain
        input_key, output_key = (f"normalised.{key}" for key in (_INPUT, _OUTPUT))
        for key, moved in ((_INPUT, input_key), (_OUTPUT, output_key)):
            if key in span.rest:
                span.rest[moved] = span.rest.pop(key)
        return read_call(span, operation, None, input_key, output_key)


def _is_envelope(value: object) -> bool:
    if not isinstance(value, str) or value[:1] != "{":
        return False
    read = json_or_text(value)
    return isinstance(read, dict) and any(name in read for name in _ENVELOPES)
