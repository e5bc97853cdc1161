"""Capture by hand: decorators for tools, agents and steps, and `run` for everything between.

    decorators   @tool, @agent and @step on any callable
    runs         `with run(...)`: an agent's run whose steps are reported by hand
    sessions     `with session(...)`: one conversation and one user for everything below
    labels       what is said of a whole run: its case, tags and metadata
    model_calls  `with model_call(...)`: a model called by one's own HTTP client; likewise
                 embedding_calls and retrievals. Loaded when first used
    scores       `score`: what people and programs think of a run, in its trace
    wrapping     how a callable of any kind is wrapped without anybody noticing
    toolspec     a ToolSpec from a signature and a docstring
    context      binding a function to the current run; telling child processes of it
    threads      threads and pools that work in the context of whoever gives them work

OpenTelemetry API only: without an SDK everything works and records nothing.
"""

from __future__ import annotations

from agentool_otel.tracing.capture.context import bind_context, child_environment
from agentool_otel.tracing.capture.decorators import agent, step, tool
from agentool_otel.tracing.capture.runs import AgentRun, run
from agentool_otel.tracing.capture.sessions import session
from agentool_otel.tracing.capture.toolspec import tool_spec

__all__ = [
    "AgentRun",
    "agent",
    "bind_context",
    "child_environment",
    "run",
    "session",
    "step",
    "tool",
    "tool_spec",
]
