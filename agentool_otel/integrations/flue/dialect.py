"""Flue: turns, tools, tasks and workflows, each with names of its own.

Source: langfuse `packages/shared/src/server/otel/OtelIngestionProcessor.ts`, which reads them.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import NOT_MINE, OWN_ROLE, Confidence, Content, Markers
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import read_call
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["Flue"]

_NAMES = {
    "flue.tool.name": gen_ai.TOOL_NAME,
    "flue.tool.call_id": gen_ai.TOOL_CALL_ID,
    "flue.task.agent": gen_ai.AGENT_NAME,
}
_KINDS = (
    ("flue.tool.", "execute_tool", "flue.tool.arguments", "flue.tool.result"),
    ("flue.turn.", "chat", "flue.turn.input", "flue.turn.output"),
    ("flue.task.", "invoke_agent", "flue.task.prompt", "flue.task.result"),
    ("flue.workflow.", "invoke_workflow", "flue.workflow.payload", "flue.workflow.result"),
)


class Flue:
    """The dialect."""

    name = "flue"
    markers = Markers(keys=("flue.",))
    content = Content(
        attributes=tuple(
            key + end
            for *_, sent, received in _KINDS
            for key in (sent, received)
            for end in ("", ".")
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        ours = any(key.startswith("flue.") for key in span.attributes)
        return Confidence(OWN_ROLE, "has flue.*") if ours else NOT_MINE

    def read(self, span: Reader) -> Operation:
        for prefix, operation, input_key, output_key in _KINDS:
            if any(key.startswith(prefix) for key in span.rest):
                onto.rename(span, _NAMES)
                return read_call(span, operation, None, input_key, output_key)
        return onto.unclassified(span)
