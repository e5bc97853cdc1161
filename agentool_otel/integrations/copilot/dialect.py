"""GitHub Copilot CLI and Copilot Chat in VS Code: GenAI names and some of its own.

Source: spans of Copilot CLI 1.0.102; spans in MattGertz/OTEL-test; langwatch
`canonicalisation/extractors/copilot.ts`. Its `github.copilot.cost` counts premium requests, not US
dollars, and stays unread.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.agent_tools import AgentTools
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    Confidence,
    Content,
    Markers,
    TraceLinks,
)
from agentool_otel.dialects.kit.dialect import SCOPE as SCOPE_ALONE
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import DENIED, Channel, Entry, session_links
from agentool_otel.dialects.kit.session_tree import combined
from agentool_otel.integrations.copilot.events.names import FILE, SCOPE
from agentool_otel.integrations.copilot.events.records import entries_of, without_time
from agentool_otel.model.operations import AgentInvocation, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["Copilot"]

_SCOPES = (SCOPE, "copilot-chat")
_PREFIX = "github.copilot."
_PERMISSION = "github.copilot.permission.kind"


class Copilot:
    """The dialect."""

    name = "copilot"
    agent_tools = AgentTools(
        delegations=("task",),
        agent_arguments=("agent_type",),
        commands=(("bash", "command"),),
        edits=tuple((name, "path") for name in ("edit", "create", "str_replace_editor")),
        views=(("str_replace_editor", "command", "view"),),
        exit_codes=(
            ("bash", r"<exited with exit code (-?\d+)>"),
            ("bash", r"<shellId: \S+ completed with exit code (-?\d+)>"),
        ),
    )
    markers = Markers(keys=(_PREFIX,), scopes=_SCOPES)
    content = Content(
        attributes=("github.copilot.tool.parameters.",), events=("github.copilot.user.message",)
    )

    values_from = (Channel.FILE, Channel.SPAN, Channel.LOG)
    makes_spans = True

    def owns(self, span: SpanRecord) -> bool:
        return span.scope.startswith(SCOPE)

    def entries(self, records: Sequence[SpanRecord]) -> tuple[list[Entry], list[SpanRecord]]:
        return entries_of(records, self.read)

    def trace_links(self, spans: Sequence[SpanRecord]) -> TraceLinks | None:
        return session_links(spans, self)

    def arrange(self, spans: list[SpanRecord]) -> list[SpanRecord]:
        return combined(spans, self, FILE)

    def recognise(self, span: SpanRecord) -> Confidence:
        ours = any(key.startswith(_PREFIX) for key in span.attributes)
        if ours or span.scope.startswith(_SCOPES):
            has_operation = gen_ai.OPERATION_NAME in span.attributes
            return Confidence(EXTENDS if has_operation else SCOPE_ALONE, "Copilot's names or scope")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        of_cli = span.span.scope == SCOPE
        if _PERMISSION in span.rest or (of_cli and gen_ai.OPERATION_NAME not in span.rest):
            return onto.unclassified(span)
        for event in span.span.events:
            if event.name == "github.copilot.user.message":
                content = event.attributes.get("content", event.attributes.get("body"))
                if span.rest.get(gen_ai.OPERATION_NAME) == "invoke_agent":
                    onto.put_input(span, content)
        operation = onto.as_operation(span)
        if isinstance(operation, AgentInvocation) and operation.input:
            return replace(operation, input=without_time([*operation.input]))
        if isinstance(operation, ToolExecution) and operation.error_type == "denied":
            return replace(operation, error_type=DENIED)
        return operation
