"""Mastra: a span type, and an input and output named after it.

Source: langwatch `canonicalisation/extractors/mastra.ts`; mastra `observability/otel-exporter`.
"""

from __future__ import annotations

import re

from agentool_otel.dialects import _onto_gen_ai as onto
from agentool_otel.dialects._dialect import NOT_MINE, OWN_ROLE, Confidence, Signs
from agentool_otel.dialects._reading import Reader
from agentool_otel.dialects._stored_calls import read_call
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["Mastra"]

_TYPE = "mastra.span.type"
_INPUT, _OUTPUT = "mastra.input", "mastra.output"
_OPERATIONS = {
    "agent_run": "invoke_agent",
    "workflow_run": "invoke_workflow",
    "model_generation": "chat",
    "model_step": "chat",
    "tool_call": "execute_tool",
    "mcp_tool_call": "execute_tool",
}
_NAME = re.compile(r".*?['\"](.+?)['\"](?: on |$)")


class Mastra:
    """The dialect."""

    name = "mastra"
    signs = Signs(keys=(_TYPE,))

    def recognise(self, span: SpanRecord) -> Confidence:
        return Confidence(OWN_ROLE, f"has {_TYPE}") if _TYPE in span.attributes else NOT_MINE

    def read(self, span: Reader) -> Operation:
        kind = span.text(_TYPE) or ""
        onto.rename(
            span,
            {
                f"mastra.{kind}.input": _INPUT,
                f"mastra.{kind}.output": _OUTPUT,
                "mastra.metadata.threadId": gen_ai.CONVERSATION_ID,
            },
        )
        quoted = _NAME.match(span.span.name)  # "agent run: 'weather'", "mcp_tool: 'f' on 's'"
        return read_call(
            span, _OPERATIONS.get(kind), quoted[1] if quoted else None, _INPUT, _OUTPUT
        )
