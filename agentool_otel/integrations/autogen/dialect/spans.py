"""AutoGen's runtime: GenAI names for agents and tools without content, and plumbing for messages.

Source: microsoft/autogen `python/packages/autogen-core/src/autogen_core/_telemetry`. A
team's messages are the attribute `message` of the spans that process them, mostly each in its own
trace: those of a run are arranged in `teams`. Before 0.6.2 a tool has a scope and names of its own,
and agents have nothing but messages.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    SCOPE,
    Confidence,
    Content,
    Markers,
    TraceLinks,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.integrations.autogen.dialect import teams
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["AutoGen"]

_TOOLS = "base_tool"
_OLDER_TOOL = {
    "tool_name": gen_ai.TOOL_NAME,
    "tool_description": gen_ai.TOOL_DESCRIPTION,
    "tool_args": gen_ai.TOOL_CALL_ARGUMENTS,
}


class AutoGen:
    """The dialect."""

    name = "autogen"
    markers = Markers(scopes=("autogen", _TOOLS))
    content = Content(attributes=("tool_args", "message"))

    def recognise(self, span: SpanRecord) -> Confidence:
        if span.scope == _TOOLS and "tool_name" in span.attributes:
            return Confidence(SCOPE, f"scope {_TOOLS}")
        if not span.scope.startswith("autogen"):
            return NOT_MINE
        has_operation = gen_ai.OPERATION_NAME in span.attributes
        return Confidence(EXTENDS if has_operation else SCOPE, f"scope {span.scope}")

    def read(self, span: Reader) -> Operation:
        if span.rest.get("gen_ai.system") == "autogen":  # the framework, not a provider
            onto.drop(span, "gen_ai.system")
        if span.span.scope == _TOOLS:
            onto.rename(span, _OLDER_TOOL)
            return onto.as_operation(span, "execute_tool")
        if teams.set_start(span):
            return onto.as_operation(span, "invoke_workflow")
        if gen_ai.OPERATION_NAME not in span.rest:
            return onto.unclassified(span)
        teams.set_agent(span)
        return onto.as_operation(span)

    def trace_links(self, spans: Sequence[SpanRecord]) -> TraceLinks | None:
        return teams.trace_links(spans)

    def arrange(self, spans: list[SpanRecord]) -> list[SpanRecord]:
        return teams.arrange(spans)
