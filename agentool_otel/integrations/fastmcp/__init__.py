"""FastMCP, on top of the MCP SDK."""
