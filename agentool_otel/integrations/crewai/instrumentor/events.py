"""Events of CrewAI's bus become spans.

Which steps there are, and which events end them, is a table by the type of the event; events that
are not in it have no span, and what happens inside belongs to the parent step.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from opentelemetry.context import get_current

from agentool_otel.content.policy import as_text, encode, jsonable
from agentool_otel.integrations.crewai.instrumentor import values
from agentool_otel.integrations.crewai.instrumentor.frames import OpenStep, innermost
from agentool_otel.integrations.crewai.instrumentor.models import ModelCall
from agentool_otel.model.operations import (
    AgentInvocation,
    MemoryOperation,
    Operation,
    Plan,
    Retrieval,
    ToolExecution,
    WorkflowInvocation,
    records_in,
)
from agentool_otel.providers.fields import get, is_a, items, string
from agentool_otel.tracing.spans.exceptions import str_of
from agentool_otel.tracing.spans.identity import agent_of
from agentool_otel.tracing.spans.run import requested_id
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import (
    OpenSpans,
    StepSpan,
    incomplete,
    start_step,
)

__all__ = ["Listener"]

SCOPE = "agentool_otel.instrumentation.crewai"

_NO_CONTENT: Mapping[str, Any] = {}


def _nothing(*_: Any) -> Mapping[str, Any]:
    return _NO_CONTENT


class _Start(NamedTuple):
    """Rule for an event that starts a step."""

    what: str
    """In words, with its article, for the log."""
    operation: Callable[[Any, Any], Operation | None]
    """Returns what is known without content, from the source and the event; None for no step."""
    content: Callable[[Any, Any], Mapping[str, Any]] = _nothing


class _End(NamedTuple):
    """Rule for an event that ends a step."""

    family: str
    """The event that starts it."""
    content: Callable[[Any], Mapping[str, Any]] = _nothing
    facts: Callable[[Any], Mapping[str, Any]] = _nothing
    failed: bool = False
    interrupted: str | None = None


# ----------------------------------------------------------------------------- crews, flows, agents


def _crew(crew: Any, event: Any) -> Operation:
    return WorkflowInvocation(workflow_name=string(event, "crew_name"))


def _crew_input(crew: Any, event: Any) -> Mapping[str, Any]:
    """Return the crew's inputs or, without inputs, its tasks."""
    if inputs := jsonable(get(event, "inputs")):
        return {"input": values.as_messages("user", encode(inputs))}
    tasks = [item for task in items(crew, "tasks") if (item := string(task, "description"))]
    return {"input": values.as_messages("user", *tasks)}


def _crew_output(event: Any) -> Mapping[str, Any]:
    return {"output": values.as_messages("assistant", values.text_of(get(event, "output")))}


def _flow(flow: Any, event: Any) -> Operation | None:
    if values.internal(flow):  # an agent's loop and the memory's work are flows, too
        return None
    return WorkflowInvocation(workflow_name=string(event, "flow_name"))


def _flow_input(_: Any, event: Any) -> Mapping[str, Any]:
    inputs = jsonable(get(event, "inputs"))
    return {"input": values.as_messages("user", encode(inputs))} if inputs else {}


def _flow_output(event: Any) -> Mapping[str, Any]:
    return {"output": values.as_messages("assistant", values.text_of(get(event, "result")))}


def _agent(_: Any, event: Any) -> Operation:
    return values.agent(get(event, "agent"))


def _agent_input(_: Any, event: Any) -> Mapping[str, Any]:
    return {
        "agent_description": string(get(event, "agent"), "goal"),
        "input": values.as_messages("user", string(event, "task_prompt")),
    }


def _lite_agent(_: Any, event: Any) -> Operation:
    return values.agent(get(event, "agent_info"))


def _lite_agent_input(_: Any, event: Any) -> Mapping[str, Any]:
    return {
        "agent_description": string(get(event, "agent_info"), "goal"),
        "input": values.conversation(get(event, "messages")),
    }


def _agent_output(event: Any) -> Mapping[str, Any]:
    return {"output": values.as_messages("assistant", values.text_of(get(event, "output")))}


def _plan(_: Any, event: Any) -> Operation:
    return Plan(agent_name=values.role(string(event, "agent_role")))


# -------------------------------------------------------------------------------------------- tools


