"""Agent Spec with one runtime, and with all of them."""

from __future__ import annotations

from tests.environments import SITUATIONS, Environment

__all__ = ["ENVIRONMENTS"]

ENVIRONMENTS = {
    "agent-spec": Environment(
        ("pyagentspec[langgraph]>=26.3", "numpy"),
        ("tests/seed_systems/agent_spec", *SITUATIONS, "-k", "agent_spec"),
    ),
    # More than a gigabyte.
    "agent-spec-runtimes": Environment(
        ("pyagentspec[langgraph,openai-agents,wayflow,autogen,agent-framework,evaluation]>=26.3",),
        ("tests/seed_systems/agent_spec",),
        nightly=True,
    ),
}
