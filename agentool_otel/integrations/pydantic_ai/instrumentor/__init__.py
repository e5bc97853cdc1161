"""pydantic-ai: agents, model requests and tools."""
