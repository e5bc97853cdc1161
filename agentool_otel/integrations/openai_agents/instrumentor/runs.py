"""A run: one call of the runner, for one agent or for several that hand over to each other.

The span of a run begins before the SDK's own, because the session is read before those; and it ends
after them, with what the runner returns or raises, which they do not know.

    an agent that hands over to nobody      invoke_agent
    agents that hand over to each other,    invoke_workflow, and below it invoke_agent for each
    or a workflow that the user has named   of them, as the SDK reports them

A streamed run is a task of its own: its span ends when that does, however much of the stream has
been read.

Source: openai-agents run.py, result.py, run_internal/run_loop.py at 0.6 and 0.24.
"""

from __future__ import annotations

import sys
from asyncio import CancelledError
from collections.abc import Awaitable, Callable
from time import time_ns
from typing import Any

from opentelemetry.context import Context, attach, create_key, get_current, set_value

from agentool_otel.integrations.openai_agents.instrumentor import values
from agentool_otel.model.operations import AgentInvocation, WorkflowInvocation
from agentool_otel.providers.fields import as_list, get, items, plain_text, string
from agentool_otel.tracing.instrumentation import approvals
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.identity import identify, names_of
from agentool_otel.tracing.spans.settings import guarded, withholding_content
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step
from agentool_otel.tracing.spans.suppression import CallsBelow

__all__ = ["SCOPE", "TRACE_KEY", "AgentRun", "current_run", "run", "run_streamed"]

SCOPE = "agentool_otel.instrumentation.openai_agents"
TRACE_KEY = create_key("agentool-otel-openai-agents-trace")
"""In a context inside a trace that the user has opened, which stands for the workflow."""

_RUN_KEY = create_key("agentool-otel-openai-agents-run")
_UNNAMED = "Agent workflow"
"""The SDK's name for a workflow that the user has not named."""

_ERRORS = {
    "Max turns exceeded": "agents.exceptions.MaxTurnsExceeded",
    "Guardrail tripwire triggered": "agents.exceptions.InputGuardrailTripwireTriggered",
}
"""Exception that a streamed run raises to the reader of the stream, by the error on its agent's
span: the exception itself is created when the stream is read.
"""


def current_run(context: Context | None = None) -> AgentRun | None:
    """Return the innermost run of a context."""
    run = (get_current() if context is None else context).get(_RUN_KEY)
    return run if isinstance(run, AgentRun) else None


class AgentRun:
    """One call of the runner."""

    __slots__ = (
        "_agent_ended",
        "_agents",
        "_pending",
        "_prompt",
        "agent",
        "calls",
        "failure",
        "step",
    )

    def __init__(self, step: StepSpan, prompt: Any):
        self.step = step
        """The span of the run."""
        self.agent: StepSpan | None = None
        """The span of the agent that works now, or has done last."""
        if isinstance(step.operation, AgentInvocation):
            self.agent = step
        self.calls = CallsBelow(step.context)
        step.context = set_value(_RUN_KEY, self, self.calls.context)
        self.failure: str | None = None
        """Failure of the agent that worked last, as the SDK reports it."""
        self._prompt = prompt
        self._agents = 0
        self._agent_ended: int | None = None
        self._pending: list[tuple[StepSpan, str | None, int]] = []

    @classmethod
    def of_agent(cls, name: str | None) -> AgentRun:
        """Start a run of an agent without a runner."""
        step = start_step(AgentInvocation(agent_name=name), description="an agent", scope=SCOPE)
        return cls(step, None)

    # ---- the agents inside
    def agent_started(self, name: str | None) -> StepSpan | None:
        """Start the span of an agent; None if the run's own span is the agent's."""
        self._agents += 1
        self.failure = None
        if self._agents == 1 and self.agent is self.step:
            return None
        self._end_agent()
        prompt = self._prompt if self._agents == 1 else None
        self._agent_ended = None
        self.agent = start_step(
            AgentInvocation(agent_name=name),
            description="an agent",
            scope=SCOPE,
            content=None if prompt is None else lambda: {"input": values.conversation(prompt)},
        )
        return self.agent

    def agent_finished(self, failure: str | None) -> None:
        """Note when an agent ended. Its span ends with the run, whose result it may have given, or
        once another agent goes on."""
        self.failure = failure
        self._agent_ended = time_ns()

    def _end_agent(
        self, error: BaseException | None = None, interrupted: str | None = None
    ) -> None:
        agent, self.agent = self.agent, None
        if agent is not None and agent is not self.step:
            agent.end_run(error, interrupted=interrupted, end_ns=self._agent_ended)

    # ---- the tools inside
    def unanswered(self, tool: StepSpan, call_id: str | None) -> None:
        """Keep the span of a tool that has ended without a result: the end of the run, or the next
        model call, shows whether it waits for approval.
        """
        self._pending.append((tool, call_id, time_ns()))

    def settle(self, awaiting: frozenset[str | None] = frozenset()) -> None:
        """End the tools that ended without a result.

        Args:
            awaiting: ids of the calls that wait for the approval of a human.
        """
        pending, self._pending = self._pending, []
        for tool, call_id, end_ns in pending:
            if call_id is not None and call_id in awaiting:
                tool.leave_unanswered()
                tool.end(interrupted="approval", end_ns=end_ns)
            else:
                tool.add(result=None)
                tool.end(end_ns=end_ns)

    # ---- its end
    def returned(self, result: Any) -> None:
        """End with the runner's return value."""
        with guarded("reading the result of an agent"):
            interruptions = items(result, "interruptions")
            awaiting = (
                string(get(interruption, "raw_item"), "call_id") for interruption in interruptions
            )
            self.settle(frozenset(awaiting))
            for step in {
                id(value): value for value in (self.agent, self.step) if value is not None
            }.values():
                step.add(lambda: {"output": values.answer(get(result, "final_output"))})
                approvals.record_questions(
                    step,
                    lambda: [
                        values.pending_approval(interruption) for interruption in interruptions
                    ],
                )
            self._end(interrupted="approval" if interruptions else None)

    def ended(self, error: BaseException | None) -> None:
        """End with neither."""
        self.settle()
        self._end(error)

    def failed(self, error: BaseException) -> None:
        """End with the runner's exception."""
        with guarded("finishing a run of an agent"):
            self.settle()
            self._end(error)

    def completed(self, result: Any, task: Any) -> None:
        """End with the outcome of a streamed run."""
        with guarded("finishing a streamed run of an agent"):
            # `exception()` would count as having seen to it, and asyncio would not log it.
            error = get(result, "_stored_exception")
            error = get(task, "_exception") if error is None else error
            if task.cancelled():
                error = CancelledError()
            unanswered = get(result, "final_output") is None and not items(result, "interruptions")
            if string(result, "_cancel_mode") in ("immediate", "after_turn") and unanswered:
                self.settle()
                self._end(interrupted="closed")
            elif error is not None:
                self.failed(error)
            elif self.failure is not None and unanswered:
                self.settle()
                for step in {
                    id(value): value for value in (self.agent, self.step) if value
                }.values():
                    step.set(error_type=_ERRORS.get(self.failure, "error"))
                self._end()
            else:
                self.returned(result)

    def _end(self, error: BaseException | None = None, interrupted: str | None = None) -> None:
        self._prompt = None
        self._end_agent(error, interrupted)
        self.step.end_run(error, interrupted=interrupted)


