"""Strands Agents."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "Strands Agents",
    libraries=(
        # 1.62.0, strands/telemetry/tracer.py
        Library("strands-agents", "on"),
    ),
)
