"""Lilypad: traces of functions, and GenAI spans of the model calls inside.

Source: Mirascope/lilypad `sdks/python/src/lilypad/traces.py`.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import EXTENDS, NOT_MINE, Confidence, Content, Markers
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import read_call, run_at_root
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["Lilypad"]

_INPUT, _OUTPUT = "lilypad.trace.arg_values", "lilypad.trace.output"


class Lilypad:
    """The dialect."""

    name = "lilypad"
    markers = Markers(keys=("lilypad.",))
    content = Content(attributes=("lilypad.*.arg_values", "lilypad.*.output"))

    def recognise(self, span: SpanRecord) -> Confidence:
        ours = any(key.startswith("lilypad.") for key in span.attributes)
        return Confidence(EXTENDS, "has lilypad.*") if ours else NOT_MINE

    def read(self, span: Reader) -> Operation:
        if gen_ai.OPERATION_NAME in span.rest:
            return onto.as_operation(span)
        kind = span.text("lilypad.type") or "trace"
        onto.rename(
            span,
            {f"lilypad.{kind}.arg_values": _INPUT, f"lilypad.{kind}.output": _OUTPUT},
        )
        operation = run_at_root(span, _INPUT, _OUTPUT)
        return read_call(span, operation, None, _INPUT, _OUTPUT)
