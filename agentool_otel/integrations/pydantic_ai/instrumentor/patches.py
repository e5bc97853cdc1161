"""pydantic-ai: runs of agents, model requests and tools, by its own hooks.

Every run is given two capabilities of ours for as long as it lasts, through the public argument of
`Agent.iter`, which `run`, `run_sync`, `run_stream` and `run_stream_events` come down to. So agents
that were built before are covered, and an agent, its capabilities and their order stay as they are;
inside a run `RunContext.capabilities` lists ours too, as it would list pydantic-ai's own
`Instrumentation`. `run_sync` is not wrapped: an agent without a name is named after the variable
of the caller that holds it.

    run                  invoke_agent; a run inside a tool is nested. Session: the conversation
                         around it, else pydantic-ai's `conversation_id`
    model request        chat, for any kind of model; the client's own span is left out, because
                         not every model has a client we know, and this is one reading for all
    FallbackModel        one more chat span, failed, for each attempt that another followed (2.x)
    function tool        execute_tool, whatever toolset it is of, an MCP server included. What asks
                         the model to call again (`ModelRetry`, arguments that do not fit) is an
                         error of the tool, and its text the result that the model was told
    output tool          none: its arguments are the run's output, and no code of the user runs.
                         Where an output function does, execute_tool. pydantic-ai's own
                         instrumentation decides the same
    deferred tool        execute_tool without a result; the run is interrupted, not failed

pydantic-ai's own instrumentation (`instrument_all`, `instrument=`, Logfire) is replaced where the
tracer provider is ours; where it is the user's both are written, its spans around ours.

Not seen: realtime sessions; `direct.model_request` and embedders, which are the client's calls;
before 2.0 the time to the first chunk and the attempts of a `FallbackModel`. On Python 3.10 a run
that its caller leaves early counts as cancelled. Workflows of a durable engine (Temporal, DBOS,
Prefect) are seen as any program, their replays too.

Source: pydantic-ai-slim 1.100 and 2.68, capabilities/ and agent/__init__.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor, Patch
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["PydanticAIInstrumentor"]


def _iter(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    with guarded("attaching to a run of pydantic-ai"):
        from agentool_otel.integrations.pydantic_ai.instrumentor.hooks import capabilities

        ours = capabilities(kwargs.get("conversation_id"), kwargs.get("deferred_tool_results"))
        kwargs = {**kwargs, "capabilities": [*(kwargs.get("capabilities") or ()), *ours]}
    return wrapped(*args, **kwargs)


def _time_to_first_chunk(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Record the time to the first chunk, which pydantic-ai reads at the end of a streamed
    request.
    """
    seconds = wrapped(*args, **kwargs)
    with guarded("timing a stream of pydantic-ai"):
        from agentool_otel.integrations.pydantic_ai.instrumentor.hooks import first_chunk_came

        first_chunk_came(seconds)
    return seconds


class PydanticAIInstrumentor(AgentInstrumentor):
    """Agents, model requests, tools, delegation and deferred calls: capabilities that are given to
    each run."""

    framework = "pydantic-ai-slim"
    supports = ("pydantic-ai-slim >= 1.100",)
    patches = (
        Patch("pydantic_ai.agent", "Agent.iter", _iter),
        Patch(
            "pydantic_ai.models",
            "StreamedResponse.time_to_first_chunk",
            _time_to_first_chunk,
            optional=True,
        ),
    )
    native_scopes = ("pydantic-ai",)
