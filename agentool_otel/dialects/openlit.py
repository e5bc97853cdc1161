"""OpenLIT: GenAI names, and many that it adds for agents, workflows, tools, costs and retrieval.

Source: openlit/openlit `sdk/python/src/openlit/semcov/__init__.py`.
"""

from __future__ import annotations

from agentool_otel.dialects import _onto_gen_ai as onto
from agentool_otel.dialects._dialect import CENSUS, EXTENDS, NOT_MINE, Confidence, Signs
from agentool_otel.dialects._provider_messages import calls_from, messages_from
from agentool_otel.dialects._reading import Reader
from agentool_otel.model.messages import Message, message, reasoning
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["OpenLIT"]

_SOURCE, _TARGET = "gen_ai.agent.source", "gen_ai.agent.target"
_OWN = (
    *("gen_ai.agent.actual_output", "gen_ai.agent.expected_output", "gen_ai.agent.task"),
    *("gen_ai.agent.goal", "gen_ai.agent.finish.output", "gen_ai.agent.action.tool"),
    *("gen_ai.workflow.input", "gen_ai.workflow.output", "gen_ai.workflow.type"),
    *("gen_ai.usage.cost", "gen_ai.tool.args", "gen_ai.retrieval.query", "gen_ai.graph.nodes"),
    *("gen_ai.agent.session_id", _TARGET, "gen_ai.sdk.version"),
)
_OPERATIONS = {
    "agent": "invoke_agent",
    "model_request": "chat",
    "vectordb": "retrieval",
    "execute_task": None,
    "tool_coordination": None,
}
_USAGE = "gen_ai.usage."
_NAMES = {
    "gen_ai.agent.session_id": gen_ai.CONVERSATION_ID,
    "gen_ai.tool.args": gen_ai.TOOL_CALL_ARGUMENTS,
    "gen_ai.agent.action.tool": gen_ai.TOOL_NAME,
    "gen_ai.agent.action.tool_input": gen_ai.TOOL_CALL_ARGUMENTS,
    "gen_ai.retrieval.query": gen_ai.RETRIEVAL_QUERY_TEXT,
    "gen_ai.retrieval.source": gen_ai.DATA_SOURCE_ID,
    _USAGE + "prompt_tokens_details.cached_tokens": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
    _USAGE + "prompt_tokens_details.cache_creation_tokens": gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS,
    _USAGE + "completion_tokens_details.reasoning_tokens": gen_ai.USAGE_REASONING_OUTPUT_TOKENS,
}


class OpenLIT:
    """The dialect."""

    name = "openlit"
    signs = Signs(keys=_OWN, scopes=("openlit",))

    def recognise(self, span: SpanRecord) -> Confidence:
        attributes = span.attributes
        ours = span.scope.startswith("openlit") or any(key in attributes for key in _OWN)
        if ours:
            said = gen_ai.OPERATION_NAME in attributes
            return Confidence(EXTENDS if said else CENSUS, "OpenLIT's names or scope")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        said = str(span.rest.get(gen_ai.OPERATION_NAME))
        operation = _OPERATIONS.get(said, said)
        if _SOURCE in span.rest and _TARGET in span.rest:
            return _read_handoff(span)
        if operation is None or said == "None":
            return onto.unclassified(span)
        onto.rename(span, _NAMES)
        if operation in ("invoke_agent", "invoke_workflow"):
            _read_run(span)
        elif operation == "retrieval":
            if gen_ai.RETRIEVAL_DOCUMENTS in span.rest:
                onto.set_documents(span, span.json(gen_ai.RETRIEVAL_DOCUMENTS))
        elif operation != "execute_tool":
            _read_model_call(span)
        return onto.as_operation(span, operation)


def _read_handoff(span: Reader) -> Operation:
    target = span.text(_TARGET)
    onto.rename(span, {_SOURCE: gen_ai.AGENT_NAME})
    span.rest[gen_ai.TOOL_NAME] = f"transfer_to_{target}"
    onto.put(span, agentool.TRANSFER_TARGET, target)
    return onto.as_operation(span, "execute_tool")


def _read_run(span: Reader) -> None:
    onto.move_messages(
        span, gen_ai.INPUT_MESSAGES, "user", "gen_ai.agent.task", "gen_ai.workflow.input"
    )
    onto.move_messages(
        span,
        gen_ai.OUTPUT_MESSAGES,
        "assistant",
        *("gen_ai.agent.actual_output", "gen_ai.agent.finish.output", "gen_ai.workflow.output"),
    )
    if "gen_ai.agent.instructions" in span.rest:
        onto.set_system(span, span.text("gen_ai.agent.instructions"))
    if "gen_ai.agent.tools" in span.rest:
        tools = onto.definitions(span.json("gen_ai.agent.tools"))
        onto.put(span, gen_ai.TOOL_DEFINITIONS, tools or None)


def _read_model_call(span: Reader) -> None:
    onto.rename(span, {"gen_ai.usage.cost": agentool.COST_USD})
    thoughts = [
        reasoning(value)
        for event in span.span.events
        if event.name == "gen_ai.content.reasoning"
        for value in event.attributes.values()
        if isinstance(value, str)
    ]
    asked = calls_from(span.json("gen_ai.response.tool_calls"))
    if gen_ai.OUTPUT_MESSAGES in span.rest or not (thoughts or asked):
        return
    answered: list[Message] = []
    for event in span.span.events:
        if event.name == "gen_ai.content.completion":
            answered += messages_from(event.attributes.get("gen_ai.completion"), "assistant")
    spoken = [part for said in answered for part in said.get("parts", ())]
    span.rest[gen_ai.OUTPUT_MESSAGES] = [message("assistant", [*thoughts, *spoken, *asked])]
