"""Agno."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "Agno",
    libraries=(
        # 3.1.10
        Library("agno", "none", None, "openinference-instrumentation-agno"),
    ),
)
