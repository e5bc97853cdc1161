"""The Model Context Protocol: its Python SDK, and tools as servers list them."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "Model Context Protocol",
    libraries=(
        # 2.3 has none
        Library("mcp", switch="the library has no switch of its own"),
    ),
    patches=("mcp",),
)
