"""CrewAI: crews, flows, agents, delegation, tools, memory, knowledge and model calls.

What happens comes from the event bus. Its `emit` is wrapped: it runs where the event happens, while
handlers that are registered run in a pool, where no context reaches. Around it stand frames of the
public methods, so that a step is current while its body runs and never longer (`frames`).

    crew, flow              invoke_workflow: it coordinates agents, and calls no model itself. Not
                            `invoke_agent`: a crew that changes its agents hands over from one to
                            the next, and a rebuild reads the workflow like that
    task                    no span: it is what the agent is asked, the input of `invoke_agent`.
                            What a task does beside its agent (memory and knowledge that are looked
                            up for the prompt, guardrails) lies inside the crew
    agent, LiteAgent        invoke_agent, named by its role
    tool                    execute_tool, under the id of the model's request
    delegation, questions   execute_tool as a handoff to the coworker, whose run lies inside it
    model call              chat, by the client's instrumentor where that records it: it sees more
                            of it than the events tell. Else by the events
    memory                  search_memory, upsert_memory
    knowledge               retrieval
    reasoning               plan

Not seen: model calls of a `BaseLLM` of the user's that emits no events; A2A; flow methods, training
and tests have no spans of their own. What handlers of events do has no parent.

CrewAI's own telemetry and tracing have tracer providers of their own, and are left alone.

Source: crewai events/types, events/event_bus.py at 1.14.7 and 1.15.30.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentool_otel.integrations.crewai.instrumentor import frames
from agentool_otel.integrations.crewai.instrumentor.events import Listener
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor, Patch

__all__ = ["CrewAIInstrumentor"]

_BUS = "crewai.events.event_bus"
_LLM = "crewai.llms.base_llm"
_MEMORY = "crewai.memory.unified_memory"

_listener = Listener()


def _emit(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    result = wrapped(*args, **kwargs)
    _listener.emitted(args, kwargs)  # now that the bus has told it where it belongs
    return result


async def _aemit(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    result = await wrapped(*args, **kwargs)
    _listener.emitted(args, kwargs)
    return result


class CrewAIInstrumentor(AgentInstrumentor):
    """Crews, flows, agents by role, delegation, tools, memory, knowledge, planning; model calls of
    any provider: its event bus."""

    framework = "crewai"
    supports = ("crewai >= 1.14",)
    patches = (
        Patch(_BUS, "CrewAIEventsBus.emit", _emit),
        Patch(_BUS, "CrewAIEventsBus.aemit", _aemit),
        Patch("crewai.crew", "Crew.kickoff", frames.called),
        Patch("crewai.crew", "Crew.akickoff", frames.awaited),
        Patch("crewai.agent.core", "Agent.execute_task", frames.called),
        Patch("crewai.agent.core", "Agent.aexecute_task", frames.awaited),
        Patch("crewai.agent.core", "Agent.kickoff", frames.called),
        Patch("crewai.agent.core", "Agent.kickoff_async", frames.awaited),
        Patch("crewai.lite_agent", "LiteAgent.kickoff", frames.called),
        Patch("crewai.flow.runtime", "Flow.kickoff_async", frames.awaited),
        Patch(_MEMORY, "Memory.recall", frames.called),
        Patch(_MEMORY, "Memory.remember", frames.called),
        # What every model's `call` and `acall` go through.
        Patch(_LLM, "run_with_rate_limit_retry", frames.called, optional=True),
        Patch(_LLM, "arun_with_rate_limit_retry", frames.awaited, optional=True),
    )
