"""CrewAI's own telemetry: which crews, tasks and tools there were, without what they said.

Source: crewai 1.15.30 `crewai/telemetry/telemetry.py`, recorded in `tests/fixtures/spans`. Tool
spans have no arguments, no result and no call id, and stand beside the spans of a real
instrumentation of the same calls; so they are no operations. A crew that shares its output is a
run, and so is each of its tasks; every span is a trace of its own.
"""

from __future__ import annotations

from agentool_otel.dialects import _onto_gen_ai as onto
from agentool_otel.dialects._dialect import EXTENDS, NOT_MINE, Confidence, Signs
from agentool_otel.dialects._reading import Reader
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["CrewAI"]

_SCOPE = "crewai.telemetry"


class CrewAI:
    """The dialect."""

    name = "crewai"
    signs = Signs(keys=("crewai_version", "crew_key"), scopes=(_SCOPE,))

    def recognise(self, span: SpanRecord) -> Confidence:
        if span.scope == _SCOPE or "crewai_version" in span.attributes:
            return Confidence(EXTENDS, "CrewAI's telemetry")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        match span.span.name:
            case "Crew Execution" if "crew_output" in span.rest:
                onto.rename(span, {"crew_key": gen_ai.WORKFLOW_NAME})
                return _run(span, "invoke_workflow", "crew_inputs", "crew_output")
            case "Task Execution" if "task_output" in span.rest:
                onto.rename(span, {"agent_role": gen_ai.AGENT_NAME})
                return _run(span, "invoke_agent", "formatted_description", "task_output")
            case _:
                return onto.unclassified(span)


def _run(span: Reader, operation: str, given: str, gave: str) -> Operation:
    onto.move_messages(span, gen_ai.INPUT_MESSAGES, "user", given)
    onto.move_messages(span, gen_ai.OUTPUT_MESSAGES, "assistant", gave)
    return onto.as_operation(span, operation)
