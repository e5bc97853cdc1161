"""FastMCP, on top of the MCP SDK."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "FastMCP",
    libraries=(
        # 4.1, settings.py
        Library("fastmcp", switch="FASTMCP_TELEMETRY_MODE=propagation_only turns them off"),
    ),
    patches=("fastmcp",),
)
