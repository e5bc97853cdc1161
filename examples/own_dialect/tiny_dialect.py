"""The names of Tiny SDK: `tiny.kind`, and others beside it.

Most of them are names of the GenAI conventions in other words. The dialect renames those and leaves
the rest to `to_gen_ai`.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai
from agentool_otel.dialects.kit.dialect import NOT_MINE, OWN_ROLE, Confidence, Content, Markers
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

_OPERATIONS = {"agent": "invoke_agent", "llm": "chat", "tool": "execute_tool"}
_NAMES = {
    "tiny.agent": gen_ai.AGENT_NAME,
    "tiny.model": gen_ai.REQUEST_MODEL,
    "tiny.tokens.in": gen_ai.USAGE_INPUT_TOKENS,
    "tiny.tokens.out": gen_ai.USAGE_OUTPUT_TOKENS,
    "tiny.tool": gen_ai.TOOL_NAME,
    "tiny.call": gen_ai.TOOL_CALL_ID,
    "tiny.arguments": gen_ai.TOOL_CALL_ARGUMENTS,
    "tiny.result": gen_ai.TOOL_CALL_RESULT,
    "tiny.input": gen_ai.INPUT_MESSAGES,
    "tiny.output": gen_ai.OUTPUT_MESSAGES,
}


class Tiny:
    """The dialect."""

    name = "tiny"
    markers = Markers(keys=("tiny.",))
    content = Content(attributes=("tiny.arguments", "tiny.result", "tiny.input", "tiny.output"))

    def recognise(self, span: SpanRecord) -> Confidence:
        if "tiny.kind" in span.attributes:
            return Confidence(OWN_ROLE, "tiny.kind")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        operation = _OPERATIONS.get(span.text("tiny.kind") or "", "")
        to_gen_ai.rename(span, _NAMES)
        return to_gen_ai.as_operation(span, operation)
