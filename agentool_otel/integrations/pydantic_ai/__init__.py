"""Pydantic AI."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "Pydantic AI",
    libraries=(
        # 2.68, agent/__init__.py
        Library("pydantic-ai", switch="Agent.instrument_all() turns them on"),
    ),
    patches=("pydantic_ai",),
)
