"""A run of a workflow, the agents that work in it, and the tools that they call.

    an agent, an `AgentWorkflow` of one     invoke_agent
    an `AgentWorkflow` of several agents    invoke_workflow, and below it invoke_agent for each of
                                            them as they hand over
    any other workflow                      invoke_workflow

Source: llama-index-core agent/workflow/ at 0.13 and 0.14; workflows runtime/types/step_function.py
at 1.3 and 2.26.
"""

from __future__ import annotations

from asyncio import Future
from collections.abc import Coroutine
from typing import Any

from opentelemetry.context import create_key, get_current, set_value

from agentool_otel.content.encoding.introspection import class_name
from agentool_otel.content.policy import jsonable
from agentool_otel.integrations.llama_index.instrumentor import messages
from agentool_otel.integrations.llama_index.instrumentor.models import (
    SCOPE,
    STEP_KEY,
    provider_of_model,
)
from agentool_otel.integrations.llama_index.instrumentor.tools import Tool, description_of
from agentool_otel.model.operations import (
    AgentInvocation,
    Operation,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.providers.fields import get, items, record, string
from agentool_otel.tracing.spans.finalizers import when_safe
from agentool_otel.tracing.spans.identity import agent_of
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step

__all__ = ["WorkflowRun", "conversation_of", "current_run"]

_RUN_KEY = create_key("agentool-otel-llama-index-run")
_HANDOFF = "handoff"
_CANCELLED = "WorkflowCancelledByUser"
_NO_ID = "chat_history"
"""The key that every memory has whose user has chosen none."""


def current_run() -> WorkflowRun | None:
    """Return the innermost run of the current context."""
    run = get_current().get(_RUN_KEY)
    return run if isinstance(run, WorkflowRun) else None


class WorkflowRun:
    """One run of a workflow."""

    __slots__ = (
        "_agent",
        "_agents",
        "_ended",
        "_input",
        "_waiting",
        "cancelled",
        "future",
        "step",
        "workflow",
    )

    def __init__(self, workflow: Any, start: dict[str, Any]):
        """
        Args:
            workflow: an agent or any other workflow.
            start: the fields of the event that starts it.
        """
        self.workflow = workflow
        self.cancelled = False
        """Whether the program has cancelled it."""
        self._ended = False
        self.future: Future[Any] | None = None
        """The handler of the run, in workflows 1.x."""
        self._agents = record(get(workflow, "agents")) or {}
        self._agent: tuple[str | None, StepSpan] | None = None
        """The agent that works now, of several."""
        self._waiting: dict[str, Tool] = {}
        """Tools that wait for an event, by the ids of their calls. LlamaIndex calls them again,
        from their beginning, once the event has come."""
        operation, is_agent = self._operation()
        self._input = messages.as_input(start, is_agent) if is_agent else None
        self.step = start_step(
            operation,
            description="a run of LlamaIndex",
            scope=SCOPE,
            content=lambda: {"input": messages.as_input(start, is_agent)},
        )
        self.step.context = set_value(_RUN_KEY, self, self.step.context)

    def _operation(self) -> tuple[Operation, bool]:
        """Return what a run is, and whether it is one of agents."""
        agents = list(self._agents.values())
        if len(agents) > 1:
            return WorkflowInvocation(workflow_name=self._workflow_name()), True
        agent = agents[0] if agents else self.workflow
        if get(agent, "llm") is not None and string(agent, "name") is not None:
            return _invocation(agent), True
        return WorkflowInvocation(workflow_name=self._workflow_name()), False

    def _workflow_name(self) -> str:
        return string(self.workflow, "_workflow_name") or class_name(type(self.workflow))

    # ---- the agents inside
    def step_for(self, event: Any) -> StepSpan:
        """Return the step that a step of the workflow is part of.

        Args:
            event: that it handles. The one an agent starts by names the agent.
        """
        if len(self._agents) < 2:
            return self.step
        name = string(event, "current_agent_name")
        if name is not None and class_name(type(event)) == "AgentSetup":
            self._work(name)
        return self.step if self._agent is None else self._agent[1]

    def _work(self, name: str) -> None:
        if self._agent is not None and self._agent[0] == name:
            return
        first = self._agent is None
        self._end_agent()
        sent = self._input if first else None
        step = start_step(
            _invocation(self._agents.get(name), name),
            description="an agent of LlamaIndex",
            scope=SCOPE,
            parent=self.step.context,
            content=None if sent is None else lambda: {"input": sent},
        )
        step.context = set_value(STEP_KEY, step, step.context)
        self._agent = (name, step)

    def _end_agent(
        self, error: BaseException | None = None, interrupted: str | None = None
    ) -> None:
        agent, self._agent = self._agent, None
        if agent is not None:
            agent[1].end_run(error, interrupted=interrupted)

    # ---- the tools inside
    def tool(self, call: Any) -> Tool:
        """Start the span of a tool that an agent calls."""
        name, call_id = string(call, "tool_name") or "unknown", string(call, "tool_id")
        waiting = self._waiting.pop(call_id or "", None)
        if waiting is not None:
            return waiting
        arguments = get(call, "tool_kwargs")
        agent = self._agents.get(self._agent[0] or "") if self._agent is not None else None
        if agent is None:
            agent = next(iter(self._agents.values()), self.workflow)
        target = self._target(agent, name, arguments)
        operation = ToolExecution(
            name=name,
            call_id=call_id,
            tool_type="function",
            description=description_of(agent, name),
            agent_name=agent_of(get_current()),
            transfer_target=target,
        )

        def content() -> dict[str, Any]:
            fields: dict[str, Any] = {"arguments": jsonable(arguments)}
            if target is not None:
                fields["transfer_message"] = string(arguments, "reason")
            return fields

        step = start_step(operation, description="a tool", scope=SCOPE, content=content)
        return Tool(step, name, self.wait)

    def _target(self, agent: Any, name: str, arguments: Any) -> str | None:
        """Return the agent that a call hands over to; None for any other call, and for one that
        the workflow refuses."""
        target = string(arguments, "to_agent") if name == _HANDOFF else None
        allowed = get(agent, "can_handoff_to")
        if target not in self._agents or (allowed is not None and target not in items(allowed)):
            return None
        return target

    def wait(self, tool: Tool) -> bool:
        """Keep a tool that waits for an event; return False if its call has no id."""
        call_id = getattr(tool.step.operation, "call_id", None)
        if call_id is None or self._ended:
            return False
        self._waiting[call_id] = tool
        return True

    # ---- its end
    def returned(self, result: Any) -> None:
        """End with what the workflow returns: an event, or what is in it."""
        error = self._failure()
        if error is not None:
            self.failed(error)
            return
        if self.cancelled:
            self._end(interrupted="cancelled")
            return
        if class_name(type(result)) == "StopEvent":
            result = get(result, "_result")
        for step in (self._agent[1] if self._agent is not None else None, self.step):
            if step is not None:
                step.add(lambda: {"output": messages.as_output(result)})
        self._end()

    def _failure(self) -> BaseException | None:
        """Return the exception of a run of workflows 1.x, which the dispatcher does not report."""
        future = self.future
        return None if future is None or not future.done() else future.exception()

    def failed(self, error: BaseException) -> None:
        """End with an exception."""
        if class_name(type(error)) == _CANCELLED:
            self._end(interrupted="cancelled")
        elif isinstance(error, GeneratorExit):  # perhaps of the garbage collector
            when_safe(self._end, None, "closed")
        else:
            self._end(error)

    def _end(self, error: BaseException | None = None, interrupted: str | None = None) -> None:
        self._ended = True
        while self._waiting:
            self._waiting.popitem()[1].leave_open()
        self._end_agent(error, interrupted)
        self.step.end_run(error, interrupted=interrupted)


def _invocation(agent: Any, name: str | None = None) -> AgentInvocation:
    model = get(agent, "llm")
    return AgentInvocation(
        agent_name=string(agent, "name") or name or "agent",
        agent_description=string(agent, "description"),
        request_model=string(model, "model") or string(model, "model_name"),
        provider=None if model is None else provider_of_model(class_name(type(model))),
    )


# --------------------------------------------------------------------------------- conversations


def conversation_of(options: dict[str, Any]) -> str | None:
    """Return the conversation that a run belongs to, by the memory it is given.

    Args:
        options: the arguments of `Workflow.run`.
    """
    start = messages.event_fields(options.get("start_event"))
    memory = start.get("memory", options.get("memory"))
    context = options.get("ctx")
    if memory is None and context is not None:
        memory = _at_once(context.store.get("memory", default=None))
    session = string(memory, "session_id") or string(memory, "chat_store_key")
    return None if session == _NO_ID else session


def _at_once(work: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine that does not wait; None for one that would."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    except Exception:  # of a store that is not kept in memory, or not opened yet
        return None
    work.close()
    return None
