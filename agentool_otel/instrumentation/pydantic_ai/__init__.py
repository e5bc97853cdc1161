"""pydantic-ai: agents, model requests and tools. See `instrumentor`."""
