"""Effect of each event on its step, in a table by the event's class name.

Events that are not in it are left out. Values that pyagentspec holds to be sensitive (inputs,
outputs, prompts, answers, the text of exceptions) are content, and recorded where that is.
Source: pyagentspec tracing/events at 26.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentool_otel.content.policy import Policy
from agentool_otel.integrations.agent_spec.instrumentor import values
from agentool_otel.integrations.agent_spec.instrumentor.failures import Failure
from agentool_otel.integrations.agent_spec.instrumentor.steps import (
    ModelStep,
    Step,
    ToolStep,
    time_of,
)
from agentool_otel.model.operations import AgentInvocation
from agentool_otel.providers.fields import get, record, string
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.tracing.spans.settings import policy_in

__all__ = ["EVENTS", "tell"]

Handler = Callable[[Step, Any], None]


def _inputs(step: Step, event: Any) -> None:
    _exchange(step, "input", "user", get(event, "inputs"))


def _outputs(step: Step, event: Any) -> None:
    _exchange(step, "output", "assistant", get(event, "outputs"))
    step.mark({"agentspec.branch": string(event, "branch_selected") or None})


def _exchange(step: Step, field: str, role: str, value: Any) -> None:
    def content() -> dict[str, Any]:
        messages = values.as_message(role, value)
        return {} if messages is None else {field: messages}

    step.add(content)


def _node_inputs(step: Step, event: Any) -> None:
    step.mark({agentool.INPUT: _text(step, agentool.INPUT, get(event, "inputs"))})


def _node_outputs(step: Step, event: Any) -> None:
    step.mark(
        {
            agentool.OUTPUT: _text(step, agentool.OUTPUT, get(event, "outputs")),
            "agentspec.branch": string(event, "branch_selected") or None,
        }
    )


def _text(step: Step, attribute: str, value: Any) -> str | None:
    """Return content as the text of an attribute; None if there is none, or none is wanted."""
    policy: Policy = policy_in(step.context)
    if value is None or record(value) == {} or not policy.on_spans:
        return None
    return policy.encoded(attribute, value)


def _record_request(step: Step, event: Any) -> None:
    if isinstance(step, ModelStep):
        step.request = event
    agent = _agent(step)
    if agent is None:
        return
    agent.response = None  # the last one was not final
    if agent.prompt is None:
        agent.prompt = event


def _record_response(step: Step, event: Any) -> None:
    if isinstance(step, ModelStep):
        step.response = event
    agent = _agent(step)
    if agent is not None:
        agent.response = event


def _agent(step: Step) -> Step | None:
    """Return the agent whose model call it is, if any is under way."""
    for above in step.outward():
        if above.span is not None and isinstance(above.span.operation, AgentInvocation):
            return None if above.ended else above
    return None


def _chunk(step: Step, event: Any) -> None:
    if isinstance(step, ModelStep):
        step.chunk()


def _tool_requested(step: Step, event: Any) -> None:
    if isinstance(step, ToolStep):
        step.requested(event)
    else:  # of a tool that the client executes
        _record_note(step, event)


def _tool_responded(step: Step, event: Any) -> None:
    if isinstance(step, ToolStep):
        step.responded(get(event, "outputs"))
    else:
        _record_note(step, event)


def _tool_chunk(step: Step, event: Any) -> None:
    if isinstance(step, ToolStep):
        step.chunks += 1


def _record_exception(step: Step, event: Any) -> None:
    failure = Failure.from_event(
        string(event, "exception_type") or "_OTHER", string(event, "exception_message") or ""
    )
    step.failure = step.failure or failure


def _record_confirmation(step: Step, event: Any) -> None:
    _record_note(step, event)
    if get(event, "execution_confirmed") is False and isinstance(step, ToolStep):
        step.rejected()


# ------------------------------------------------------------------------------------ span events

_NAMES = {
    "HumanInTheLoopRequest": "agentspec.human_in_the_loop.request",
    "HumanInTheLoopResponse": "agentspec.human_in_the_loop.response",
    "StateSnapshotEmitted": "agentspec.state_snapshot",
    "ToolConfirmationRequest": "agentspec.tool_confirmation.request",
    "ToolConfirmationResponse": "agentspec.tool_confirmation.response",
    "ToolExecutionRequest": "agentspec.client_tool.request",
    "ToolExecutionResponse": "agentspec.client_tool.response",
}
"""Of the span events that stand for events."""

_CONTENT = ("content", "inputs", "outputs", "state_snapshot")


def _record_note(step: Step, event: Any) -> None:
    """Add a span event with its sender and subject, and its content if that is wanted."""
    confirmed = get(event, "execution_confirmed")
    attributes: dict[str, Any] = {
        "agentspec.request.id": string(event, "request_id"),
        "agentspec.tool_execution.id": string(event, "tool_execution_request_id"),
        "agentspec.confirmed": confirmed if type(confirmed) is bool else None,
        gen_ai.TOOL_NAME: string(get(event, "tool"), "name"),
        gen_ai.CONVERSATION_ID: string(event, "conversation_id"),
    }
    content = next((value for name in _CONTENT if (value := get(event, name)) is not None), None)
    attributes[agentool.STEP_CONTENT] = _text(step, agentool.STEP_CONTENT, content)
    present = {key: attribute for key, attribute in attributes.items() if attribute is not None}
    step.note(_NAMES[_name(event) or ""], present, time_of(event))


EVENTS: dict[str, Handler] = {
    "AgentExecutionStart": _inputs,
    "AgentExecutionEnd": _outputs,
    "FlowExecutionStart": _inputs,
    "FlowExecutionEnd": _outputs,
    "SwarmExecutionStart": _inputs,
    "SwarmExecutionEnd": _outputs,
    "ManagerWorkersExecutionStart": _inputs,
    "ManagerWorkersExecutionEnd": _outputs,
    "NodeExecutionStart": _node_inputs,
    "NodeExecutionEnd": _node_outputs,
    "LlmGenerationRequest": _record_request,
    "LlmGenerationResponse": _record_response,
    "LlmGenerationChunkReceived": _chunk,
    "ToolExecutionRequest": _tool_requested,
    "ToolExecutionResponse": _tool_responded,
    "ToolExecutionStreamingChunkReceived": _tool_chunk,
    "ToolConfirmationRequest": _record_note,
    "ToolConfirmationResponse": _record_confirmation,
    "HumanInTheLoopRequest": _record_note,
    "HumanInTheLoopResponse": _record_note,
    "StateSnapshotEmitted": _record_note,
    "ExceptionRaised": _record_exception,
}


def _name(event: Any) -> str | None:
    """Return the name in the table of an event's class, or of the nearest that it derives from."""
    return next(
        (class_name for class_name in values.class_names(event) if class_name in EVENTS), None
    )


def tell(step: Step, event: Any) -> None:
    """Apply an event to its step; a repeated event changes nothing."""
    if step.last_event is event:
        return
    step.last_event = event
    name = _name(event)
    if name is not None:
        EVENTS[name](step, event)
