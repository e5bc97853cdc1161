"""Which agent frameworks and clients write OpenTelemetry spans of their own, and what turns these
on or off.

Each was run with the version named here against a local model, 2026-11; switches are those of its
documentation or of the file named. "On" means that spans are written as soon as a tracer provider
is set, which `instrument()` does.
"""

from __future__ import annotations

import importlib.metadata
from typing import Literal, NamedTuple

from agentool_otel.ground import environment

__all__ = ["NOT_INSTRUMENTED", "SWITCHES", "Tracing", "installed"]

SWITCHES = {
    # anthropic 2.11, _base_client.py: read when a client is made
    "anthropic": "ANTHROPIC_OPEN_TELEMETRY=false turns them off",
    # fastmcp 4.1, settings.py
    "fastmcp": "FASTMCP_TELEMETRY_MODE=propagation_only turns them off",
    # mcp 2.3 has none
    "mcp": "the library has no switch of its own",
    # pydantic-ai 2.68, agent/__init__.py
    "pydantic-ai": "Agent.instrument_all() turns them on",
}
"""By the name of an instrumentor of ours, what the library says of its own spans."""


class Tracing(NamedTuple):
    """What a library without an instrumentor of ours has of its own."""

    distribution: str
    spans: Literal["on", "some", "off", "none"]
    """Whether it writes spans unless told otherwise."""
    switch: str | None = None
    """What changes that; None if nothing does."""
    other: str | None = None
    """A package of others that instruments it, whose spans we read."""


_OPENINFERENCE = "openinference-instrumentation-"
NOT_INSTRUMENTED = (
    # 1.2.1, ag2/middleware/builtin/telemetry.py
    Tracing("ag2", "off", "ag2.middleware.TelemetryMiddleware, given to an agent, turns them on"),
    # 1.23.0, agent_framework/observability.py
    Tracing("agent-framework-core", "on", "ENABLE_INSTRUMENTATION=false turns them off"),
    # 3.1.10
    Tracing("agno", "none", other=f"{_OPENINFERENCE}agno"),
    # 0.7.5, autogen_core/_telemetry: AUTOGEN_DISABLE_RUNTIME_TRACING is for messages alone
    Tracing("autogen-agentchat", "on", other=f"{_OPENINFERENCE}autogen-agentchat"),
    # 0.2.186, code.claude.com/docs/en/agent-sdk/observability: its child process exports them
    Tracing(
        "claude-agent-sdk",
        "off",
        "CLAUDE_CODE_ENABLE_TELEMETRY=1 with CLAUDE_CODE_ENHANCED_TELEMETRY_BETA=1 and "
        f"{environment.exporter_variable('traces')}=otlp makes its child process send them",
        f"{_OPENINFERENCE}claude-agent-sdk",
    ),
    # 3.4.1
    Tracing("dspy", "none", other=f"{_OPENINFERENCE}dspy"),
    # 2.13.0, google/adk/telemetry/tracing.py
    Tracing("google-adk", "on"),
    # 3.4.0
    Tracing("google-genai", "none", other=f"{_OPENINFERENCE}google-genai"),
    # 3.4.0, docs.haystack.deepset.ai/docs/tracing
    Tracing(
        "haystack-ai",
        "off",
        "haystack.tracing.enable_tracing(OpenTelemetryTracer(...)) turns them on",
        f"{_OPENINFERENCE}haystack",
    ),
    # 1.106.2, docs.litellm.ai/docs/observability/opentelemetry_integration
    Tracing(
        "litellm", "off", 'litellm.callbacks = ["otel"] turns them on', f"{_OPENINFERENCE}litellm"
    ),
    # 0.14.25
    Tracing("llama-index-core", "none", other=f"{_OPENINFERENCE}llama-index"),
    # 1.45.0, semantic_kernel/utils/telemetry
    Tracing(
        "semantic-kernel",
        "some",
        "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS=true adds those of agents and "
        "models to those of tools",
    ),
    # 1.26.0
    Tracing("smolagents", "none", other=f"{_OPENINFERENCE}smolagents"),
    # 1.62.0, strands/telemetry/tracer.py
    Tracing("strands-agents", "on"),
    # 26.3.1, wayflowcore/agentspec/tracing.py
    Tracing(
        "wayflowcore",
        "off",
        "register_event_listeners([AgentSpecEventListener()]) around a run hands them to our "
        "instrumentor of pyagentspec, and to its processors",
    ),
)


def installed(name: str) -> str | None:
    """Return the version of a distribution, None where it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