def _start(args: tuple[Any, ...], options: dict[str, Any]) -> AgentRun | None:
    """Start the span of a run.

    Args:
        args: the agent and the prompt: a text, items, or the state of a run that is resumed.
        options: the keyword arguments of the runner.
    """
    with guarded("starting the span of a run of an agent"):
        named_arguments = dict(zip(("starting_agent", "input"), args, strict=False)) | options
        agent, prompt = named_arguments.get("starting_agent"), named_arguments.get("input")
        state = None
        if plain_text(prompt) is None and as_list(prompt) is None:  # a `RunState`
            current = get(prompt, "_current_agent")
            state, agent, prompt = prompt, agent if current is None else current, None
        config = options.get("run_config")
        conversation_id = (
            string(options.get("session"), "session_id")
            or string(options, "conversation_id")
            or string(config, "group_id")
        )
        workflow = _workflow(agent, config)
        operation: AgentInvocation | WorkflowInvocation
        if workflow is None:
            operation = AgentInvocation(
                agent_name=string(agent, "name"), conversation_id=conversation_id
            )
        else:
            operation = WorkflowInvocation(workflow_name=workflow, conversation_id=conversation_id)
        parent = get_current()
        if _withholds(config):
            parent = withholding_content(parent)
        step = start_step(
            operation,
            description="a run of an agent",
            scope=SCOPE,
            parent=parent,
            content=lambda: {"input": values.conversation(prompt)},
        )
        if state is not None:
            approvals.record_decisions(step, lambda: values.decisions(state))
        step.context = identify(step.context, names_of(conversation_id))
        return AgentRun(step, prompt)
    return None


def _withholds(config: Any) -> bool:
    """Return whether traces of the run have no content, by the user's choice or the environment,
    which the SDK reads.
    """
    included = get(config, "trace_include_sensitive_data")
    for module in ("agents.run_config", "agents.run"):
        default = get(sys.modules.get(module), "_default_trace_include_sensitive_data")
        if included is None and default is not None:
            included = default()
    return included is False


def _workflow(agent: Any, config: Any) -> str | None:
    """Return the name of the workflow that a run is, None if it is one agent's."""
    name = string(config, "workflow_name") or _UNNAMED
    if items(agent, "handoffs"):
        return name
    context = get_current()
    outer = context.get(TRACE_KEY) or context.get(_RUN_KEY)
    return None if name == _UNNAMED or outer else name


async def run(
    wrapped: Callable[..., Awaitable[Any]], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`AgentRunner.run`, which `run_sync` calls as well."""
    started = _start(args, kwargs)
    if started is None:
        return await wrapped(*args, **kwargs)
    with started.step:  # which sees to a coroutine that is forgotten
        try:
            result = await wrapped(*args, **kwargs)
        except GeneratorExit:
            raise
        except BaseException as error:
            started.failed(error)
            raise
        started.returned(result)
        return result


def run_streamed(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`AgentRunner.run_streamed`: the task that it starts has our context."""
    started = _start(args, kwargs)
    if started is None:
        return wrapped(*args, **kwargs)
    token = attach(started.step.context)
    try:
        result = wrapped(*args, **kwargs)
    except BaseException as error:
        restore(token)
        started.failed(error)
        raise
    restore(token)
    with guarded("following a streamed run of an agent"):
        task = get(result, "run_loop_task")
        task = get(result, "_run_impl_task") if task is None else task
        task.add_done_callback(lambda done: started.completed(result, done))
    return result
