"""The Model Context Protocol: its Python SDK, and tools as servers list them."""
