"""Tiny Agents: runs, model calls and tool calls, by patches of three methods of `Agent`."""

from __future__ import annotations

from typing import Any

from agentool_otel.model.messages import message, text, tool_call
from agentool_otel.model.operations import AgentInvocation, Inference, ToolExecution
from agentool_otel.providers.shapes import messages_of
from agentool_otel.tracing.instrumentation import AgentInstrumentor, Patch, start_step

# A wrapper has wrapt's signature: the function, its object, positional and keyword arguments.


def _run(wrapped: Any, agent: Any, args: Any, kwargs: Any) -> Any:
    (question,) = args or kwargs.values()
    with start_step(
        AgentInvocation(agent_name=agent.name),
        description="a run of Tiny Agents",
        scope=__name__,
        content=lambda: {"input": [message("user", [text(question)])]},
    ) as step:
        answer = wrapped(*args, **kwargs)
        step.add(lambda: {"output": [message("assistant", [text(answer)])]})
        return answer


def _ask(wrapped: Any, agent: Any, args: Any, kwargs: Any) -> Any:
    with start_step(
        Inference(provider="tiny", request_model=getattr(agent.model, "__name__", None)),
        description="a model call of Tiny Agents",
        scope=__name__,
        content=lambda: {"input": messages_of(args[0])},  # copies: the list grows
    ) as step:
        answer = wrapped(*args, **kwargs)
        step.set(finish_reasons=["tool_call" if answer.get("tool_calls") else "stop"])
        step.add(lambda: {"output": [_answer(answer)]})
        return answer


def _answer(answer: Any) -> Any:
    calls = answer.get("tool_calls") or ()
    parts = [tool_call(call["name"], call["arguments"], call["id"]) for call in calls]
    return message("assistant", parts or [text(answer["content"])])


def _use(wrapped: Any, agent: Any, args: Any, kwargs: Any) -> Any:
    name, arguments, call_id = args
    with start_step(
        ToolExecution(name=name, call_id=call_id, tool_type="function"),
        description="a tool call of Tiny Agents",
        scope=__name__,
        content=lambda: {"arguments": arguments},
    ) as step:
        result = wrapped(*args, **kwargs)
        step.add(result=result)
        return result


class TinyAgentsInstrumentor(AgentInstrumentor):
    framework = "tiny-agents"
    supports = ("tiny-agents >= 1.0",)
    patches = (
        Patch("tiny_agents", "Agent.run", _run),
        Patch("tiny_agents", "Agent.ask", _ask),
        Patch("tiny_agents", "Agent.use", _use),
    )
