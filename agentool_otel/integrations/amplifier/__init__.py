"""Amplifier: sessions, their logs, and tools."""

from agentool_otel.ground.integrations import Integration, Mount

INTEGRATION = Integration(
    "Amplifier",
    mount=Mount(
        "amplifier-core",
        "amplifier-core >= 2",
        "amplifier.modules",
        "hooks-agentool-otel",
        "hooks: [{module: hooks-agentool-otel}] in its mount plan",
    ),
)
