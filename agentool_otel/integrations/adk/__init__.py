"""Google's Agent Development Kit: its spans, and its eval sets."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "Agent Development Kit",
    libraries=(
        # 2.13.0, google/adk/telemetry/tracing.py
        Library("google-adk", "on"),
    ),
)