def _tool(source: Any, event: Any) -> Operation:
    name = string(event, "tool_name") or "unknown"
    arguments = values.arguments(get(event, "tool_args"))
    context = get_current()
    return ToolExecution(
        name=name,
        call_id=requested_id(context, name, lambda: jsonable(arguments)),
        tool_type="function",
        agent_name=agent_of(context) or values.role(string(event, "agent_role")),
        transfer_target=values.coworker(source, name, arguments),
    )


def _tool_input(source: Any, event: Any) -> Mapping[str, Any]:
    arguments = values.arguments(get(event, "tool_args"))
    fields: dict[str, Any] = {"arguments": arguments}
    if values.coworker(source, string(event, "tool_name") or "", arguments) is not None:
        fields["transfer_message"] = string(arguments, "task") or string(arguments, "question")
    return fields


def _tool_facts(event: Any) -> Mapping[str, Any]:
    failure = get(event, "failure")
    if failure is None:
        return _NO_CONTENT
    return {"error_type": string(get(failure, "reason"), "value") or "tool_error"}


def _tool_output(event: Any) -> Mapping[str, Any]:
    fields = {"result": jsonable(get(event, "output"))}
    message = string(get(event, "failure"), "message")
    if message is not None:
        fields["tool_error"] = fields["error_message"] = message
    return fields


def _tool_error(event: Any) -> Mapping[str, Any]:
    return {"tool_error": _error_text(get(event, "error"))}


# ----------------------------------------------------------------------------- memory and knowledge


def _memory_query(_: Any, event: Any) -> Operation:
    return MemoryOperation(operation="search_memory")


def _memory_save(_: Any, event: Any) -> Operation:
    # Not `create_memory`: what is like a record that is there already is merged into that.
    count = _batch(event)
    return MemoryOperation(operation="upsert_memory", record_count=1 if count is None else count)


def _memory_content(_: Any, event: Any) -> Mapping[str, Any]:
    value = string(event, "value")
    return {} if value is None or _batch(event) is not None else {"content": value}


def _batch(event: Any) -> int | None:
    """Return how many memories are written at once, of which the event has the number alone."""
    batch = re.fullmatch(r"(\d+) memories \(background\)", string(event, "value") or "")
    return None if batch is None else int(batch[1])


def _query(_: Any, event: Any) -> Mapping[str, Any]:
    return {"query": string(event, "query")}


def _retrieved_documents(event: Any) -> Mapping[str, Any]:
    return {"record_count": records_in(get(event, "results"))}


def _records(event: Any) -> Mapping[str, Any]:
    results = get(event, "results")
    if is_a(results, list):
        return {"records": [values.memory_record(result) for result in items(results)]}
    return {"results": jsonable(results)}


def _retrieval(_: Any, event: Any) -> Operation:
    return Retrieval()


def _documents(event: Any) -> Mapping[str, Any]:
    knowledge = string(event, "retrieved_knowledge")
    return {
        "query": string(event, "query"),
        "documents": [{"content": knowledge}] if knowledge else [],
    }


_STARTS: dict[str, _Start] = {
    "crew_kickoff_started": _Start("a crew", _crew, _crew_input),
    "flow_started": _Start("a flow", _flow, _flow_input),
    "agent_execution_started": _Start("an agent of CrewAI", _agent, _agent_input),
    "lite_agent_execution_started": _Start("an agent of CrewAI", _lite_agent, _lite_agent_input),
    "agent_reasoning_started": _Start("a plan of CrewAI", _plan),
    "tool_usage_started": _Start("a tool of CrewAI", _tool, _tool_input),
    "memory_query_started": _Start("a search of CrewAI's memory", _memory_query, _query),
    "memory_save_started": _Start("a write to CrewAI's memory", _memory_save, _memory_content),
    "knowledge_search_query_started": _Start("a search of CrewAI's knowledge", _retrieval),
}

