"""The fixtures of the MCP SDK, on whose clients and servers FastMCP is built."""

from __future__ import annotations

from tests.integrations.mcp.conftest import instrumented, native

__all__ = ["instrumented", "native"]
