"""Versions of CrewAI, and other packages that trace it."""

from __future__ import annotations

from tests.environments import CONTRACT, SITUATIONS, Environment

__all__ = ["ENVIRONMENTS"]

_TESTS = tuple(f"tests/integrations/{name}" for name in ("mcp", "fastmcp", "crewai"))

ENVIRONMENTS = {
    # CrewAI admits neither openai 3 nor mcp 2 yet.
    "agents-openai-2": Environment(
        ("openai>=2,<3", "anthropic<2", "mcp<2", "crewai>=1.15"), (*SITUATIONS, *_TESTS)
    ),
    "crewai-oldest": Environment(
        ("openai>=2,<3", "mcp<2", "crewai==1.14.*"), (*CONTRACT, *_TESTS), nightly=True
    ),
    "beside-crewai": Environment(
        (
            *("openai>=2,<3", "mcp<2", "crewai>=1.15"),
            "openinference-instrumentation-crewai>=1.1",
            "opentelemetry-instrumentation-crewai>=0.62",
        ),
        ("tests/situations/test_beside.py", "-m", "not backends"),
        nightly=True,
    ),
}
