"""AutoGen's runtime: GenAI names for agents and tools without content, and plumbing for messages.

Source: microsoft/autogen `python/packages/autogen-core/src/autogen_core/_telemetry`. The events of
a team are the `message` of spans that process them, each in a trace of its own: they stay there,
since such a span does not say which run it belongs to.
"""

from __future__ import annotations

from agentool_otel.dialects import _onto_gen_ai as onto
from agentool_otel.dialects._dialect import EXTENDS, NOT_MINE, SCOPE, Confidence, Signs
from agentool_otel.dialects._reading import Reader
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["AutoGen"]


class AutoGen:
    """The dialect."""

    name = "autogen"
    signs = Signs(scopes=("autogen",))

    def recognise(self, span: SpanRecord) -> Confidence:
        if not span.scope.startswith("autogen"):
            return NOT_MINE
        said = gen_ai.OPERATION_NAME in span.attributes
        return Confidence(EXTENDS if said else SCOPE, f"scope {span.scope}")

    def read(self, span: Reader) -> Operation:
        if span.rest.get("gen_ai.system") == "autogen":  # the framework, not a provider
            onto.drop(span, "gen_ai.system")
        if gen_ai.OPERATION_NAME not in span.rest:
            return onto.unclassified(span)
        return onto.as_operation(span)
