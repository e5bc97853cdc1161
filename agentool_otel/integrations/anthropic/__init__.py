"""Anthropic's client and Messages API."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "Anthropic",
    libraries=(
        # 2.11, _base_client.py: read when a client is made
        Library("anthropic", switch="ANTHROPIC_OPEN_TELEMETRY=false turns them off"),
    ),
    patches=("anthropic",),
)
