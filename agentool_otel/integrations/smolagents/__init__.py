"""Hugging Face's smolagents."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "smolagents",
    libraries=(
        # 1.26.0
        Library("smolagents", "none", None, "openinference-instrumentation-smolagents"),
    ),
)
