"""tRPC-Agent-Go."""
