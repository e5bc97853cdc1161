"""Runs of a runner, and the agents that work in them.

    a runner of an agent alone              invoke_agent
    a runner of an agent with sub-agents,   invoke_workflow, and below it invoke_agent for each
    of a sequence, a loop, a graph          agent that works

An agent that hands over ends where the other one begins, though ADK 1 runs that inside of it, and
ADK 2 closes its stream. A runner inside a run, as that of an `AgentTool` is, has a span of its own,
and stays in the conversation of the outer run.

Source: google-adk runners.py, agents/base_agent.py, workflow/_llm_agent_wrapper.py at 1.19 and
2.13.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry.context import Context, create_key, get_current, set_value

from agentool_otel.content.encoding.introspection import class_name, mro
from agentool_otel.integrations.adk.instrumentor import contents
from agentool_otel.integrations.adk.instrumentor.event_streams import events_of
from agentool_otel.integrations.adk.instrumentor.tools import (
    arguments_around,
    inside_tool,
    outside_tools,
)
from agentool_otel.integrations.adk.instrumentor.work import SCOPE, Work, at_work
from agentool_otel.model.operations import AgentInvocation, WorkflowInvocation
from agentool_otel.providers.fields import get, items, plain_text, string
from agentool_otel.tracing.instrumentation import approvals
from agentool_otel.tracing.instrumentation.instrumentor import Patch
from agentool_otel.tracing.spans.identity import identify, names_of
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step

__all__ = ["PATCHES"]

_RUN_KEY = create_key("agentool-otel-adk-run")
_WORKFLOWS = frozenset({"SequentialAgent", "ParallelAgent", "LoopAgent"})


class _Run(Work):
    """One run of a runner."""

    __slots__ = (
        *("_abort", "_answered", "_has_ended_turn", "_inputs", "_is_left", "_waiting"),
        *("agent_name", "is_workflow"),
    )

    def __init__(self, step: StepSpan, agent: Any, abort: Any):
        """
        Args:
            step: its span.
            agent: the agent of the runner.
            abort: the event by which the program aborts the run.
        """
        super().__init__(step)
        self.agent_name = string(agent, "name")
        self.is_workflow = isinstance(step.operation, WorkflowInvocation)
        self._inputs: list[Any] = []
        """Contents that agents have begun with."""
        self._answered = False
        self._abort = abort
        self._is_left = False
        self._has_ended_turn = False
        """Whether the last event was an answer to the user, so that nothing more was to come."""
        self._waiting = contents.Waiting()
        self.context = set_value(_RUN_KEY, self, outside_tools(self.context))

    @property
    def leaving(self) -> bool:
        return self._is_left

    def stands_for(self, agent: Any) -> bool:
        """Return whether the span of the run is that of an agent."""
        if string(agent, "name") != self.agent_name:
            return False
        return not self.is_workflow or _only_coordinates(agent)

    def input_of(self, content: Any) -> Any:
        """Return the content that an agent begins with; None for one that answers another."""
        is_known = any(each is content for each in self._inputs)
        if not is_known:
            self._inputs.append(content)
        return None if is_known and self._answered else content

    def agent_ended(self) -> None:
        self._answered = True

    def _see(self, event: Any) -> None:
        super()._see(event)
        self._waiting.see(event)

        self._has_ended_turn = not self.is_workflow and contents.answer_in(event) is not None

    def leaves(self) -> None:
        self._is_left = True

    @property
    def left_early(self) -> str | None:
        return None if self._has_ended_turn else "closed"

    def returned(self) -> None:
        waiting: str | None = None
        with guarded("reading what a run of ADK waits for"):
            waiting = self._waiting.kind
            if waiting is not None:
                approvals.record_questions(self.step, self._waiting.calls)
            elif self._abort is not None and self._abort.is_set():
                waiting = "aborted"
        self._end(interrupted=waiting)


class _Agent(Work):
    """An agent at work."""

    __slots__ = ("_around", "_name", "_run")

    def __init__(self, step: StepSpan, agent: Any, run: _Run | None, around: Context):
        """
        Args:
            step: its span.
            agent: the agent.
            run: the run that it works in.
            around: the context that it begins in.
        """
        super().__init__(step)
        self._name = string(agent, "name")
        self._run = run
        self._around = around

    @property
    def leaving(self) -> bool:
        return self._run is not None and self._run.leaving

    def _is_mine(self, event: Any) -> bool:
        is_workflow = isinstance(self.step.operation, WorkflowInvocation)
        return is_workflow or string(event, "author") == self._name

    def hand_over(self) -> Context:
        """End where the agent begins that goes on; return the context that this one belongs in."""
        self._end()
        return self._around

    def closed(self) -> None:
        # ADK 2 closes the stream of an agent that hands over, and of one that delegates a task.
        is_left = self._run is None or self._run.leaving
        self._end(interrupted=self.left_early if is_left else None)

    @property
    def left_early(self) -> str | None:
        return "closed" if self._run is None else self._run.left_early

    def _end(self, error: BaseException | None = None, interrupted: str | None = None) -> None:
        if self._run is not None:
            self._run.agent_ended()
        super()._end(error, interrupted)


# ----------------------------------------------------------------------------------- what they are


def _has_several(agent: Any) -> bool:
    """Return whether a run of an agent may be one of several agents."""
    related = bool(items(agent, "sub_agents")) or get(agent, "parent_agent") is not None
    return related or _only_coordinates(agent)


def _only_coordinates(agent: Any) -> bool:
    """Return whether an agent only has others work: a sequence, a loop, or a graph of nodes."""
    names = {class_name(base) for base in mro(type(agent))}
    return not names.isdisjoint(_WORKFLOWS) or "BaseAgent" not in names


def _operation(agent: Any, is_workflow: bool) -> AgentInvocation | WorkflowInvocation:
    name = string(agent, "name")
    if is_workflow:
        return WorkflowInvocation(workflow_name=name)
    model = get(agent, "model")
    return AgentInvocation(
        agent_name=name,
        agent_description=string(agent, "description") or None,
        request_model=plain_text(model) or string(model, "model") or None,
    )


# --------------------------------------------------------------------------------- where they begin


def _begin_run(runner: Any, options: dict[str, Any]) -> _Run | None:
    with guarded("starting the span of a run of ADK"):
        context = get_current()
        session = options.get("session")
        if context.get(_RUN_KEY) is None:
            session_id = string(options, "session_id") or string(session, "id")
            user_id = string(options, "user_id") or string(session, "user_id")
            context = identify(context, names_of(session_id, user_id))
        agent, prompt = get(runner, "agent"), options.get("new_message")
        step = start_step(
            _operation(agent, _has_several(agent)),
            description="a run of ADK",
            scope=SCOPE,
            parent=context,
            content=lambda: {"input": contents.messages_of(prompt)},
        )
        approvals.record_decisions(step, lambda: contents.decisions_in(prompt))
        return _Run(step, agent, options.get("abort_signal"))
    return None


def _begin_agent(agent: Any, invocation: Any) -> _Agent | None:
    with guarded("starting the span of an agent of ADK"):
        context = inside_tool(get_current())
        found: Any = context.get(_RUN_KEY)
        run = found if isinstance(found, _Run) else None
        above = at_work(context)
        if run is not None and above is run and run.stands_for(agent):
            return None
        if isinstance(above, _Agent) and above.handed_to == string(agent, "name"):
            context = above.hand_over()
        if run is None:
            session = get(invocation, "session")
            names = names_of(string(session, "id"), string(session, "user_id"))
            context = identify(context, names)
        prompt, arguments = get(invocation, "user_content"), arguments_around(context)
        if arguments is None and run is not None:
            prompt = run.input_of(prompt)

        def content() -> dict[str, Any]:
            if arguments is not None:
                return {"input": contents.request_in(arguments)}
            return {"input": contents.messages_of(prompt)}

        step = start_step(
            _operation(agent, _only_coordinates(agent)),
            description="an agent of ADK",
            scope=SCOPE,
            parent=context,
            content=content,
        )
        return _Agent(step, agent, run, context)
    return None


def _runner(wrapped: Callable[..., Any], runner: Any, args: Any, kwargs: Any) -> Any:
    return events_of(lambda: wrapped(*args, **kwargs), lambda: _begin_run(runner, kwargs))


def _agent(wrapped: Callable[..., Any], agent: Any, args: Any, kwargs: Any) -> Any:
    invocation = args[0] if args else kwargs.get("parent_context")
    return events_of(lambda: wrapped(*args, **kwargs), lambda: _begin_agent(agent, invocation))


PATCHES = (
    Patch("google.adk.runners", "Runner.run_async", _runner),
    Patch("google.adk.runners", "Runner.run_live", _runner),
    Patch("google.adk.agents.base_agent", "BaseAgent.run_async", _agent),
    Patch("google.adk.agents.base_agent", "BaseAgent.run_live", _agent),
)
