"""GitHub Copilot CLI and Copilot Chat in VS Code: GenAI names and some of its own.

Source: spans in MattGertz/OTEL-test; langwatch `canonicalisation/extractors/copilot.ts`. Its
`github.copilot.cost` counts premium requests, not US dollars, and stays unread.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    SCOPE,
    AgentTools,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["Copilot"]

_SCOPES = ("github.copilot", "copilot-chat")
_PERMISSION = "github.copilot.permission.kind"


class Copilot:
    """The dialect."""

    name = "copilot"
    agent_tools = AgentTools(
        commands=(("bash", "command"),),
        edits=tuple((name, "path") for name in ("edit", "create", "str_replace_editor")),
        views=(("str_replace_editor", "command", "view"),),
        exit_codes=(("bash", r"<exited with exit code (-?\d+)>"),),
    )
    markers = Markers(keys=("github.copilot.",), scopes=_SCOPES)
    content = Content(events=("github.copilot.user.message",))

    def recognise(self, span: SpanRecord) -> Confidence:
        ours = any(key.startswith("github.copilot.") for key in span.attributes)
        if ours or span.scope.startswith(_SCOPES):
            has_operation = gen_ai.OPERATION_NAME in span.attributes
            return Confidence(EXTENDS if has_operation else SCOPE, "Copilot's names or scope")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        if span.span.name.startswith("permission") or _PERMISSION in span.rest:
            return onto.unclassified(span)
        for event in span.span.events:
            if event.name == "github.copilot.user.message":
                content = event.attributes.get("content", event.attributes.get("body"))
                if span.rest.get(gen_ai.OPERATION_NAME) == "invoke_agent":
                    onto.put_input(span, content)
        return onto.as_operation(span)
