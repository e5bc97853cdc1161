"""AgentOps: a span kind, and an input and output for each.

Source: AgentOps-AI/agentops `agentops/semconv/*.py`. Messages are indexed attributes of the older
GenAI form, which the `gen_ai` dialect reads.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    CENSUS,
    NOT_MINE,
    OWN_ROLE,
    SCOPE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import read_call, run_at_root
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["AgentOps"]

_KIND = "agentops.span.kind"
_INPUT, _OUTPUT = "agentops.entity.input", "agentops.entity.output"
_OPERATIONS = {
    "agent": "invoke_agent",
    "tool": "execute_tool",
    "llm": "chat",
    "llm.call": "chat",
    "agentopsspankindvalues.tool": "execute_tool",
}
"""The last stands for a tool call that a model requests: a span of its own below the model's, named
like the member of the enumeration. The answer's tool calls are recorded nowhere else."""
_RUNS = ("session", "workflow", "operation", "task")
_FUNCTIONS = "gen_ai.request.functions"
_TOOLS = "gen_ai.request.tools"
_INSTRUMENTATION = "instrumentation.name"
_NAMES = {
    "agent.name": gen_ai.AGENT_NAME,
    "agent.id": gen_ai.AGENT_ID,
    "tool.name": gen_ai.TOOL_NAME,
    "tool.id": gen_ai.TOOL_CALL_ID,
    "tool.call.id": gen_ai.TOOL_CALL_ID,
    "tool.description": gen_ai.TOOL_DESCRIPTION,
    "workflow.session_id": gen_ai.CONVERSATION_ID,
}


class AgentOps:
    """The dialect."""

    name = "agentops"
    markers = Markers(keys=("agentops.", _FUNCTIONS + ".", _INSTRUMENTATION))
    content = Content(
        attributes=(
            "agentops.*.input",
            "agentops.*.output",
            *("gen_ai.assistant.instructions", "gen_ai.openai.instructions", "gen_ai.messages."),
            *("gen_ai.request.instructions", "gen_ai.request.system_instruction"),
            *("gen_ai.request.image_prompt", "gen_ai.response.images.*.revised_prompt"),
            *("gen_ai.response.*.content", "gen_ai.run.instructions"),
            "gen_ai.run.additional_messages.",
            "tool.parameters",
            "tool.result",
            "workflow.input",
            "workflow.final_output",
            "workflow.output",
            _FUNCTIONS,
            _FUNCTIONS + ".",
            _TOOLS,
            _TOOLS + ".",
            *("crewai.agents.*.goal", "crewai.agents.*.backstory"),
            *("crewai.tasks.*.description", "crewai.tasks.*.expected_output"),
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        if _KIND in span.attributes:
            return Confidence(OWN_ROLE, f"has {_KIND}")
        if any(key.startswith("agentops.entity.") for key in span.attributes):
            return Confidence(CENSUS, "has agentops.entity.*")
        if span.attributes.get(_INSTRUMENTATION) == "agentops":
            return Confidence(SCOPE, f"{_INSTRUMENTATION} is AgentOps")
        if any(key.startswith(_FUNCTIONS) for key in span.attributes):
            return Confidence(SCOPE, f"has {_FUNCTIONS}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        kind = (span.text(_KIND) or "").lower()
        if "from_agent" in span.rest and "to_agent" in span.rest:
            return _read_handoff(span)
        operation = _OPERATIONS.get(kind)
        onto.move_functions(span, _FUNCTIONS)
        onto.move_functions(span, _TOOLS)
        if not kind and span.rest.get("workflow.step.type") == "trace":  # of the Agents SDK
            onto.rename(span, {"workflow.name": gen_ai.WORKFLOW_NAME})
            return onto.as_operation(span, "invoke_workflow")
        if not kind and _INPUT not in span.rest and _OUTPUT not in span.rest:
            return onto.as_operation(span)  # of its own instrumentors
        if operation is None and (kind not in _RUNS or span.span.parent_id is not None):
            return onto.unclassified(span)
        onto.rename(
            span,
            {
                f"agentops.{kind}.input": _INPUT,
                f"agentops.{kind}.output": _OUTPUT,
                "tool.parameters": _INPUT,
                "tool.result": _OUTPUT,
                "workflow.input": _INPUT,
                "workflow.final_output": _OUTPUT,
                "workflow.output": _OUTPUT,
            },
        )
        if kind in _RUNS:
            operation = run_at_root(span, _INPUT, _OUTPUT)
            onto.rename(span, {"workflow.name": gen_ai.WORKFLOW_NAME})
        onto.rename(span, _NAMES)
        if operation == "chat":
            onto.rename(span, {"gen_ai.usage.total_cost": agentool.COST_USD})
        name = span.text("agentops.entity.name") or span.text("operation.name")
        failed = span.rest.get("tool.status") in ("failed", "error")
        failed = failed or span.text("agentops.session.end_state") in ("Fail", "Error")
        read = read_call(span, operation, name, _INPUT, _OUTPUT)
        return onto.failed(read, "_OTHER", None) if failed else read


def _read_handoff(span: Reader) -> Operation:
    target = span.text("to_agent")
    onto.rename(span, {"from_agent": gen_ai.AGENT_NAME})
    span.rest[gen_ai.TOOL_NAME] = f"transfer_to_{target}"
    onto.put(span, agentool.TRANSFER_TARGET, target)
    return onto.as_operation(span, "execute_tool")
