"""opencode: spans of its own beside those of the Vercel AI SDK, which are read as the SDK's.

Source: spans of opencode 1.18.33.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    NOT_MINE,
    OWN_ROLE,
    Confidence,
    Content,
    Markers,
    TraceLinks,
)
from agentool_otel.dialects.kit.dialect import SCOPE as SCOPE_ALONE
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import Channel, Entry, session_links
from agentool_otel.dialects.kit.session_tree import combined
from agentool_otel.integrations.opencode.events.names import FILE, PARENT, SCOPE, SESSION
from agentool_otel.integrations.opencode.events.records import entries_of
from agentool_otel.integrations.opencode.tools import TOOLS
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["OpenCode"]

_NAMES = {
    SESSION: gen_ai.CONVERSATION_ID,
    "tool.name": gen_ai.TOOL_NAME,
    "tool.call_id": gen_ai.TOOL_CALL_ID,
}


class OpenCode:
    """The dialect."""

    name = "opencode"
    agent_tools = TOOLS._replace(delegations=("task",), agent_arguments=("subagent_type",))
    markers = Markers(scopes=(SCOPE,))
    content = Content()
    """None of its own: all of it has the names of the Vercel AI SDK."""

    values_from = (Channel.FILE, Channel.SPAN, Channel.LOG)
    makes_spans = True

    def owns(self, span: SpanRecord) -> bool:
        return span.scope in (SCOPE, FILE)

    def entries(self, records: Sequence[SpanRecord]) -> tuple[list[Entry], list[SpanRecord]]:
        return entries_of(records, self.read)

    def trace_links(self, spans: Sequence[SpanRecord]) -> TraceLinks | None:
        links = session_links(spans, self, SESSION, PARENT)
        return links if links is not None and links.offered else None

    def arrange(self, spans: list[SpanRecord]) -> list[SpanRecord]:
        return combined(spans, self, FILE)

    def recognise(self, span: SpanRecord) -> Confidence:
        if span.scope == FILE:
            return Confidence(OWN_ROLE, f"scope {FILE}")
        return Confidence(SCOPE_ALONE, f"scope {SCOPE}") if span.scope == SCOPE else NOT_MINE

    def read(self, span: Reader) -> Operation:
        if span.span.scope == FILE:
            return onto.as_operation(span)
        if span.span.name == "Tool.execute":
            onto.rename(span, _NAMES)
            return onto.as_operation(span, "execute_tool")
        return onto.unclassified(span)
