"""Rig (Rust): GenAI names, and some of its own for the outcome of a tool.

Source: rig-core 0.44.0 `src/telemetry/mod.rs`, `src/tool/result.rs`; rig-agent 0.44.0
`src/agent/{telemetry,engine}.rs`. A tool that failed ends no span with an error: its result is the
message for the model, often no more than `the tool failed`.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import EXTENDS, NOT_MINE, Confidence, Content, Markers
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.denials import DENIED
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, core, gen_ai

__all__ = ["Rig"]

_OUTCOME, _ERROR = "gen_ai.tool.call.outcome", "gen_ai.tool.error.type"


class Rig:
    """The dialect."""

    name = "rig"
    markers = Markers(keys=("rig.", _OUTCOME))
    content = Content()

    def recognise(self, span: SpanRecord) -> Confidence:
        for key in ("rig.completion_parent", "rig.provider_request_id", _OUTCOME):
            if key in span.attributes:
                return Confidence(EXTENDS, f"has {key}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        outcome, kind = span.text(_OUTCOME), span.text(_ERROR)
        if outcome in ("error", "denied"):
            result = span.rest.get(gen_ai.TOOL_CALL_RESULT)
            onto.put(span, agentool.TOOL_ERROR, result if isinstance(result, str) else outcome)
            onto.put(span, core.ERROR_TYPE, DENIED if outcome == "denied" else kind or outcome)
        return onto.as_operation(span)
