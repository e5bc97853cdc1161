"""Capture by hand: decorators for tools, agents and steps, and `run` for everything between.

decorators   @tool, @agent and @step on any callable
runs         `with run(...)`: an agent's run whose steps are reported by hand
sessions     `with session(...)`: one conversation and one user for everything below
labels       labels of a whole run: its case, tags and metadata
model_calls  `with model_call(...)`: a model called by one's own HTTP client; likewise
             embedding_calls and retrievals. Loaded when first used
scores       `score`: evaluations of a run by people and programs, in its trace
wrapping     wrap a callable of any kind without changing its interface
toolspec     a ToolSpec from a signature and a docstring
context      bind a function to the current run; pass the run to child processes
threads      threads and pools that work in the context of their caller

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
