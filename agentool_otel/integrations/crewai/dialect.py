"""CrewAI's own telemetry: crews, tasks and tools, without content.

Source: crewai 1.15.30 `crewai/telemetry/telemetry.py`, recorded in `tests/fixtures/spans`. Tool
spans have no arguments, no result and no call id, and stand beside the spans of a real
instrumentation of the same calls; so they are no operations. A crew that shares its output is a
run, and so is each of its tasks; every span is a trace of its own, or lies wherever the program is.
A task is below the crew of its id that it lies within. A crew that OpenInference or
OpenLLMetry records as well is not read from here.
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
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["CrewAI"]

_SCOPE = "crewai.telemetry"
_OUTPUTS = {"Crew Execution": "crew_output", "Task Execution": "task_output"}
_ID = "crew_id"
_IDS_ELSEWHERE = (_ID, "crewai.crew.id")
"""OpenInference's name for a crew's id, and OpenLLMetry's."""


class CrewAI:
    """The dialect."""

    name = "crewai"
    agent_tools = AgentTools(delegations=("Delegate ",), agent_arguments=("coworker",))
    markers = Markers(keys=("crewai_version", "crew_key"), scopes=(_SCOPE,))
    content = Content(
        attributes=(
            "crew_inputs",
            "crew_output",
            "crew_tasks_output",
            "crew_agents",
            "crew_tasks",
            "formatted_description",
            "formatted_expected_output",
            "task_output",
        )
    )

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

    def trace_links(self, spans: Sequence[SpanRecord]) -> TraceLinks | None:
        ids = {crew for span in spans if _is_run(span) and (crew := _crew(span)) is not None}
        return TraceLinks(run_ids=sorted(ids)) if ids else None

    def arrange(self, spans: list[SpanRecord]) -> list[SpanRecord]:
        runs = [span for span in spans if _is_run(span)]
        if not runs:
            return spans
        elsewhere = {_crew(span, *_IDS_ELSEWHERE) for span in spans if not _is_own(span)}
        elsewhere.discard(None)
        crews = [span for span in runs if span.name == "Crew Execution"]
        arranged: list[SpanRecord] = []
        for span in spans:
            if _is_run(span) and _crew(span) in elsewhere:
                without = {k: v for k, v in span.attributes.items() if k != _OUTPUTS[span.name]}
                span = replace(span, attributes=without)
            elif span.name == "Task Execution" and _is_run(span):
                crews_around = [crew for crew in crews if _holds(crew, span)]
                if len(crews_around) == 1:
                    span = replace(span, parent_id=crews_around[0].span_id)
            arranged.append(span)
        return arranged


def _is_own(span: SpanRecord) -> bool:
    return span.scope == _SCOPE or "crewai_version" in span.attributes


def _is_run(span: SpanRecord) -> bool:
    return span.name in _OUTPUTS and _OUTPUTS[span.name] in span.attributes and _is_own(span)


def _crew(span: SpanRecord, *keys: str) -> str | None:
    ids = (span.attributes.get(key) for key in keys or (_ID,))
    return next((value for value in ids if isinstance(value, str)), None)


def _holds(crew: SpanRecord, task: SpanRecord) -> bool:
    if _crew(crew) is None or _crew(crew) != _crew(task):
        return False
    is_inside = (crew.start_ns or 0) <= (task.start_ns or 0)
    return is_inside and (task.end_ns or 0) <= (crew.end_ns or 0)


def _run(span: Reader, operation: str, input_key: str, output_key: str) -> Operation:
    onto.move_messages(span, gen_ai.INPUT_MESSAGES, "user", input_key)
    onto.move_messages(span, gen_ai.OUTPUT_MESSAGES, "assistant", output_key)
    return onto.as_operation(span, operation)