_ENDS: dict[str, _End] = {
    "crew_kickoff_completed": _End("crew_kickoff_started", _crew_output),
    "crew_kickoff_failed": _End("crew_kickoff_started", failed=True),
    "flow_finished": _End("flow_started", _flow_output),
    "flow_failed": _End("flow_started", failed=True),
    "flow_paused": _End("flow_started", interrupted="HumanFeedbackPending"),
    "agent_execution_completed": _End("agent_execution_started", _agent_output),
    "agent_execution_error": _End("agent_execution_started", failed=True),
    "lite_agent_execution_completed": _End("lite_agent_execution_started", _agent_output),
    "lite_agent_execution_error": _End("lite_agent_execution_started", failed=True),
    "agent_reasoning_completed": _End("agent_reasoning_started"),
    "agent_reasoning_failed": _End("agent_reasoning_started", failed=True),
    "tool_usage_finished": _End("tool_usage_started", _tool_output, _tool_facts),
    "tool_usage_error": _End("tool_usage_started", _tool_error, failed=True),
    "memory_query_completed": _End("memory_query_started", _records, _retrieved_documents),
    "memory_query_failed": _End("memory_query_started", failed=True),
    "memory_save_completed": _End("memory_save_started"),
    "memory_save_failed": _End("memory_save_started", failed=True),
    "knowledge_search_query_completed": _End("knowledge_search_query_started", _documents),
    "knowledge_search_query_failed": _End("knowledge_search_query_started", failed=True),
}


class Listener:
    """Handles every event of the bus, where it happens."""

    def __init__(self) -> None:
        self._steps = OpenSpans[OpenStep](_abandon)
        self._calls = OpenSpans[ModelCall](ModelCall.abandon)

    def emitted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Handle the arguments of `emit(source, event)`."""
        with guarded("reading an event of CrewAI"):
            arguments = dict(zip(("source", "event"), args, strict=False)) | kwargs
            source, event = arguments.get("source"), arguments.get("event")
            kind = string(event, "type") or ""
            if kind in _STARTS:
                self._start(kind, _STARTS[kind], source, event)
            elif kind in _ENDS:
                self._end(_ENDS[kind], event)
            elif kind.startswith("llm_"):
                self._model(kind, source, event)

    def _start(self, kind: str, start: _Start, source: Any, event: Any) -> None:
        operation = start.operation(source, event)
        if operation is None:
            return
        if isinstance(operation, AgentInvocation):
            _end_failed_attempt(operation)
        span = start_step(
            operation,
            description=start.what,
            scope=SCOPE,
            content=lambda: start.content(source, event),
        )
        key = string(event, "event_id")
        self._steps.add(key, OpenStep(kind, span, partial(self._steps.take, key)))

    def _end(self, end: _End, event: Any) -> None:
        started = string(event, "started_event_id")
        step = self._steps.get(started)
        if step is None or step.family != end.family:  # some pairs do not match, as CrewAI warns
            return
        step.leave()
        span = step.span
        span.set(**end.facts(event))
        span.add(lambda: end.content(event))
        error = _error(event, span) if end.failed else None
        step.end(error, failed=end.failed, interrupted=end.interrupted)

    def _model(self, kind: str, source: Any, event: Any) -> None:
        call_id = string(event, "call_id")
        if kind == "llm_call_started":
            self._calls.add(call_id, ModelCall(source, event))
        elif kind in ("llm_call_completed", "llm_call_failed"):
            call = self._calls.take(call_id)
            if call is not None:
                call.end(event, _exception(event))
        elif (call := self._calls.get(call_id)) is not None:
            call.chunk(kind, event)


def _end_failed_attempt(again: AgentInvocation) -> None:
    """End the run of an agent that is tried again: CrewAI 1.14 does so while it handles the error,
    and does not tell that the attempt before has failed."""
    before, error = innermost(), sys.exc_info()[1]
    if before is None or error is None or not isinstance(before.span.operation, AgentInvocation):
        return
    if before.span.operation.agent_name == again.agent_name:
        before.leave()
        before.end(error)


def _error(event: Any, span: StepSpan) -> BaseException | None:
    """Return the exception that an event reports; put an error of text alone on the span."""
    error = _exception(event)
    if error is None:
        span.set(error_type="_OTHER", error_message=_error_text(get(event, "error")))
    return error


def _exception(event: Any) -> BaseException | None:
    """Return the exception that an event reports. Most carry only its text, but are emitted while
    it is handled.
    """
    error, handled = get(event, "error"), sys.exc_info()[1]
    if is_a(error, BaseException):
        return error
    return handled if handled is not None and str_of(handled) in _error_text(error) else None


def _error_text(error: Any) -> str:
    """Return the error of an event: a text, most often, or the exception."""
    return str_of(error) if is_a(error, BaseException) else as_text(error)


def _abandon(step: OpenStep) -> None:
    step.span.end(extra=incomplete())
